"""Selects the objects of a patch (kubectl.docs.kubernetes.io, references/kustomize/kustomization/patches)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from trainyard.eks.overrides.plan import ObjectPatch
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.output.manifest import Manifest

_SHOWN = 6
_COMMA = r",(?![^(]*\))"
_SET = r"(\S+)\s+(in|notin)\s*\(([^)]*)\)\Z"


def targets_of(patch: ObjectPatch, manifests: Iterable[Manifest]) -> list[Manifest]:
    """The objects that a patch is for."""
    return [manifest for manifest in manifests if _is_target(patch, manifest)]


def _is_target(patch: ObjectPatch, manifest: Manifest) -> bool:
    ref = manifest.ref
    group, _, version = ref.api_version.rpartition("/")
    return (
        patch.kind == ref.kind
        and patch.group in (None, group)
        and patch.version in (None, version)
        and _matches(patch.name, ref.name)
        and _matches(patch.namespace, ref.namespace)
        and has_labels(patch.labels, manifest.body["metadata"].get("labels"))
    )


def _matches(pattern: str | None, name: str) -> bool:
    if pattern is None:
        return True
    return re.fullmatch(pattern, name) is not None


def has_labels(selector: str | None, labels: object) -> bool:
    """Whether labels are what a selector asks for; one that asks for nothing fits all."""
    if not selector:
        return True
    if not isinstance(labels, dict):
        labels = {}
    requirements = re.split(_COMMA, selector)
    return all(_holds(part.strip(), labels) for part in requirements)


def _holds(requirement: str, labels: Mapping[str, str]) -> bool:
    """One requirement of a label selector (Kubernetes, labels and selectors)."""
    in_set = re.match(_SET, requirement)
    if in_set:
        key, word, listed_values = in_set.groups()
        values = [value.strip() for value in listed_values.split(",")]
        is_in = labels.get(key) in values
        return is_in == (word == "in")
    for sign in ("!=", "==", "="):
        key, operator, value = requirement.partition(sign)
        if operator:
            label = labels.get(key.strip())
            equal = label == value.strip()
            return equal == (sign != "!=")
    if requirement.startswith("!"):
        return requirement[1:].strip() not in labels
    return requirement in labels


def nearest(patch: ObjectPatch, manifests: Sequence[Manifest]) -> str:
    """What a patch that is for nothing may have meant."""
    kinds = sorted({manifest.ref.kind for manifest in manifests})
    if patch.kind not in kinds:
        return name_meant(patch.kind, kinds) or "`trainyard compile` writes no such kind"
    refs = [manifest.ref for manifest in manifests]
    refs = [ref for ref in refs if ref.kind == patch.kind]
    names = [ref.name for ref in refs]
    if any(_matches(patch.name, name) for name in names):
        shown = [str(ref) for ref in refs]
        return f"there is {_listed(shown)}"
    question = name_meant(patch.name or "", names)
    return question or f"there is {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    shown = listed(names[:_SHOWN])
    if len(names) <= _SHOWN:
        return shown
    return f"{shown}, and {len(names) - _SHOWN} more"
