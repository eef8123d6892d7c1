"""Which objects a patch is for (kubectl.docs.kubernetes.io, references/kustomize/kustomization/patches)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from compiler.diagnostics.diagnostic import listed
from compiler.diagnostics.near import meant
from compiler.manifest import Manifest
from compiler.subjects.overrides.plan import ObjectPatch

_SHOWN = 6
_COMMA = re.compile(r",(?![^(]*\))")
_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^)]*)\)\Z")


def selected(patch: ObjectPatch, manifests: Iterable[Manifest]) -> list[Manifest]:
    """The objects that a patch is for."""
    return [manifest for manifest in manifests if _is_meant(patch, manifest)]


def _is_meant(patch: ObjectPatch, manifest: Manifest) -> bool:
    ref = manifest.ref
    group, _, version = ref.api_version.rpartition("/")
    return (
        patch.kind == ref.kind
        and patch.group in (None, group)
        and patch.version in (None, version)
        and _whole(patch.name, ref.name)
        and _whole(patch.namespace, ref.namespace)
        and _labelled(patch.labels, manifest)
    )


def _whole(pattern: str | None, name: str) -> bool:
    return pattern is None or re.fullmatch(pattern, name) is not None


def _labelled(selector: str | None, manifest: Manifest) -> bool:
    labels = manifest.body["metadata"].get("labels")
    labels = labels if isinstance(labels, dict) else {}
    parts = _COMMA.split(selector) if selector else []
    return all(_holds(part.strip(), labels) for part in parts)


def _holds(requirement: str, labels: Mapping[str, str]) -> bool:
    """One requirement of a label selector (Kubernetes, labels and selectors)."""
    named = _SET.match(requirement)
    if named:
        key, word, values = named.groups()
        among = labels.get(key) in [value.strip() for value in values.split(",")]
        return among == (word == "in")
    for sign in ("!=", "==", "="):
        key, operator, value = requirement.partition(sign)
        if operator:
            return (labels.get(key.strip()) == value.strip()) == (sign != "!=")
    if requirement.startswith("!"):
        return requirement[1:].strip() not in labels
    return requirement in labels


def nearest(patch: ObjectPatch, manifests: Sequence[Manifest]) -> str:
    """What a patch that is for nothing may have meant."""
    kinds = sorted({manifest.ref.kind for manifest in manifests})
    if patch.kind not in kinds:
        return meant(patch.kind, kinds) or "`trainyard compile` writes no such kind"
    alike = [manifest.ref for manifest in manifests if manifest.ref.kind == patch.kind]
    names = [ref.name for ref in alike]
    if not any(_whole(patch.name, name) for name in names):
        return meant(patch.name or "", names) or f"there is {_listed(names)}"
    return f"there is {_listed([str(ref) for ref in alike])}"


def _listed(names: Sequence[str]) -> str:
    shown = listed(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown}, and {len(names) - _SHOWN} more"
