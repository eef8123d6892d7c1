"""Reads values that the plan does not type: bodies of manifests and Helm values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.eks.cluster.plan import Addon
from trainyard.eks.flux.plan import HelmRelease
from trainyard.language.units import Duration
from trainyard.lift.reader import embedded
from trainyard.output.body import indexed, mappings_at, texts_at, value_at
from trainyard.plan.scheduling import Toleration

__all__ = [
    "embedded",
    "indexed",
    "mapping",
    "mappings_at",
    "read_tolerations",
    "seconds",
    "texts_at",
    "tolerations",
    "value_at",
]


def tolerations(
    agent: HelmRelease | Addon, *path: str, default: tuple[Toleration, ...] = ()
) -> tuple[Toleration, ...] | None:
    """The tolerations in the values of a release or an add-on, or else the chart's own; ``None`` where they may be
    written elsewhere."""
    written = value_at(agent.values, *path)
    if isinstance(written, list | tuple):
        return read_tolerations(written)
    if written is not None:
        return None
    if isinstance(agent, HelmRelease) and "values" in agent.unread:
        return None
    return default


def read_tolerations(values: Any) -> tuple[Toleration, ...]:
    """The tolerations of a list of mappings; none of anything else."""
    return tuple(
        Toleration(
            str(toleration.get("key", "")),
            str(toleration.get("operator", "Equal")),
            str(toleration.get("value", "")),
            str(toleration.get("effect", "")),
        )
        for toleration in mappings_at(values)
    )


def seconds(text: str | None) -> int | None:
    """The seconds of a duration; ``None`` where there is none, or it is another word (``Never``)."""
    try:
        if text:
            return Duration.parse(text).seconds
        return None
    except ValueError:
        return None


def mapping(values: Any, *path: str) -> Mapping[str, Any]:
    """The mapping deep in a mapping, or an empty one."""
    inner = value_at(values, *path)
    if isinstance(inner, Mapping):
        return inner
    return {}
