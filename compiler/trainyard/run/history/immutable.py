"""Edits that the API server always refuses: immutable fields, and transition rules of CRDs.

Flux applies with server-side apply. What the API server refuses once it refuses at every attempt, and everything
behind that Kustomization stops. Each rule names the field, when it holds, and its source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.core.storage.plan import FOLDER, FSX_ID
from trainyard.eks.volumes.resolve import made_folder
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.places import Route
from trainyard.output.body import value_at
from trainyard.output.lowering.body import object_path
from trainyard.output.manifest import Body, Manifest
from trainyard.run.history.changes import shown_value
from trainyard.run.history.committed import Committed

FieldPath = tuple[str, ...]
_SOURCE = ("spec", "csi")


def _is_late(source: Any) -> bool:
    """Whether Flux fills in what a volume is (``trainyard.eks.volumes.stages``)."""
    handle = str(value_at(source, "volumeHandle"))
    return handle.startswith(f"${{{FSX_ID}}}")


def _always(old: Body) -> bool:
    return True


def _has_topology(old: Body) -> bool:
    return value_at(old, "spec", "topologyName") is not None


def _has_affinity(old: Body) -> bool:
    return value_at(old, "spec", "nodeAffinity") is not None


def _is_immutable(old: Body) -> bool:
    return old.get("immutable") is True


@dataclass(frozen=True, slots=True)
class Rule:
    """A field that cannot change: its path, when (by the object as it was), and what to do instead.

    ``presence``: only whether the field is there cannot change.
    """

    path: FieldPath
    help: str
    source: str
    when: Callable[[Body], bool] = _always
    presence: bool = False


_NEW_POOL = "add a pool of another name, move jobs there with `rerun:`, and remove this one when its runs have ended"
_NODE_CLASS = ("spec", "template", "spec", "nodeClassRef")
_NEW_CLUSTER = (
    "undo it, or make a cluster of another name: one keeps the way in which its nodes are launched"
)
_NEW_STORAGE = (
    "add a storage of another name, and remove this one when the runs that mount it have ended"
)
_KARPENTER = "karpenter.sh_nodepools.yaml v1.14.1, x-kubernetes-validations"
_KUEUE = "kueue.x-k8s.io CRDs v0.19.2, x-kubernetes-validations"
_CORE = "Kubernetes 1.35, API validation of updates"

_BY_HAND = "undo the change, or delete the object in the cluster, and then its file here"
_NEW_JOB = (
    "give the Job another name, or let Flux make it again, by the annotation "
    "`kustomize.toolkit.fluxcd.io/force: enabled`"
)


def _of_core(help: str, *fields: str, when: Callable[[Body], bool] = _always) -> list[Rule]:
    """Fields that Kubernetes' own validation of updates keeps, each by its keys with dots between."""
    return [Rule(tuple(field.split(".")), help, _CORE, when) for field in fields]


_FLAVOR = [
    Rule(("spec", field), _NEW_POOL, _KUEUE, _has_topology)
    for field in ("nodeLabels", "tolerations", "topologyName")
]
_VOLUME = [
    Rule(_SOURCE, _NEW_STORAGE, _CORE),
    *_of_core(_NEW_STORAGE, "spec.nodeAffinity", when=_has_affinity),
    *_of_core(_NEW_STORAGE, "spec.volumeMode"),
]
_CLAIM = _of_core(
    _NEW_STORAGE,
    *("spec.accessModes", "spec.resources", "spec.selector"),
    *("spec.storageClassName", "spec.volumeMode", "spec.volumeName"),
)
_STORAGE_CLASS = _of_core(
    _NEW_STORAGE, "parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"
)
_FIXED = _of_core(_BY_HAND, "data", "binaryData", "immutable", when=_is_immutable)
_JOB = _of_core(
    _NEW_JOB,
    *("spec.template", "spec.selector", "spec.completionMode", "spec.podFailurePolicy"),
    *("spec.successPolicy", "spec.backoffLimitPerIndex", "spec.managedBy"),
)
_STATEFUL_SET = _of_core(
    _BY_HAND,
    *("spec.selector", "spec.serviceName", "spec.podManagementPolicy", "spec.volumeClaimTemplates"),
)
_FLUX = "kustomize.toolkit.fluxcd.io"
_ANNOTATIONS = {
    f"{_FLUX}/force": "enabled",
    f"{_FLUX}/ssa": "ifnotpresent",
    f"{_FLUX}/reconcile": "disabled",
}
"""With these, in any case, Flux makes an object again, or leaves the one that is there (kustomize-controller 1.8,
Kustomization, controlling the apply behavior of resources)."""

