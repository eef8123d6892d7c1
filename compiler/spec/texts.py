"""The files that specs name by paths and that are no YAML: each subject names its keys."""

from __future__ import annotations

from functools import cache

from compiler.platforms import EKS, Platform
from compiler.source.texts import TextKey
from compiler.subjects import parts


@cache
def text_keys(platform: Platform = EKS) -> tuple[TextKey, ...]:
    """``TEXTS`` of the subjects' ``spec`` modules."""
    keys: list[TextKey] = []
    for module in parts("spec", platform.subjects):
        keys += getattr(module, "TEXTS", ())
    return tuple(keys)
