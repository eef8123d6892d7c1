"""Minor versions of Kubernetes on EKS: one file each (``data/releases/<release>/kubernetes/<minor>.json``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cache
from pathlib import Path
from typing import Any

from trainyard.catalog.versions import version_key
from trainyard.language.dataclass import dataclass

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Minor:
    """What a release says of one minor version.

    ``left_out`` says why nothing is rendered for it; empty where something is. ``support_ends`` has the dates (ISO) on
    which ``standard`` and ``extended`` support end, where they are known. ``karpenter`` is the first version
    that takes it. ``addons`` are the builds of EKS add-ons, and ``images`` the release versions that EKS gives to AMI
    aliases. ``asks`` is what the step to it requires in addition to what every step does, ``brings`` what it is the
    first to have. ``adds`` are the fields of core/v1, by type, that older ones do not know or have off; ``off`` those
    that this one has off, each with its feature gate. ``source`` is where this was read, and ``checked`` when.
    """

    version: str
    source: str
    checked: str
    left_out: str = ""
    support_ends: Mapping[str, str] = field(default_factory=dict)
    karpenter: str = ""
    addons: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    images: Mapping[str, str] = field(default_factory=dict)
    asks: tuple[str, ...] = ()
    brings: tuple[str, ...] = ()
    adds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    off: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def before(self) -> str:
        """The minor version before it."""
        return beside(self.version, -1)

    @property
    def after(self) -> str:
        """The minor version after it."""
        return beside(self.version, 1)


def minors_from(files: Mapping[str, Mapping[str, Any]]) -> dict[str, Minor]:
    """The minor versions of a release by version, oldest first."""
    minors = {}
    for version in sorted(files, key=version_key):
        facts = dict(files[version])
        for name in ("asks", "brings"):
            facts[name] = tuple(facts.get(name, ()))
        adds = facts.get("adds", {}).items()
        facts["adds"] = {name: tuple(fields) for name, fields in adds}
        minors[version] = Minor(version=version, **facts)
    return minors


@cache
def ended() -> Mapping[str, Mapping[str, str]]:
    """The dates (ISO) on which support ended of minors that no release has; older ones ended before all of them."""
    facts: dict[str, Any] = json.loads((DATA / "kubernetes_ended.json").read_bytes())
    return {version: dates for version, dates in facts.items() if version_key(version)}


def support_of(version: str, minors: Mapping[str, Minor]) -> Mapping[str, str] | None:
    """The dates of a minor version's support; empty where it ended before all that are known, and ``None`` where
    nothing is known of it."""
    minor = minors.get(version)
    if minor is not None:
        return minor.support_ends or None
    past = ended()
    if version in past:
        return past[version]
    is_older = version_key(version)[:2] < min(map(version_key, past))
    return {} if version_key(version) and is_older else None


def unknown_fields(minors: Mapping[str, Minor], version: str) -> dict[str, dict[str, str]]:
    """By type of core/v1, the fields that the API server of a minor version drops, each with the first minor that does
    not, or with the feature gate that is off in all."""
    unknown: dict[str, dict[str, str]] = {}
    for minor in minors.values():
        for name, gates in minor.off.items():
            unknown.setdefault(name, {}).update(gates)
        if version_key(minor.version) <= version_key(version):
            continue
        for name, fields in minor.adds.items():
            for each in fields:
                unknown.setdefault(name, {}).setdefault(each, minor.version)
    return unknown


def laid_over(
    files: Mapping[str, dict[str, Any]], minors: Mapping[str, Minor]
) -> dict[str, dict[str, Any]]:
    """The files of a release's components, with what its minor versions say of them."""
    whole = {name: dict(facts) for name, facts in files.items()}
    rendered = [minor for minor in minors.values() if not minor.left_out]
    kubernetes = whole["kubernetes"]
    kubernetes["supported"] = [minor.version for minor in rendered]
    templates = kubernetes.pop("between_minors", ())
    steps = list(_steps(templates, minors.values()))
    kubernetes["upgrades"] = [*kubernetes.get("upgrades", ()), *steps]
    images: dict[str, dict[str, str]] = {}
    for minor in rendered:
        for alias, image in minor.images.items():
            images.setdefault(alias, {})[minor.version] = image
        for name, addon in minor.addons.items():
            builds = whole[name].setdefault("builds", {})
            builds[minor.version] = addon["build"]
    whole["ami"]["images"] = images
    tested = minors[kubernetes["version"]]
    for name, addon in tested.addons.items():
        whole[name]["build"] = addon["build"]
        whole[name]["source"] = addon["source"]
    return whole


def _steps(
    templates: Iterable[Mapping[str, Any]], minors: Iterable[Minor]
) -> Iterator[dict[str, Any]]:
    """The steps to each minor version and back: the words that are the same for all, and what it asks for itself."""
    for minor in minors:
        words = {"before": minor.before, "this": minor.version, "after": minor.after}
        for template in templates:
            step = _filled(template, words)
            if step.pop("asks", False):
                step["steps"] = [*minor.asks, *step["steps"]]
                step["sources"] = [*step["sources"], minor.source]
                if minor.brings:
                    news = ", ".join(minor.brings)
                    step["summary"] = f"{step['summary']}. New in it: {news}"
            yield step


def _filled(template: Any, words: Mapping[str, str]) -> Any:
    if isinstance(template, str):
        return template.format_map(words)
    if isinstance(template, list):
        return [_filled(item, words) for item in template]
    if isinstance(template, dict):
        return {key: _filled(value, words) for key, value in template.items()}
    return template


def beside(version: str, offset: int) -> str:
    """The minor version a number of minors later."""
    major, minor = version_key(version)
    return f"{major}.{minor + offset}"
