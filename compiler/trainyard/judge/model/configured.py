"""Variables that containers take from ConfigMaps of the set (core/v1 EnvFromSource, ConfigMapKeySelector)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from trainyard.judge.model.values import mapping, mappings_at, value_at
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

ConfigMaps = Mapping[tuple[str, str], Manifest]


class Configured(NamedTuple):
    """The value of a variable, and its place in a ConfigMap."""

    text: str
    at: Route


def config_maps(manifests: Iterable[Manifest]) -> ConfigMaps:
    """The ConfigMaps of a set by namespace and name: many jobs ask for theirs."""
    refs = ((each.ref, each) for each in manifests)
    return {(ref.namespace or "", ref.name): each for ref, each in refs if ref.kind == "ConfigMap"}


def configured(container: Any, namespace: str, known: ConfigMaps) -> dict[str, Configured]:
    """The variables of a container that are keys of ConfigMaps which are known; one by its own name comes last."""
    return dict(_configured(container, namespace, known))


def _configured(
    container: Any, namespace: str, known: ConfigMaps
) -> Iterator[tuple[str, Configured]]:
    for source in mappings_at(container, "envFrom"):
        manifest = known.get((namespace, str(value_at(source, "configMapRef", "name"))))
        if manifest is None:
            continue
        prefix = str(source.get("prefix") or "")
        for key, text in mapping(manifest.body, "data").items():
            yield f"{prefix}{key}", Configured(str(text), Route((manifest.id, "data", key)))
    for entry in mappings_at(container, "env"):
        key = value_at(entry, "valueFrom", "configMapKeyRef", "key")
        name = value_at(entry, "valueFrom", "configMapKeyRef", "name")
        manifest = known.get((namespace, str(name)))
        text = None if manifest is None else mapping(manifest.body, "data").get(key)
        if manifest is not None and text is not None:
            place = Route((manifest.id, "data", str(key)))
            yield str(entry.get("name")), Configured(str(text), place)
