"""EKS Auto Mode: what it gives the cluster, and the settings that it does not accept.

Sources: EKS user guide, automode (awsdocs/amazon-eks-user-guide, read 2026-11); eksctl v0.230.0,
pkg/ctl/cmdutils/configfile.go and pkg/apis/eksctl.io/v1alpha5/auto_mode.go.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.health.spec import HealthSection
from trainyard.core.network.spec import NetworkSection
from trainyard.core.storage.spec import StorageSection
from trainyard.eks import addons
from trainyard.eks.settings.spec import AT_EKS, ClusterSection
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

POOLS = ("general-purpose", "system")
"""The node pools that EKS brings, as eksctl asks for them by default (eksctl user guide, auto-mode). The controllers
run on those of `general-purpose`: nodes of `system` have the taint `CriticalAddonsOnly`."""
_INSTANCES = "EKS user guide, automode-learn-instances"
_ADD_ONS = "EKS user guide, eks-add-ons: considerations for EKS Auto Mode"


def check_auto_mode(context: Context) -> None:
    """Settings of the cluster that EKS Auto Mode has no place for."""
    refused = (*_of_the_platform(context), *_of_others(context))
    for at, fact, help, source in refused:
        context.fault("RES191", f"with EKS Auto Mode {fact}", at, help, source=source, key=True)
    context.derive(
        "cluster",
        "autoMode.nodePools",
        ", ".join(POOLS),
        "EKS brings them with their nodes, for the controllers",
        "EKS user guide, set-builtin-node-pools",
        follows=AT_EKS / "autoMode",
    )


_Refused = tuple[Route, str, str, str]


def _of_the_platform(context: Context) -> Iterator[_Refused]:
    eks = ClusterSection.of(context.spec).eks
    if "system_nodes" in eks.model_fields_set:
        yield (
            AT_EKS / "systemNodes",
            "the cluster has no system nodes",
            "remove it: the controllers run on nodes of the pool `general-purpose`, which EKS sizes",
            "eksctl v0.230.0: no node groups with Auto Mode at creation",
        )
    if eks.ami is not None:
        yield (
            AT_EKS / "ami",
            "EKS chooses the image of the nodes",
            "remove it, or `autoMode`",
            _INSTANCES,
        )
    known = addons.addons()
    for name in eks.addons:
        if name in known and known[name].in_auto_mode:
            yield (
                AT_EKS / "addons" / name,
                f"add-on `{name}` is part of the nodes",
                "remove it",
                _ADD_ONS,
            )


def _of_others(context: Context) -> Iterator[_Refused]:
    if NetworkSection.of(context.spec).network.cilium is not None:
        yield (
            SPEC / "network" / "cilium",
            "nodes have the network of EKS, to which nothing is chained",
            "remove it: EKS applies network policies",
            "EKS user guide, auto-networking",
        )
    health = HealthSection.of(context.spec).health
    for key, wanted in (
        ("nodeMonitoringAgent", health.node_monitoring_agent),
        ("nodeRepair", health.node_repair),
    ):
        if not wanted:
            yield (
                SPEC / "health" / key,
                f"`{key}` is always on",
                "remove it, or `autoMode`",
                "EKS user guide, node-health: enabled with EKS Auto Mode",
            )
    storages = StorageSection.of(context.spec).storage
    for index, storage in enumerate(storages):
        if storage.ebs is not None:
            yield (
                SPEC / "storage" / index / "ebs",
                f"volumes of storage `{storage.name}` cannot have the tags by which they are found again",
                "remove it, and bring a StorageClass of `ebs.csi.eks.amazonaws.com` by `include`",
                "EKS user guide, auto-learn-iam: custom tags; create-storage-class",
            )
