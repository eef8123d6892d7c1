"""Kinds of documents for single items of a list, so that a team can own one short file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from pydantic import BaseModel

from trainyard.language.models.models import model_of
from trainyard.plan.features import Platform, parts
from trainyard.run.platforms import EKS


@cache
def documents(platform: Platform = EKS) -> Mapping[str, tuple[str, type[BaseModel]]]:
    """Each kind with its list of the spec and the model of an item: ``DOCUMENTS`` of the subjects' ``spec`` modules."""
    models = {}
    for kind, (section, declared) in _declared(platform).items():
        model = model_of(declared)
        assert model is not None, f"kind {kind} has no model"
        models[kind] = (section, model)
    return models


@cache
def lists(platform: Platform = EKS) -> Mapping[str, str]:
    """Each kind with its list of the spec."""
    declared = _declared(platform).items()
    return {kind: section for kind, (section, _) in declared}


@cache
def _declared(platform: Platform) -> Mapping[str, tuple[str, object]]:
    kinds: dict[str, tuple[str, object]] = {}
    for module in parts("spec", platform.features):
        for kind, item in getattr(module, "DOCUMENTS", {}).items():
            assert kind not in kinds, f"two subjects have documents of kind {kind}"
            kinds[kind] = item
    return kinds
