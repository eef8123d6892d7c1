"""A small cluster of HyperPod, and what the compiler makes of it."""

from __future__ import annotations

import copy
import json
from typing import Any

from trainyard.run.outcome import Compilation
from trainyard.verify.formats import written

from tests.platforms.eks.clusters import OF_EKS

SUBNETS = [
    {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2a", "cidr": "10.0.0.0/18"},
    {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2b", "cidr": "10.0.64.0/18"},
]
NETWORK = {"existing": {"vpc": "vpc-0a1b2c3d4e5f60718", "subnets": SUBNETS}}
FSX = {"id": "fs-0a1b2c3d4e5f60718", "mountName": "abcdefgh", "size": "4800Gi", "version": "2.15"}
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p4-december"
BASE: dict[str, Any] = {
    "account": "111122223333",
    "region": "us-west-2",
    "network": NETWORK,
    "platform": {"hyperPod": {}},
    "nodePools": [
        {"name": "a100", "instanceTypes": ["p4d.24xlarge"], "zones": ["us-west-2b"], "nodes": 4}
    ],
    "storage": [{"name": "work", "fsxLustre": {"existing": FSX}}],
    "queues": [
        {
            "name": "research",
            "namespaces": ["hyperpod-ns-research"],
            "quota": [{"pool": "a100", "nodes": 4}],
        }
    ],
    "jobs": [
        {
            "name": "train",
            "nodes": 4,
            "image": "registry.test/train:1.0",
            "torchVersion": "2.12",
            "command": ["torchrun", "t.py"],
            "mounts": [{"storage": "work", "path": "/work"}],
            "checkpoint": {"path": "/work/train", "every": "30m"},
            "timeout": "72h",
            "retries": 2,
        }
    ],
}
PARTS: dict[str, dict[str, Any]] = {
    "the cluster": {
        "platform": {
            "hyperPod": {"trainingPlans": {"a100": PLAN}, "deepHealthChecks": ["InstanceStress"]},
            "eks": OF_EKS,
        }
    }
}
"""Sections that only this platform has, and what goes with them."""


def spec(**parts: Any) -> dict[str, Any]:
    """The small cluster with other parts; ``None`` leaves one out. ``job``, ``pool``, ``own`` and ``eks`` change its
    one of each."""
    body = copy.deepcopy(BASE)
    body["jobs"][0] |= parts.pop("job", {})
    body["nodePools"][0] |= parts.pop("pool", {})
    body["platform"]["hyperPod"] |= parts.pop("own", {})
    if "eks" in parts:
        body["platform"]["eks"] = parts.pop("eks")
    body |= parts
    return {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": "lab"},
        "spec": {key: value for key, value in body.items() if value is not None},
    }


def errors(done: Compilation) -> list[str]:
    """The errors among what was found."""
    return [fact.code for fact in done.diagnostics if fact.severity.name == "ERROR"]


def files(done: Compilation) -> dict[str, str]:
    """The text of each file, by its path in the cluster's folder, but of pages and scripts."""
    late = ("markdown", "shell")
    return {
        artifact.path: written(artifact).decode()
        for artifact in done.artifacts
        if artifact.format not in late
    }


def request_of(done: Compilation) -> dict[str, Any]:
    """The request, as the bootstrap fills it in."""
    whole: dict[str, Any] = json.loads(files(done)["bootstrap/hyperpod/create-cluster.json"])
    filled = json.dumps(whole).replace("${CLUSTER_SECURITY_GROUP}", "sg-0a1b2c3d4e5f60718")
    request: dict[str, Any] = json.loads(filled)
    return request
