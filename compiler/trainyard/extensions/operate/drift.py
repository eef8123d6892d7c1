"""Where a cluster differs from its committed folder: what Flux would change if it applied the folder now.

Each object is applied in a dry run, under the name by which Flux applies it, so that defaults, webhooks and the owners
of fields count as they do for Flux (fluxcd/pkg ssa v0.76.2, manager_diff.go: labels, annotations, and all but
``metadata`` and ``status``).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any, NamedTuple

from trainyard.extensions.operate.api import Api, version_path
from trainyard.extensions.operate.applied import (
    BOOTSTRAP,
    Stage,
    Unfilled,
    Values,
    live,
    objects,
    stage_of,
    stages,
)
from trainyard.extensions.operate.faults import ClusterError, RefusedError
from trainyard.language.dataclass import dataclass
from trainyard.output.artifact import ObjectRef
from trainyard.output.body import mappings_at, value_at
from trainyard.output.fields import ABSENT, Item, Pair, Step, Steps, differing, item_key, shown
from trainyard.output.hidden import hidden
from trainyard.output.manifest import Body, Manifest
from trainyard.run.history.committed import Committed

# Where the API server has the objects of a kind (kubernetes.io, API concepts: APIResourceList).

_DEFAULT = "default"


class _Resource(NamedTuple):
    plural: str
    namespaced: bool


class Resources:
    """The paths of objects; each ``apiVersion`` is asked for once."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known: dict[str, dict[str, _Resource]] = {}

    def path(self, ref: ObjectRef) -> str | None:
        """The path of an object; ``None`` where its kind is not served."""
        resource = self._served(ref.api_version).get(ref.kind)
        if resource is None:
            return None
        root = version_path(ref.api_version)
        if resource.namespaced:
            root += f"/namespaces/{ref.namespace or _DEFAULT}"
        return f"{root}/{resource.plural}/{ref.name}"

    def _served(self, version: str) -> dict[str, _Resource]:
        if version not in self._known:
            found = self._api.find(version_path(version)) or {}
            self._known[version] = {
                each["kind"]: _Resource(each["name"], each["namespaced"])
                for each in found.get("resources") or []
                if "/" not in each["name"]  # as `pods/log`
            }
        return self._known[version]


# Who owns a field of a live object, and which fields somebody owns.
#
# Sources: kubernetes.io, server-side apply; structured-merge-diff v6, serialisation of `fieldsV1`: `f:` a field, `k:`
# the item of a list by its keys, `v:` the item of a set.


def owners(body: Body, steps: Steps) -> tuple[str, ...]:
    """The managers of a field of a live object, by name; none where nobody owns it."""
    entries = mappings_at(body, "metadata", "managedFields")
    names = [str(each["manager"]) for each in entries if _owns(each.get("fieldsV1"), body, steps)]
    return tuple(dict.fromkeys(names))


def _owns(node: Any, value: Any, steps: Steps) -> bool:
    """Whether fields hold a path, or the whole value that it leads into."""
    for step in steps:
        if not isinstance(node, dict):
            return False
        if not node:
            return True
        value = _child(value, step)
        node = _field(node, step, value)
    return node is not None


def _child(value: Any, step: Step) -> Any:
    if isinstance(step, Item):
        for each in value if isinstance(value, list) else ():
            if isinstance(each, dict) and each.get(step.key) == step.value:
                return each
        return None
    if isinstance(step, int):
        return value[step] if isinstance(value, list) and step < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _field(node: Mapping[str, Any], step: Step, value: Any) -> Any:
    if isinstance(step, str):
        return node.get(f"f:{step}")
    for name, inner in node.items():
        if _means(name, value):
            return inner
    return None


def _means(name: str, value: Any) -> bool:
    """Whether ``k:…`` or ``v:…`` names an item of a list."""
    kind, _, text = name.partition(":")
    if kind == "k" and isinstance(value, dict):
        return bool(json.loads(text).items() <= value.items())
    return kind == "v" and bool(json.loads(text) == value)