RULES: Mapping[str, Sequence[Rule]] = {
    "NodePool": [
        Rule(("spec", "replicas"), _NEW_POOL, _KARPENTER, presence=True),
        Rule((*_NODE_CLASS, "group"), _NEW_CLUSTER, _KARPENTER),
        Rule((*_NODE_CLASS, "kind"), _NEW_CLUSTER, _KARPENTER),
    ],
    "ResourceFlavor": _FLAVOR,
    "Topology": [Rule(("spec", "levels"), _NEW_POOL, _KUEUE)],
    "LocalQueue": [Rule(("spec", "clusterQueue"), "add a queue of another name", _KUEUE)],
    "AdmissionCheck": [Rule(("spec", "controllerName"), "add a check of another name", _KUEUE)],
    "PersistentVolume": _VOLUME,
    "PersistentVolumeClaim": _CLAIM,
    "StorageClass": _STORAGE_CLASS,
    "PriorityClass": _of_core(_BY_HAND, "value", "preemptionPolicy"),
    "RoleBinding": _of_core(_BY_HAND, "roleRef"),
    "ClusterRoleBinding": _of_core(_BY_HAND, "roleRef"),
    "Job": _JOB,
    "StatefulSet": _STATEFUL_SET,
    "ReplicaSet": _of_core(_BY_HAND, "spec.selector"),
    "ResourceClaim": _of_core(_BY_HAND, "spec"),
    "ResourceClaimTemplate": _of_core(_BY_HAND, "spec"),
    "RuntimeClass": _of_core(_BY_HAND, "handler"),
    "Deployment": _of_core(_BY_HAND, "spec.selector"),
    "DaemonSet": _of_core(_BY_HAND, "spec.selector"),
    "ConfigMap": _FIXED,
    "Secret": [*_FIXED, *_of_core(_BY_HAND, "type")],
}


def fixed(kind: str, old: Body, path: Sequence[object]) -> Rule | None:
    """The rule by which the field at a path, or one above it, cannot change; ``None`` where it can."""
    for rule in RULES.get(kind, ()):
        inside = tuple(path[: len(rule.path)]) == rule.path
        if inside and not rule.presence and rule.when(old):
            return rule
    return None


def refused_edits(manifests: Iterable[Manifest], committed: Committed) -> list[Diagnostic]:
    """What the API server would refuse of the objects that differ from what is committed."""
    refused: list[Diagnostic] = []
    for manifest in manifests:
        if manifest.body["kind"] not in RULES:
            continue
        if committed.holds(manifest) or _is_left(manifest.body):
            continue
        old = _former(manifest, committed)
        if old is not None:
            refused += _refused_fields(old.body, manifest)
    return refused


def _is_left(body: Body) -> bool:
    """Whether Flux does not apply an edit of an object, or makes the object again."""
    annotations = value_at(body, "metadata", "annotations") or {}
    return any(str(annotations.get(name)).lower() == said for name, said in _ANNOTATIONS.items())


def _former(manifest: Manifest, committed: Committed) -> Manifest | None:
    """An object as it is committed. A volume is written elsewhere once its file system is made, or exists."""
    ref = str(manifest.ref)
    paths = [manifest.path]
    if manifest.body["kind"] == "PersistentVolume":
        claim = value_at(manifest.body, "spec", "claimRef", "name")
        folders = (FOLDER, made_folder(str(claim)))
        paths += [object_path(folder, "PersistentVolume", manifest.ref.name) for folder in folders]
    for path in paths:
        old = committed.manifest(ref, path, manifest)
        if old is not None:
            return old
    return None


def _refused_fields(old: Body, manifest: Manifest) -> Iterator[Diagnostic]:
    for rule in RULES[manifest.body["kind"]]:
        if not rule.when(old):
            continue
        before = value_at(old, *rule.path)
        after = value_at(manifest.body, *rule.path)
        if before == after:
            continue
        both_present = before is not None and after is not None
        if rule.presence and both_present:
            continue
        if rule.path == _SOURCE and _is_late(before):
            continue  # what Flux filled in there is not known here
        inner, before, after = _differs(before, after)
        path = Route((*rule.path, *inner))
        edit = f"{shown_value(before)} → {shown_value(after)}"
        yield error(
            "CHG002",
            f"`{path}` of {manifest.ref} cannot change: {edit}",
            manifest.origin(rule.path),
            label="the API server refuses this edit for ever",
            help=rule.help,
            notes=(f"immutable: {rule.source}", "everything behind it in Flux's order would wait"),
        )


def _differs(before: Any, after: Any) -> tuple[FieldPath, Any, Any]:
    """Where two values differ, as deep as only one key does, so that the message shows what was edited."""
    path: FieldPath = ()
    while isinstance(before, Mapping) and isinstance(after, Mapping):
        either = {**before, **after}
        keys = [key for key in either if before.get(key) != after.get(key)]
        if len(keys) != 1:
            break
        (key,) = keys
        path = (*path, key)
        before = before.get(key)
        after = after.get(key)
    return path, before, after
