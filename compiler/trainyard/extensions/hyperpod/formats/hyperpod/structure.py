"""The structure of requests of SageMaker HyperPod, without a word of its prose (``derive`` writes it)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.verify.node import Node, NodeTable

VERSION = "1.44.5"
"""Of botocore, whose model of SageMaker this is."""
FILE = Path(__file__).parent / "data" / "requests.json"
CLUSTER, GROUP = "CreateCluster", "InstanceGroup"
SCHEDULER_CONFIG, COMPUTE_QUOTA = "CreateClusterSchedulerConfig", "CreateComputeQuota"
KINDS: Mapping[str, tuple[str, ...]] = {
    SCHEDULER_CONFIG: ("ClusterArn", "SchedulerConfig"),
    COMPUTE_QUOTA: ("ClusterArn", "ComputeQuotaConfig"),
    CLUSTER: ("ClusterName", "InstanceGroups"),
    GROUP: ("InstanceGroupName", "InstanceCount"),
}
"""Requests, and one group of an own request, with the keys by which each is known."""


@cache
def _data() -> Any:
    return json.loads(FILE.read_bytes())


@cache
def structure(kind: str) -> Node:
    """One kind of request."""
    raw = _data()
    return NodeTable(raw["defs"]).node(raw["schema"]["properties"][kind])


@cache
def instance_types() -> frozenset[str]:
    """The instance types of HyperPod, by its own names."""
    found: list[str] = _data()["instanceTypes"]
    return frozenset(found)


def kind_of(body: Any) -> str:
    """Which of the kinds a document is; empty for none."""
    if not isinstance(body, dict) or "apiVersion" in body:
        return ""
    for kind, keys in KINDS.items():
        if all(key in body for key in keys):
            return kind
    return ""
