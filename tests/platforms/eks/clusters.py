"""A small cluster of EKS."""

from __future__ import annotations

from typing import Any

from builders import spec

__all__ = ["OF_EKS", "PARTS", "spec"]

OF_EKS: dict[str, Any] = {
    "apiServer": {"public": ["203.0.113.0/24"]},
    "systemNodes": {"instanceType": "m7i.2xlarge", "nodes": 2},
    "addons": {
        "external-dns": {
            "role": {
                "namespace": "external-dns",
                "serviceAccount": "external-dns",
                "policies": ["arn:aws:iam::111122223333:policy/dns"],
            }
        }
    },
}
"""What platforms that stand on EKS take of `eks` too."""
PARTS: dict[str, dict[str, Any]] = {
    "the cluster": {
        "platform": {
            "eks": {
                **OF_EKS,
                "ami": "al2023@v20260714",
                "admins": ["arn:aws:iam::111122223333:role/platform"],
            }
        }
    },
    "Auto Mode": {"platform": {"eks": {"autoMode": {}}}},
}
"""Sections that only this platform has, and what goes with them."""
