"""Every value of the spec has a row in docs/bounds.md: its bound, where that is known from, and what holds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pytest
from builders import ROOT
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from trainyard.language.diagnostics.pages import load_pages
from trainyard.language.models import aws, types
from trainyard.language.models.models import inner_model
from trainyard.run.language.whole import language
from trainyard.run.platforms import PLATFORMS

from tests.policy.harness import builtin_rules

pytestmark = pytest.mark.slow

CODES = {*load_pages(), *(each.code for each in builtin_rules())}

TYPES = {**vars(types), **vars(aws)}


def rows() -> dict[str, list[str]]:
    """The cells of each row, by key."""
    lines = (ROOT / "docs" / "bounds.md").read_text(encoding="utf-8").splitlines()
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in lines
        if line.startswith("| `")
    ]
    found = {each[0].strip("`"): each[1:] for each in cells}
    assert len(found) == len(cells), "a key has two rows"
    return found


def leaves(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, FieldInfo, Any]]:
    """Each value of the language by its key, with its field and the type that it was declared with."""
    hints = get_type_hints(model, include_extras=True)
    for name, field in model.model_fields.items():
        key, part = f"{above}{field.alias or name}", inner_model(field.annotation)
        if part is None:
            yield key, field, hints[name]
        else:
            origin = get_origin(field.annotation)
            inside = {list: "[]", dict: ".NAME"}.get(origin, "")
            yield from leaves(part, f"{key}{inside}.")


LEAVES = {
    key: (field, declared)
    for platform in PLATFORMS.values()
    for key, field, declared in leaves(language(platform))
}
ROWS = rows()


def within(declared: Any) -> Iterator[Any]:
    """A type and all that it is made of."""
    yield declared
    for each in get_args(declared):
        yield from within(each)


def bounded(field: FieldInfo, declared: Any) -> bool:
    """Whether a model itself bounds a value: by a choice, a number, or a length."""
    choices = any(get_origin(each) is Literal or each is bool for each in within(declared))
    return choices or any(
        hasattr(each, name)
        for each in field.metadata
        for name in ("ge", "le", "min_length", "max_length")
    )


def test_every_value_has_a_row_and_every_row_a_value() -> None:
    assert set(ROWS) == set(LEAVES)


@pytest.mark.parametrize("key", LEAVES)
def test_a_row_says_bound_source_and_what_holds_it(key: str) -> None:
    bound, source, holders = ROWS[key]
    assert bound
    assert source
    field, declared = LEAVES[key]
    parts = list(within(declared))
    for holder in holders.split(", "):
        if holder in CODES:
            continue
        if holder == "model":
            assert bounded(field, declared), f"nothing in the model bounds {key}"
        elif holder == "Distinct":
            assert any(types.Distinct in getattr(each, "__metadata__", ()) for each in parts), key
        else:
            assert TYPES[holder] in parts, f"{key} is not of type {holder}"


@pytest.mark.parametrize("key", LEAVES)
def test_whoever_checks_a_value_stands_in_its_row(key: str) -> None:
    """A type of its own, a choice or a number is named."""
    field, declared = LEAVES[key]
    named = {
        name
        for name, each in TYPES.items()
        if get_origin(each) is Annotated and each in within(declared)
    }
    holders = set(ROWS[key][2].split(", "))
    assert named & holders or not named
    assert "model" in holders or not bounded(field, declared)