def leaves(node: Any, value: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    """The fields that ``fieldsV1`` holds, each with its value; those that are not there any more are left out."""
    if not isinstance(node, dict):
        return
    inner = [name for name in node if name != "."]
    if not inner:
        yield steps, value
        return
    for name in inner:
        kind, _, text = name.partition(":")
        if kind == "f" and isinstance(value, dict) and text in value:
            yield from leaves(node[name], value[text], (*steps, text))
        elif kind in ("k", "v") and isinstance(value, list):
            for step, each in _steps(value):
                if _means(name, each):
                    yield from leaves(node[name], each, (*steps, step))


def _steps(values: list[Any]) -> Iterator[tuple[Step, Any]]:
    key = item_key(values)
    for index, each in enumerate(values):
        yield (index if key is None else Item(key, each[key])), each


MANAGER = "kustomize-controller"
_OWNER = ("kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace")
_APPLY = "kustomize.toolkit.fluxcd.io/ssa"
_RECONCILE = "kustomize.toolkit.fluxcd.io/reconcile"
# kustomize-controller v1.9.5, kustomization_controller.go: what these own and git does not have, Flux takes away.
_BY_HAND = ("kubectl", "before-first-apply")
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
# Kubernetes 1.36, core/v1 NamespaceConditionType.
_LEFT_IN_NAMESPACE = ("NamespaceContentRemaining", "NamespaceFinalizersRemaining")
_REFUSALS = (HTTPStatus.BAD_REQUEST, HTTPStatus.CONFLICT, HTTPStatus.UNPROCESSABLE_ENTITY)


class Difference(NamedTuple):
    """A field: its path, the value in git and in the cluster (``ABSENT`` where it has none), and who owns it."""

    field: str
    git: Any
    cluster: Any
    owners: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """An object that differs. ``file``: where it is committed, empty where it is not; ``exists``: in the cluster;
    ``refused``: why the API server would not take it, empty where it would; ``stage``: the Kustomization that owns what
    is not in git; ``held_by``: of one that is Terminating, the finalizers that it waits for."""

    ref: ObjectRef
    file: str
    exists: bool = True
    refused: str = ""
    fields: tuple[Difference, ...] = ()
    stage: str = ""
    held_by: tuple[str, ...] = ()


class Skipped(NamedTuple):
    """A file that is not compared, and why."""

    file: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A committed folder and a cluster. ``same``: how many objects do not differ; ``suspended``: Kustomizations that
    apply nothing until somebody resumes them."""

    cluster: str
    context: str
    proven: bool
    same: int
    drifted: tuple[Drift, ...]
    skipped: tuple[Skipped, ...]
    suspended: tuple[str, ...]


def compare(api: Api, cluster: str, committed: Committed, *, proven: bool) -> Comparison:
    """Compare a cluster's committed folder with the cluster; changes nothing there.

    Raises ``ClusterError`` where nothing is committed, and where the cluster cannot be asked.
    """
    manifests = objects(committed)
    if not manifests:
        raise ClusterError(
            "CLU016",
            f"no output of cluster `{cluster}` is committed",
            "`trainyard compile`, or name the folder: `--output DIR`",
        )
    found_stages = stages(manifests)
    comparer = _Comparer(api, found_stages)
    found = [comparer.compared(each) for each in manifests]
    drifted = [each for each in found if isinstance(each, Drift)]
    drifted += comparer.left_over({_key(each.ref) for each in manifests})
    skipped = [each for each in found if isinstance(each, Skipped)]
    skipped += _others(committed, found_stages, {each.path for each in manifests})
    return Comparison(
        cluster=cluster,
        context=api.context.name,
        proven=proven,
        same=found.count(None),
        drifted=tuple(drifted),
        skipped=tuple(skipped),
        suspended=tuple(comparer.suspended),
    )


def _others(
    committed: Committed, found: Iterable[Stage], known: Collection[str]
) -> Iterator[Skipped]:
    """Files that Flux applies and that are not ours, or cannot be read as ours."""
    for folder in sorted({stage.folder for stage in found}):
        for path in committed.files_below(folder):
            if path not in known and path.endswith((".yaml", ".yml")):
                yield Skipped(path, "it is no object that Trainyard wrote")


def _held_by(body: Body) -> tuple[str, ...]:
    """What an object waits for that is Terminating: its finalizers, or of a namespace what is left in it."""
    left = [
        str(each.get("message", ""))
        for each in mappings_at(body, "status", "conditions")
        if each.get("type") in _LEFT_IN_NAMESPACE and each.get("status") == "True"
    ]
    return tuple(left or map(str, value_at(body, "metadata", "finalizers") or ("unknown",)))


class _Comparer:
    """Compares single objects."""

    def __init__(self, api: Api, found: Sequence[Stage]) -> None:
        self._api = api
        self._stages = found
        self._resources = Resources(api)
        self._values = Values(api)
        self.suspended: list[str] = []

    def compared(self, manifest: Manifest) -> Drift | Skipped | None:
        """How an object differs, why it is not compared, or ``None`` where it is the same."""
        stage = stage_of(manifest, self._stages)
        if stage is None and not manifest.path.startswith(f"{BOOTSTRAP}/"):
            return Skipped(manifest.path, "no Kustomization applies its folder")
        if manifest.ref.kind == "Secret" or "sops" in manifest.body:
            return Skipped(manifest.path, "it is secret")
        annotations = value_at(manifest.body, "metadata", "annotations") or {}
        if annotations.get(_RECONCILE) == "disabled" or annotations.get(_APPLY) == "Ignore":
            return Skipped(manifest.path, "Flux leaves it alone, by its annotation")
        body = self._values.filled(manifest.body, stage)
        if isinstance(body, Unfilled):
            return Skipped(manifest.path, f"nothing says what `${{{body.name}}}` is")
        path = self._resources.path(manifest.ref)
        found = self._api.find(path) if path is not None else None
        if path is None or found is None:
            return Drift(ref=manifest.ref, file=manifest.path, exists=False)
        if value_at(found, "metadata", "deletionTimestamp"):
            # Flux applies it without effect; it is made anew once it is gone.
            return Drift(ref=manifest.ref, file=manifest.path, held_by=_held_by(found))
        if annotations.get(_APPLY) == "IfNotPresent":
            return None
        return self._differing(manifest, path, _with_owner(body, found), found, stage)

    def _differing(
        self, manifest: Manifest, path: str, body: Body, found: Body, stage: Stage | None
    ) -> Drift | None:
        try:
            wanted = self._api.dry_run(path, body, MANAGER)
        except RefusedError as fault:
            if not _is_refusal(fault):
                raise
            return Drift(ref=manifest.ref, file=manifest.path, refused=fault.reason)
        pairs = list(differing(_compared_part(wanted), _compared_part(found)))
        merges = (value_at(body, "metadata", "annotations") or {}).get(_APPLY) == "Merge"
        if stage is not None and not merges:
            known = {pair.steps for pair in pairs}
            pairs += [pair for pair in _by_hand(wanted, found) if pair.steps not in known]
        if not pairs:
            return None
        fields = tuple(_difference(each, found) for each in pairs)
        return Drift(ref=manifest.ref, file=manifest.path, fields=fields)

    def left_over(self, committed: set[tuple[str, ...]]) -> Iterator[Drift]:
        """Objects in the cluster that our Kustomizations own and that are not committed."""
        for stage in self._stages:
            found = live(self._api, stage)
            if found is None:
                continue
            if found.suspended:
                self.suspended.append(stage.name)
            for ref in found.applied:
                if _key(ref) not in committed and self._exists(ref):
                    yield Drift(ref=ref, file="", stage=stage.name)

    def _exists(self, ref: ObjectRef) -> bool:
        if ref.kind == "Secret":  # which is not read
            return True
        path = self._resources.path(ref)
        return path is not None and self._api.find(path) is not None


def _key(ref: ObjectRef) -> tuple[str, ...]:
    """What an object is, whatever the version of its group."""
    return ref.group, ref.kind, ref.namespace, ref.name


def _is_refusal(fault: RefusedError) -> bool:
    """Whether the server does not take the object; an admission webhook may say so by the status of a missing right."""
    is_denied = fault.status == HTTPStatus.FORBIDDEN and "denied" in fault.reason
    return is_denied or fault.status in _REFUSALS


def _difference(pair: Pair, found: Body) -> Difference:
    return Difference(
        field=shown(pair.steps),
        git=hidden(pair.wanted, pair.steps),
        cluster=hidden(pair.found, pair.steps),
        owners=owners(found, pair.steps),
    )


def _with_owner(body: Body, found: Body) -> Body:
    """An object with the labels by which Flux knows it as its own, as the live one has them."""
    labels = value_at(found, "metadata", "labels") or {}
    own = {key: labels[key] for key in _OWNER if key in labels}
    metadata = {
        **body["metadata"],
        "labels": {**(value_at(body, "metadata", "labels") or {}), **own},
    }
    return {**body, "metadata": metadata}


def _compared_part(body: Body) -> Body:
    """What Flux compares of an object."""
    metadata: Mapping[str, Any] = body.get("metadata") or {}
    annotations = dict(metadata.get("annotations") or {})
    annotations.pop(_LAST_APPLIED, None)
    rest = {key: value for key, value in body.items() if key not in ("metadata", "status")}
    named = {"labels": metadata.get("labels") or {}, "annotations": annotations}
    return {**rest, "metadata": named}


def _by_hand(wanted: Body, found: Body) -> Iterator[Pair]:
    """The fields that people added with kubectl: no dry run shows them, and Flux takes them away."""
    kept = {steps for steps, _ in _owned(wanted, (MANAGER,))}
    for steps, value in dict(_owned(found, _BY_HAND)).items():
        if steps in kept or steps[:1] == ("status",) or _LAST_APPLIED in steps:
            continue
        yield Pair(steps, ABSENT, value)


def _owned(body: Body, managers: Iterable[str]) -> Iterator[tuple[Steps, Any]]:
    """The fields that managers own, by the beginnings of their names; none of a subresource."""
    for entry in mappings_at(body, "metadata", "managedFields"):
        is_meant = str(entry.get("manager", "")).startswith(tuple(managers))
        if is_meant and not entry.get("subresource"):
            yield from leaves(entry.get("fieldsV1"), body)
