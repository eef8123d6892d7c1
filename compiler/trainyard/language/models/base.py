"""The base of all spec models."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


def _key(field: str) -> str:
    """The key of a field: ``nodePools`` of ``node_pools``. pydantic's own asks five regular expressions."""
    first, *others = field.split("_")
    return first + "".join(map(str.capitalize, others))


class SpecModel(BaseModel):
    """Strict, frozen, camelCase in YAML, and no unknown keys."""

    model_config = ConfigDict(
        strict=True,
        frozen=True,
        extra="forbid",
        alias_generator=_key,
        validate_by_name=False,
        validate_by_alias=True,
        arbitrary_types_allowed=True,
        defer_build=True,  # one schema for the whole tree, not one for each model too: halves the import
        hide_input_in_errors=True,
    )
