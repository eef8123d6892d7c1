"""Every key of the language has a sentence and an example, for the pages, for editors and for `explain --spec`."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from pydantic import BaseModel, create_model
from trainyard.extensions.authoring.schema import schema
from trainyard.language.models.base import SpecModel
from trainyard.language.models.flow import flow
from trainyard.language.places import SourceFile
from trainyard.language.source.parse import parse
from trainyard.language.units import Duration
from trainyard.run.language.reference import Key, all_keys, models

pytestmark = pytest.mark.slow

KEYS = all_keys()
LONGEST = 160
RIDDLES = re.compile(r"\b(told|tells|mended|strangers?|folk|whilst|anew what)\b")


def sentence(text: str) -> bool:
    """One sentence in plain words: a capital first, a full stop last, and none between."""
    return re.fullmatch(r"[A-Z].*[^.]\.", text) is not None and ". " not in text


def test_the_keys_are_those_of_the_models() -> None:
    paths = [key.path for key in KEYS]
    assert len(paths) == len(set(paths))
    assert {
        "spec.jobs[].checkpoint.every",
        "spec.nodePools[].capacity[].reserved.reservations[].id",
        "metadata.name",
    } <= {*paths}
    assert {id(field) for model in models() for field in model.model_fields.values()} == {
        id(key.field) for key in KEYS
    }


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_a_key_has_a_sentence(key: Key) -> None:
    assert sentence(key.description)
    assert len(key.description) <= LONGEST
    assert not RIDDLES.search(key.description)
    assert key.description.count("`") % 2 == 0


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_an_example_is_a_value_of_its_key(key: Key) -> None:
    """As it is shown, read as specs are, by a model that has this key alone."""
    document, faults = parse(SourceFile("example.yaml", f"value: {key.example}\n"))
    assert not faults
    value = document[0].root.to_python()["value"]
    assert value == key.field.examples[0]
    only: type[BaseModel] = create_model(
        "Only", __base__=SpecModel, value=(key.field.annotation, key.field)
    )
    (field,) = only.model_fields.values()
    assert field.metadata == key.field.metadata
    only.model_validate({field.alias or "value": value})


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.path)
def test_a_default_is_said(key: Key) -> None:
    """What is written in `unless given` is what the model has."""
    if key.field.is_required():
        assert key.default == "required"
    elif key.default and key.default != "derived":
        shown = yaml.safe_load(key.default)
        default = key.field.get_default(call_default_factory=True, validated_data={})
        if isinstance(default, list):
            default = [
                item.model_dump(by_alias=True, exclude_none=True)
                if isinstance(item, BaseModel)
                else item
                for item in default
            ]
        if isinstance(default, BaseModel):
            values = default.model_dump(by_alias=True, exclude_none=True)
            assert shown.items() <= values.items()
        elif isinstance(default, Duration):
            assert shown == str(default)
        else:
            assert shown == default


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_a_model_has_a_text(model: type[BaseModel]) -> None:
    """It heads the model's table."""
    for part in inspect.cleandoc(model.__doc__ or "").split("\n\n"):
        assert re.fullmatch(r"[A-Z`].*\.", part, re.DOTALL)
        assert not RIDDLES.search(part)


def properties(part: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every property of a JSON Schema, at any depth."""
    if isinstance(part, list):
        for index, each in enumerate(part):
            yield from properties(each, f"{path}/{index}")
    if not isinstance(part, dict):
        return
    for key, value in part.items():
        if key == "properties":
            yield from ((f"{path}/{name}", each) for name, each in value.items() if each)
        if key not in ("examples", "default"):
            yield from properties(value, f"{path}/{key}")


def test_editors_show_a_sentence_and_an_example() -> None:
    """Each property of the schema has both, or leads to one that has, and its examples are valid by it."""
    whole = schema()
    found = dict(properties(whole))
    assert found
    for path, part in found.items():
        if re.search("/(if|then|else)/", path):
            continue  # one of two, each with its own text, or what is asked of a key that has its text elsewhere
        if part.keys() == {"$ref"}:
            model, _, name = part["$ref"].removeprefix("#").partition("/properties/")
            assert f"{model}/{name}" in found, path
            continue
        assert sentence(part["description"]), path
        checker = Draft202012Validator({"$defs": whole["$defs"], **part})
        assert [
            each.message for example in part["examples"] for each in checker.iter_errors(example)
        ] == [], path


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("111122223333", '"111122223333"'),
        ("1.35", '"1.35"'),
        ("no", '"no"'),
        ("30m", "30m"),
        (8.03e9, "8.03e+9"),
        (True, "true"),
        (90, "90"),
        (["a", {"b": 1}], "[a, {b: 1}]"),
        ("it's", "it's"),
        ("2.3.0", "2.3.0"),
    ],
)
def test_values_on_one_line(value: Any, text: str) -> None:
    assert flow(value) == text
    assert yaml.safe_load(flow(value)) == value
