"""What the compiler makes of the small cluster of a platform, and whether keys are of a language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from trainyard.language.models.models import inner_model, keys_of
from trainyard.plan.features import Platform
from trainyard.run.driver import check
from trainyard.run.language.whole import language
from trainyard.run.outcome import Compilation, Options


def compiled(data: dict[str, Any], folder: Path) -> Compilation:
    """What the passes make of a spec."""
    file = folder / "spec.yaml"
    file.write_text(yaml.safe_dump(data, sort_keys=False))
    outcome = check([file], Options(hold=False))
    assert outcome.compilations, outcome.diagnostics
    return outcome.compilations[0]


def codes(data: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """The code and the place of each finding."""
    return [(fact.code, str(fact.at)) for fact in compiled(data, folder).diagnostics]


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """The fields of a model by their keys in a spec."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def item_model(platform: Platform, section: str) -> type[BaseModel]:
    """The model of the items of a list of ``spec``, like ``nodePools``."""
    spec = inner_model(language(platform).model_fields["spec"].annotation)
    assert spec is not None
    model = inner_model(fields_of(spec)[section].annotation)
    assert model is not None
    return model


def leads(model: type[BaseModel], keys: list[str]) -> bool:
    """Whether a path of keys leads to a field."""
    first, *rest = keys
    if first not in keys_of(model):
        return False
    if not rest:
        return True
    inner = inner_model(fields_of(model)[first].annotation)
    return inner is not None and leads(inner, rest)
