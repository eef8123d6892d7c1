"""The FSx for Lustre CSI driver, which mounts file systems into pods."""

from __future__ import annotations

from typing import Any

from trainyard.core.storage.spec import StorageSection
from trainyard.eks.addons.addon import AddOn, Container, Daemon, Endpoint, Role, Setting
from trainyard.plan.context import SPEC, Context


def wanted(context: Context) -> bool:
    """Where the spec has a Lustre file system."""
    return any(storage.fsx_lustre for storage in StorageSection.of(context.spec).storage)


def values(setting: Setting) -> dict[str, Any]:
    """aws-fsx-csi-driver 1.17.0 chart values."""
    return {"node": {"tolerateAllTaints": True}}


def endpoints(context: Context) -> tuple[Endpoint, ...]:
    """It describes file systems before it mounts them."""
    return (
        Endpoint(
            "fsx",
            "the driver of file systems asks for them",
            "aws-fsx-csi-driver v1.17.0, pkg/cloud",
        ),
    )


ADD_ON = AddOn(
    component="aws-fsx-csi-driver",
    wanted=wanted,
    values=values,
    at=SPEC / "storage",
    reach=("node", "tolerateAllTaints"),
    endpoints=endpoints,
    daemons=(
        Daemon(
            "fsx-csi-node",
            30,
            104,
            "aws-fsx-csi-driver 1.17.0 chart values",
            containers=(
                Container(10, 40, (("node", "resources"),)),
                Container(10, 32, (("sidecars", "nodeDriverRegistrar", "resources"),)),
                Container(10, 32, (("sidecars", "livenessProbe", "resources"),)),
            ),
        ),
    ),
    role=Role(
        "kube-system",
        "fsx-csi-controller-sa",
        ("AmazonFSxReadOnlyAccess",),
        source="https://github.com/kubernetes-sigs/aws-fsx-csi-driver docs/install.md has AmazonFSxFullAccess, for "
        "file systems that it makes; ours exist",
    ),
)
