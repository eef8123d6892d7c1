"""Finding the model behind a route, and what is said of errors that have no words of their own."""

from __future__ import annotations

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import pytest
from pydantic import BaseModel, BeforeValidator, Discriminator, ValidationError
from trainyard.core.jobs.spec import Job, Mount
from trainyard.core.network.spec import ExistingNetwork
from trainyard.core.pools.spec import NodePool
from trainyard.language.models.errors import explain
from trainyard.language.models.models import inner_model, keys_of, model_at
from trainyard.language.places import Route
from trainyard.plan.features import Platform
from trainyard.run.language.whole import language
from trainyard.run.platforms import PLATFORMS


@pytest.mark.parametrize(
    ("route", "model"),
    [
        ((), language()),
        (("spec",), language().model_fields["spec"].annotation),
        (("spec", "nodePools", 3), NodePool),
        (("spec", "jobs", 0, "mounts", 1), Mount),
        (("spec", "network", "existing"), ExistingNetwork),
        (("spec", "tags"), None),
        (("spec", "nope"), None),
        (("spec", "nope", "deeper"), None),
    ],
)
def test_the_model_of_a_route(route: tuple[str | int, ...], model: type[BaseModel] | None) -> None:
    assert model_at(language(), Route(route)) is model


def test_keys_are_those_that_people_write() -> None:
    assert {"processesPerNode", "sharedMemory", "image"} <= set(keys_of(Job))


def _choices(annotation: Any) -> Iterator[Any]:
    """Unions of several types in an annotation that nothing chooses from before they are tried one after another."""
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        if not any(isinstance(each, Discriminator | BeforeValidator) for each in members[1:]):
            yield from _choices(members[0])
        return
    if origin in (Union, UnionType) and len(set(members) - {type(None)}) > 1:
        yield annotation
    for member in members:
        yield from _choices(member)


@pytest.mark.parametrize("platform", PLATFORMS.values(), ids=lambda platform: platform.name)
def test_no_value_is_tried_as_one_type_after_another(platform: Platform) -> None:
    """Each of the types would have an error of its own, at a place below the value that the spec does not have."""
    seen: set[type[BaseModel]] = set()
    left: list[type[BaseModel]] = [language(platform)]
    found = []
    while left:
        model = left.pop()
        if model in seen:
            continue
        seen.add(model)
        for name, field in model.model_fields.items():
            annotation = field.rebuild_annotation()
            found += [(model.__name__, name) for _ in _choices(annotation)]
            inner = inner_model(annotation)
            if inner is not None:
                left.append(inner)
    assert found == []
    assert len(seen) > 40


def test_an_error_without_words_of_its_own_is_still_reported() -> None:
    class Odd(BaseModel):
        host: bytes

    with pytest.raises(ValidationError) as caught:
        Odd.model_validate({"host": 1})
    found = explain(caught.value.errors()[0], Odd, {"host": 1}, lambda _: None)
    assert (found.code, str(found.at)) == ("SPC005", "host")
    assert found.message.startswith("`host`: ")
    assert "trainyard schema" in found.help
