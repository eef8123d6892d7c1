"""Documents of their own for the items of a list, so that a team owns one short file: each subject names its kinds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from compiler.platforms import EKS, Platform
from compiler.spec.base import SpecModel
from compiler.subjects import parts


@cache
def documents(
    platform: Platform = EKS,
) -> Mapping[str, tuple[str, type[SpecModel]]]:
    """Each kind with its list of the spec and the model of an item: ``DOCUMENTS`` of the subjects' ``spec`` modules."""
    kinds: dict[str, tuple[str, type[SpecModel]]] = {}
    for module in parts("spec", platform.subjects):
        for kind, item in getattr(module, "DOCUMENTS", {}).items():
            assert kind not in kinds, f"two subjects have documents of kind {kind}"
            kinds[kind] = item
    return kinds


@cache
def lists(platform: Platform = EKS) -> Mapping[str, str]:
    """Each kind with its list of the spec."""
    return {kind: section for kind, (section, _) in documents(platform).items()}
