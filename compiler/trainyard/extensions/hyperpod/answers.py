"""What the core asks of HyperPod (``compiler/trainyard/plan/features.py``, ``Platform.answers``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trainyard.catalog import Release, hyperpod
from trainyard.catalog.hyperpod import ml_name
from trainyard.core.pools.launcher import Launcher
from trainyard.core.pools.spec import NodePool
from trainyard.eks import addons
from trainyard.eks.answers import admission, nodes_export
from trainyard.eks.answers import check_release as check_release_of_eks
from trainyard.eks.release.release import settle_versions
from trainyard.eks.release.versions import own_versions as own_versions_of_eks
from trainyard.eks.settings.spec import AT_EKS
from trainyard.extensions.hyperpod.cluster.resolve import CHART
from trainyard.extensions.hyperpod.groups.launcher import LAUNCHER
from trainyard.extensions.hyperpod.groups.share import node_share
from trainyard.extensions.hyperpod.groups.watch import AGENT
from trainyard.extensions.hyperpod.jobs.kind import kinds
from trainyard.extensions.hyperpod.jobs.wanted import operated
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error, listed
from trainyard.language.models.cluster import ClusterSpec
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.eks.health.watch import NodeWatch

__all__ = [
    "NOT_GIVEN",
    "addon_values",
    "admission",
    "check_release",
    "kinds",
    "launcher",
    "node_share",
    "node_watch",
    "nodes_export",
    "own_versions",
    "settle",
]


NOT_GIVEN: Mapping[str, str] = {
    "CapacityWindow": "SageMaker knows when a training plan begins and ends, and the spec does not",
    "Launch": "SageMaker chooses the image, the disks and the interfaces of its machines",
}
"""Nodes of the core that it has none of."""


def launcher(context: Context, pool: NodePool) -> Launcher:
    """What launches the nodes of a pool."""
    return LAUNCHER


def node_watch() -> NodeWatch:
    """What watches the nodes of pools, and replaces them."""
    return AGENT


def own_versions(spec: ClusterSpec) -> dict[str, str]:
    """The versions that a spec gives, and the newest Kubernetes that HyperPod supports, and its training operator."""
    return {"kubernetes": _minors(spec)[-1], **own_versions_of_eks(spec)}


def _minors(spec: ClusterSpec) -> tuple[str, ...]:
    """The minor versions of Kubernetes that the cluster may have."""
    if operated(spec):
        return hyperpod.operated_kubernetes()
    return hyperpod.kubernetes()


def check_release(spec: ClusterSpec, release: Release) -> list[Diagnostic]:
    """What is wrong with the versions that a spec gives: for EKS, and for HyperPod."""
    return [*check_release_of_eks(spec, release), *_kubernetes(spec)]


def _kubernetes(spec: ClusterSpec) -> Iterator[Diagnostic]:
    given = own_versions_of_eks(spec).get("kubernetes")
    known = hyperpod.kubernetes()
    if given is None:
        return
    if given not in known:
        yield _unsupported(given, known)
    elif given not in _minors(spec):
        newest = _minors(spec)[-1]
        yield error(
            "RES329",
            f"HyperPod's training operator takes no Kubernetes `{given}`, and the spec has HyperPodPyTorchJobs",
            AT_EKS / "version",
            help=f'write `version: "{newest}"`, or make these jobs PyTorchJobs',
            notes=(f"source: {hyperpod.operator_source()}",),
        )


def _unsupported(given: str, known: tuple[str, ...]) -> Diagnostic:
    return error(
        "RES322",
        f"HyperPod supports no Kubernetes `{given}`",
        AT_EKS / "version",
        help=f"write one of {listed(known)}, or remove it: `{known[-1]}` is derived",
        notes=(f"source: {hyperpod.kubernetes_source()}",),
    )


def addon_values(context: Context, component: str) -> Mapping[str, Any]:
    """What nodes of HyperPod need of an add-on: the plugin of EFA comes to the types that it lists alone, and their
    label has HyperPod's name of the type (aws-efa-k8s-device-plugin v0.5.30, supportedInstanceLabels)."""
    if component != "aws-efa-k8s-device-plugin":
        return {}
    types = context.catalog.instance_types
    names = [name for name in sorted(hyperpod.types()) if name in types]
    having = [ml_name(name) for name in names if types[name].efa_interfaces]
    return {"supportedInstanceLabels": {"values": having}}


def settle(context: Context) -> None:
    """What is recorded once every feature has resolved: the versions of what the cluster uses."""
    addons.check_release(context)
    settle_versions(context, addons.used(context) | {CHART})
