"""Tables that were written by hand, held against what defines them: definitions of kinds, Kubernetes' own types and
parsers, and each other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.client import models
from kubernetes.utils import parse_quantity
from trainyard import verify
from trainyard.core.jobs.keys import _KINDS_OF_VOLUMES
from trainyard.eks.jobs.lift import KINDS as OF_TRAINER
from trainyard.eks.kueue.plan import INTEGRATIONS
from trainyard.eks.third_party_workloads.lift import KINDS as READ
from trainyard.language.units import Quantity
from trainyard.verify import BUILTIN
from trainyard.verify.node import Node

DATA = Path(verify.__file__).with_name("data")
ELSEWHERE = {
    "trainer.kubeflow.org/TrainJob": "patches of pods, read with its runtime",
    "karpenter.sh/NodePool": "no pods",
}
"""Kinds with containers whose pods are read by other code than that of third-party workloads."""


def kinds() -> Iterator[tuple[str, Node]]:
    """Every kind with a committed definition."""
    for path in sorted(DATA.glob("*.json")):
        group, version, kind = path.stem.split("@")[0].rsplit("_", 2)
        api_version = f"{group}/{version}" if group else version
        for schema in BUILTIN.find(api_version, kind):
            yield f"{group}/{kind}", schema.root


def has_containers(node: Node, depth: int = 0) -> bool:
    """Whether a definition has a pod somewhere: a list of containers with an image."""
    if depth > 14:
        return False
    for name in node.names:
        child = node.prop(name)
        if child is None:
            continue
        if name == "containers" and child.items is not None and "image" in child.items.names:
            return True
        if name != "status" and has_containers(child, depth + 1):
            return True
    inner = (node.items, node.extra)
    return any(has_containers(each, depth + 1) for each in inner if each is not None)


@pytest.mark.needs("hyperpod")
def test_the_pods_of_every_kind_that_is_known_are_read() -> None:
    with_pods = {name for name, root in kinds() if has_containers(root)}
    read = {*READ, *OF_TRAINER, *ELSEWHERE}
    assert with_pods - read == set()
    assert len(with_pods) > 15


def test_kinds_of_volumes_are_those_of_kubernetes() -> None:
    known = set(models.V1Volume.attribute_map.values())
    assert set(_KINDS_OF_VOLUMES) - known == {
        "nodeLocal"
    }  # the disks of a node, which are a path of it


def test_the_pods_of_every_kind_that_kueue_admits_are_read() -> None:
    """Kueue calls a kind by its group and its name in lowercase (Configuration, integrations.frameworks)."""
    read = {name.lower() for name in {*READ, *OF_TRAINER}}
    core = {"pod": "/pod", "deployment": "apps/deployment", "statefulset": "apps/statefulset"}
    admitted = {core.get(name, name) for name in INTEGRATIONS}
    assert admitted - read == set(NOT_READ)


NOT_READ = {
    "sparkoperator.k8s.io/sparkapplication": "cores, memory and devices are fields of its own",
    "workload.codeflare.dev/appwrapper": "its jobs stand in it as texts of other kinds",
}
"""Kinds that Kueue admits and whose pods are not read, and why."""


SUFFIXES = ("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


@given(st.integers(0, 10**6), st.sampled_from(SUFFIXES))
def test_a_quantity_is_what_kubernetes_reads(number: int, suffix: str) -> None:
    ours = Quantity.parse(f"{number}{suffix}")
    theirs: Decimal = parse_quantity(f"{number}{suffix}")  # type: ignore[no-untyped-call]
    assert ours.milli == math.ceil(theirs * 1000)
