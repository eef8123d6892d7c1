"""A key of a model: what it is, what it may be, and where that is known from."""

from __future__ import annotations

from typing import Any

import pydantic
from pydantic.fields import FieldInfo

from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """What a value may be, in words; where that is known from; the codes that refuse the rest, besides its type."""

    text: str
    source: str
    codes: tuple[str, ...] = ()


def Field(  # noqa: N802 - it stands where pydantic's stands
    default: Any = ...,
    *,
    bound: str = "",
    source: str = "",
    codes: tuple[str, ...] = (),
    **given: Any,
) -> Any:
    """pydantic's ``Field``, which also says what bounds the value. A mapping has none: its keys have theirs."""
    field: FieldInfo = pydantic.Field(default, **given)
    if bound:
        field.metadata.append(Bound(bound, source, codes))
    return field


def bound_of(field: FieldInfo) -> Bound | None:
    """What was said of a field's value."""
    return next((each for each in field.metadata if isinstance(each, Bound)), None)
