"""Pieces of Kubernetes bodies that several features write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.output.artifact import Places
from trainyard.output.body import value_at
from trainyard.output.manifest import Body, Manifest
from trainyard.plan.scheduling import Taint, Toleration

MANAGED_BY = {"app.kubernetes.io/managed-by": "trainyard"}
_PRUNE = "kustomize.toolkit.fluxcd.io/prune"
NO_PRUNE = {_PRUNE: "disabled"}
NO_SUBSTITUTION = {"kustomize.toolkit.fluxcd.io/substitute": "disabled"}


def object_head(
    api_version: str,
    kind: str,
    name: str,
    namespace: str = "",
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> Body:
    """apiVersion, kind and metadata."""
    metadata: Body = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    metadata["labels"] = {**MANAGED_BY, **labels} if labels else dict(MANAGED_BY)
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def is_never_pruned(body: Body) -> bool:
    """Whether Flux leaves an object when it is no longer in git, as ``NO_PRUNE`` has it do."""
    return bool(value_at(body, "metadata", "annotations", _PRUNE) == NO_PRUNE[_PRUNE])


def without_rights(*, user: int | None = None) -> Body:
    """The security context of a program that needs nothing of its node; ``user``: whom it runs as, not root."""
    identity = {} if user is None else {"runAsNonRoot": True, "runAsUser": user}
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        **identity,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def resources(cpu: int, memory: int) -> Body:
    """What a container of ours requests, in milli-CPU and MiB, and twice the memory as its limit."""
    return {
        "requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"},
        "limits": {"memory": f"{2 * memory}Mi"},
    }


def unsubstituted(annotations: dict[str, str], texts: Iterable[str]) -> dict[str, str]:
    """The annotations of an object, with the one that keeps Flux from putting its own variables in, where it would
    find some: it fails on unknown ones (kustomize-controller 1.9)."""
    if any("${" in text for text in texts):
        return {**annotations, **NO_SUBSTITUTION}
    return annotations


def guarded(body: Body) -> Body:
    """An object with that annotation, where any of its texts needs it; annotations of another shape stay."""
    annotations = body["metadata"].get("annotations") or {}
    if isinstance(annotations, dict):
        whole = unsubstituted(annotations, texts_within(body))
        if whole is not annotations:
            body["metadata"]["annotations"] = whole
    return body


def texts_within(value: Any) -> Iterable[str]:
    """Every text in a value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inside in value.values():
            yield from texts_within(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from texts_within(inside)


def fields_given(**fields: Any) -> Body:
    """The fields that have a value: ``None`` and empty ones are left out."""
    return {key: value for key, value in fields.items() if value or value is False or value == 0}


def quantities(resources: Mapping[str, Quantity]) -> dict[str, str]:
    """Quantities as text, the way the API server writes them."""
    amounts = resources.items()
    return {name: str(amount) for name, amount in amounts}


def taint_bodies(values: Iterable[Taint]) -> list[Body]:
    """core/v1 Taints."""
    return [fields_given(key=taint.key, value=taint.value, effect=taint.effect) for taint in values]


def toleration_bodies(values: Iterable[Toleration]) -> list[Body]:
    """core/v1 Tolerations."""
    return [
        fields_given(
            key=toleration.key,
            operator=toleration.operator,
            value=toleration.value,
            effect=toleration.effect,
            tolerationSeconds=toleration.seconds,
        )
        for toleration in values
    ]


def manifest_in(folder: str, body: Body, at: Route, places: Places | None = None) -> Manifest:
    """An object in a file of its own in a folder of the cluster's, with the routes of its fields."""
    return Manifest(body, file_of(folder, body), at, places or {})


def file_of(folder: str, body: Body, *, flat: bool = False) -> str:
    """Where an object is written: ``folder/[namespace.]kind-name.yaml``; ``flat`` where all are of one namespace.

    No folder is a namespace's own: what moves to another namespace would empty it, and git takes that for a folder
    that was renamed, into which it moves whatever the other side of a merge adds.
    """
    metadata = body["metadata"]
    namespace = None if flat else metadata.get("namespace")
    return object_path(folder, body["kind"], metadata["name"], namespace or "")


def object_path(folder: str, kind: str, name: str, namespace: str = "") -> str:
    """The path of an object's file; no namespace has a dot in its name."""
    file = f"{kind.lower()}-{name}.yaml"
    if namespace:
        return f"{folder}/{namespace}.{file}"
    return f"{folder}/{file}"
