"""What a kind is meant to be that nobody serves: another group, a retired or missing version, a misspelt name.

An API version that is newer than every known one, a kind of a group that is not known here, and a kind that a known
group may have beside the known ones, are unknown and so not wrong.
"""

from __future__ import annotations

import re

from compiler.verify.fault import SCHEMA, Fault, like
from compiler.verify.schemas import BUILTIN, Schemas

# Kinds of groups with a schema that have none themselves: k8s.io/api v0.36, Kueue 0.19, Flux 2.8, MPI operator 0.8 and
# training-operator 1.9. They keep a good name from being taken for a misspelt one.
_OTHERS = frozenset(
    {
        "Binding",
        "Endpoints",
        "Event",
        "Node",
        "PodTemplate",
        "ReplicationController",
        "StatefulSet",
        "ReplicaSet",
        "ControllerRevision",
        "Ingress",
        "IngressClass",
        "IPAddress",
        "ServiceCIDR",
        "VolumeAttachment",
        "CSIDriver",
        "CSINode",
        "CSIStorageCapacity",
        "VolumeAttributesClass",
        "Workload",
        "ProvisioningRequestConfig",
        "PriorityLevel",
        "MultiKueueCluster",
        "MultiKueueConfig",
        "HelmChart",
        "Bucket",
        "ExternalArtifact",
        "ComponentStatus",
        "List",
        "TFJob",
        "XGBoostJob",
        "PaddleJob",
        "JAXJob",
    }
)
_VERSION = re.compile(r"v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?\Z")
Meant = tuple[str, str]


def meant(api_version: str, kind: str, schemas: Schemas = BUILTIN) -> Meant | None:
    """The API version and kind that stand for one that certainly does not exist; ``None`` for one that may."""
    if schemas.find(api_version, kind):
        return None
    served = schemas.served()
    group, _, version = api_version.rpartition("/")
    if not (found := served.get(kind, [])):
        return _other_kind(group, kind, served)
    ours = [each for each in found if _group(each) == (group or api_version)]
    if ours:
        return None if _newer(version, ours) else (ours[0], kind)
    known = any(_group(each) == group for every in served.values() for each in every)
    return (
        (found[0], kind)
        if known or like(group or api_version, map(_group, found))
        else None
    )


def _other_kind(group: str, kind: str, served: dict[str, list[str]]) -> Meant | None:
    """The kind of a group that a misspelt one is like."""
    kinds = {
        name: each
        for name, every in served.items()
        for each in every
        if _group(each) == group
    }
    alike = like(kind, kinds) if kind not in _OTHERS else ""
    return (kinds[alike], alike) if alike else None


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


def strange(api_version: str, kind: str, right: Meant) -> Fault:
    """The fault of an object of a kind that is meant to be another."""
    if right[1] != kind:
        message = f"`{api_version}` has no kind `{kind}`"
        return Fault(
            SCHEMA, "SCH010", ("kind",), message, f"did you mean `{right[1]}`?"
        )
    what = (
        f"no `{kind}` in `{api_version}`"
        if api_version
        else f"no `apiVersion` for this `{kind}`"
    )
    return Fault(
        SCHEMA,
        "SCH010",
        ("apiVersion",),
        f"there is {what}",
        f"write `apiVersion: {right[0]}`",
    )


def _newer(version: str, known: list[str]) -> bool:
    """Whether a version may be one that came after the known ones."""
    rank = _rank(version)
    return rank is not None and all(
        rank > (_rank(each.rpartition("/")[2]) or rank) for each in known
    )


def _rank(version: str) -> tuple[int, int, int] | None:
    """Kubernetes' order of versions: v1 after v1beta2 after v1beta1 after v1alpha1 (apimachinery v0.36)."""
    found = _VERSION.match(version)
    if found is None:
        return None
    major, stage, minor = found.groups()
    return {"alpha": 0, "beta": 1, None: 2}[stage], int(major), int(minor or 0)


__all__ = ["meant", "strange"]
