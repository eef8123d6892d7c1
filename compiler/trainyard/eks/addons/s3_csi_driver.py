"""The Mountpoint for S3 CSI driver, which mounts buckets into pods."""

from __future__ import annotations

from typing import Any

from trainyard.core.storage.spec import StorageSection
from trainyard.eks.addons.addon import AddOn, Container, Daemon, Role, Setting
from trainyard.plan.context import SPEC, Context

_NODE = ("node", "resources")


def wanted(context: Context) -> bool:
    """Where the spec has a bucket."""
    storages = StorageSection.of(context.spec).storage
    return any(storage.s3 for storage in storages)


def values(setting: Setting) -> dict[str, Any]:
    """aws-mountpoint-s3-csi-driver 2.7.0 chart values."""
    return {"node": {"tolerateAllTaints": True}}


ADD_ON = AddOn(
    component="aws-mountpoint-s3-csi-driver",
    wanted=wanted,
    values=values,
    at=SPEC / "storage",
    reach=("node", "tolerateAllTaints"),
    # Mountpoint's own pods ask for nothing (pkg/podmounter/mppod, v2.7.0).
    daemons=(
        Daemon(
            "s3-csi-node",
            30,
            120,
            "aws-mountpoint-s3-csi-driver 2.7.0 chart values, templates/node.yaml",
            containers=(
                Container(10, 40, (_NODE,)),
                Container(10, 40, (("sidecars", "nodeDriverRegistrar", "resources"), _NODE)),
                Container(10, 40, (("sidecars", "livenessProbe", "resources"), _NODE)),
            ),
        ),
    ),
    # It may do nothing until a bucket's own stack lets it.
    role=Role("kube-system", "s3-csi-driver-sa", own="MountpointS3-{}"),
)
