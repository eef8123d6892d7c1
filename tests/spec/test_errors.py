"""Finding the model behind a route, and what is said of errors that have no words of their own."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, ValidationError

from compiler.core.jobs.spec import Job, Mount
from compiler.core.network.forms.existing import ExistingNetwork
from compiler.core.pools.spec import NodePool
from compiler.language.whole import language
from compiler.places import Route
from compiler.spec.errors import explain, keys_of, model_at


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


def test_an_error_without_words_of_its_own_is_still_reported() -> None:
    class Odd(BaseModel):
        host: bytes

    with pytest.raises(ValidationError) as caught:
        Odd.model_validate({"host": 1})
    found = explain(caught.value.errors()[0], Odd, {"host": 1})
    assert (found.code, str(found.at)) == ("SPC005", "host")
    assert found.message.startswith("`host`: ")
    assert "trainyard schema" in found.help
