"""The EBS CSI driver, which makes volumes of EBS and attaches them to the nodes of pods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trainyard.core.storage.spec import StorageSection
from trainyard.eks import addons
from trainyard.eks.addons.addon import EKS, AddOn, Container, Daemon, Role, Setting
from trainyard.plan.context import SPEC, Context

COMPONENT = "aws-ebs-csi-driver"
_GRANT = {"Bool": {"kms:GrantIsForAWSResource": "true"}}


def wanted(context: Context) -> bool:
    """Where the spec has EBS volumes, or another add-on keeps on one what is new."""
    storages = StorageSection.of(context.spec).storage
    return any(storage.ebs for storage in storages) or addons.is_needed(context, COMPONENT)


def rights(context: Context) -> Sequence[dict[str, object]]:
    """What it does with keys of KMS: just those of the spec (aws-ebs-csi-driver v1.63.1, docs/install.md, encrypted
    volumes)."""
    keys = []
    for storage in StorageSection.of(context.spec).storage:
        disk = storage.disk or storage.existing_disk
        if disk is not None and disk.kms_key is not None:
            keys.append(disk.kms_key)
    if not keys:
        return ()
    resources = sorted(set(keys))
    actions = ["kms:Decrypt", "kms:GenerateDataKeyWithoutPlaintext"]
    use: dict[str, object] = {"Effect": "Allow", "Action": actions, "Resource": resources}
    grant: dict[str, object] = {
        "Effect": "Allow",
        "Action": ["kms:CreateGrant"],
        "Resource": resources,
        "Condition": _GRANT,
    }
    return (use, grant)


def values(setting: Setting) -> dict[str, Any]:
    """The tags of the spec for each volume that it makes (EKS' schema of the add-on's configuration,
    controller.extraVolumeTags). Those of a StorageClass could not change any more."""
    tags = setting.context.spec.tags
    if not tags:
        return {}
    return {"controller": {"extraVolumeTags": dict(tags)}}


ADD_ON = AddOn(
    component=COMPONENT,
    in_auto_mode=True,
    by=EKS,
    wanted=wanted,
    values=values,
    at=SPEC / "storage",
    after=("eks-pod-identity-agent",),
    # Its agents tolerate every taint (v1.63.1, charts/aws-ebs-csi-driver/values.yaml: node.tolerateAllTaints).
    daemons=(
        Daemon(
            "ebs-csi-node",
            30,
            104,
            "aws-ebs-csi-driver v1.63.1 chart values, templates/_node.tpl",
            kept=False,
            containers=(
                Container(10, 40, (("node", "resources"),)),
                Container(10, 32, (("sidecars", "nodeDriverRegistrar", "resources"),)),
                Container(10, 32, (("sidecars", "livenessProbe", "resources"),)),
            ),
        ),
    ),
    role=Role(
        "kube-system",
        "ebs-csi-controller-sa",
        ("AmazonEBSCSIDriverPolicyV2",),
        source="aws-ebs-csi-driver v1.63.1, docs/install.md",
        rights=rights,
    ),
)
