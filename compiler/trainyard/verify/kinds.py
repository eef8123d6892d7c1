"""What an unknown kind was meant to be: another group, a retired or missing version, a misspelt name.

An API version that is newer than every known one, a kind of a group that is not known here, and a kind that a known
group may have in addition to the known ones, are unknown and so not wrong.
"""

from __future__ import annotations

import re

from trainyard.output.manifest import group_of
from trainyard.verify.fault import SCHEMA, Fault, like
from trainyard.verify.schemas import BUILTIN, Schemas

# Kinds of groups with a schema that have none themselves: k8s.io/api v0.36, Kueue 0.19, Flux 2.8, MPI operator 0.8,
# training-operator 1.9, KubeRay 1.6 and External Secrets 2.9. Without them a good name would look like a misspelt one.
_OTHERS = frozenset(
    {
        "Binding",
        "Endpoints",
        "Event",
        "Node",
        "PodTemplate",
        "ReplicationController",
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
        "Receiver",
        "ComponentStatus",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "Eviction",
        "PodGroup",
        "List",
        "TFJob",
        "XGBoostJob",
        "PaddleJob",
        "JAXJob",
        "ClusterSecretStore",
        "ClusterExternalSecret",
        "PushSecret",
        "ClusterPushSecret",
        "RayCronJob",
        "Alertmanager",
        "AlertmanagerConfig",
        "Probe",
        "Prometheus",
        "PrometheusAgent",
        "ScrapeConfig",
        "ThanosRuler",
    }
)
_ALIKE = frozenset({"monitoring.rhobs"})
"""Groups of their own with kinds of the same names, like that of rhobs/obo-prometheus-operator."""
_VERSION = r"v([1-9][0-9]{0,8})(?:(alpha|beta)([1-9][0-9]{0,8}))?\Z"
_STAGES = {"alpha": 0, "beta": 1, None: 2}
Meant = tuple[str, str]


def kind_meant(api_version: str, kind: str, schemas: Schemas = BUILTIN) -> Meant | None:
    """The API version and kind to use instead of one that certainly does not exist; ``None`` for one that may."""
    if schemas.find(api_version, kind):
        return None
    served = schemas.served()
    group, _, version = api_version.rpartition("/")
    versions = served.get(kind, [])
    if not versions:
        return _other_kind(group, kind, served)
    own_group = group or api_version
    in_group = [known for known in versions if group_of(known) == own_group]
    if in_group:
        if _is_newer(version, in_group):
            return None
        return in_group[0], kind
    if _is_served(group, served):
        return versions[0], kind
    if own_group not in _ALIKE and like(own_group, map(group_of, versions)):
        return versions[0], kind
    return None


def _is_served(group: str, served: dict[str, list[str]]) -> bool:
    known = served.values()
    return any(group in map(group_of, versions) for versions in known)


def _other_kind(group: str, kind: str, served: dict[str, list[str]]) -> Meant | None:
    """The kind of a group that a misspelt one is like."""
    if kind in _OTHERS:
        return None
    in_group: dict[str, str] = {}
    for name, versions in served.items():
        for api_version in versions:
            if group_of(api_version) == group:
                in_group[name] = api_version
    alike = like(kind, in_group)
    if alike:
        return (in_group[alike], alike)
    return None


def unknown_kind(api_version: str, kind: str, right: Meant) -> Fault:
    """The fault of an object of a kind that is meant to be another."""
    known_version, known_kind = right
    if known_kind != kind:
        message = f"`{api_version}` has no kind `{kind}`"
        help = f"did you mean `{known_kind}`?"
        return Fault(SCHEMA, "SCH010", ("kind",), message, help)
    if api_version:
        message = f"there is no `{kind}` in `{api_version}`"
    else:
        message = f"there is no `apiVersion` for this `{kind}`"
    help = f"write `apiVersion: {known_version}`"
    return Fault(SCHEMA, "SCH010", ("apiVersion",), message, help)


def _is_newer(version: str, known: list[str]) -> bool:
    """Whether a version may be one that came after the known ones: v2 after v1, never v9."""
    rank = _rank(version)
    if rank is None:
        return False
    versions = [api_version.rpartition("/")[2] for api_version in known]
    newest = max(filter(None, map(_rank, versions)))
    return rank > newest and rank[1] <= newest[1] + 1


def _rank(version: str) -> tuple[int, int, int] | None:
    """Kubernetes' order of versions: v1 after v1beta2 after v1beta1 after v1alpha1 (apimachinery v0.36)."""
    match = re.match(_VERSION, version)
    if match is None:
        return None
    major, stage, minor = match.groups()
    number = int(minor or 0)
    return _STAGES[stage], int(major), number


__all__ = ["kind_meant", "unknown_kind"]
