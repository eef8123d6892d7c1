"""Which keys of the language each platform takes, and what to write instead of one that it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.models.models import keys_of
from trainyard.plan.features import Platform
from trainyard.run.language.reference import all_keys
from trainyard.run.language.whole import elsewhere, language
from trainyard.run.platforms import PLATFORMS

__all__ = ["KeyByPlatform", "keys_by_platform"]

_SPEC, _PLATFORM = "spec.", "platform"
_INSIDE = re.compile(r"\[\]|\.NAME")


@dataclass(frozen=True, slots=True)
class KeyByPlatform:
    """A key by its path below ``spec``, and what to write instead of it, by the name of each platform that does not
    take it."""

    path: str
    instead: Mapping[str, str]


def keys_by_platform() -> Iterator[KeyByPlatform]:
    """Every key of ``spec`` itself, and of the others those that some platform does not take. What a platform has of
    its own stands below ``platform``."""
    for key in all_keys():
        path = _INSIDE.sub("", key.path).removeprefix(_SPEC)
        if not key.path.startswith(_SPEC) or path.split(".")[0] == _PLATFORM:
            continue
        refused = {
            platform.name: help
            for platform in PLATFORMS.values()
            if (help := _instead(platform, path)) is not None
        }
        is_first = "." not in path
        above = path.rpartition(".")[0]
        is_new = (
            any(_instead(PLATFORMS[name], above) is None for name in refused) if above else True
        )
        if is_first or (refused and is_new):
            yield KeyByPlatform(path, refused)


def _instead(platform: Platform, path: str) -> str | None:
    """What to write instead of a key of this platform; ``None`` where it takes the key."""
    help = platform.instead_of(path)
    if help is not None:
        return help
    first = path.split(".")[0]
    if first in _keys(platform):
        return None
    return elsewhere().get(first, "remove it")


def _keys(platform: Platform) -> list[str]:
    """The keys of ``spec`` that a platform takes."""
    spec: Any = language(platform).model_fields["spec"].annotation
    return keys_of(spec)
