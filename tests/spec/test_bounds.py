"""Every value of the spec says in its field what it may be, where that is known from, and what refuses the rest."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import BaseModel
from trainyard.language.diagnostics.pages import load_pages
from trainyard.run.language.reference import Key, all_keys, keys
from trainyard.run.language.whole import language
from trainyard.run.platforms import PLATFORMS

from tests.policy.harness import builtin_rules

pytestmark = pytest.mark.slow

CODES = {*load_pages(), *(each.code for each in builtin_rules())}
VALUES = [key for key in all_keys() if key.model is None]


@pytest.mark.parametrize("key", VALUES, ids=lambda key: key.path)
def test_a_value_has_a_bound_and_a_source(key: Key) -> None:
    assert key.bound is not None
    assert key.bound.text
    assert key.bound.source
    assert key.holders, "nothing refuses another value"
    assert set(key.bound.codes) <= CODES


def below(model: type[BaseModel], above: str = "") -> Iterator[Key]:
    for key in keys(model, above):
        yield key
        if key.model is not None:
            yield from below(key.model, key.inside)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_key_that_platforms_have_each_has_them_on_each(platform: str) -> None:
    """`monitoring.interval` is a field of EKS, and another of ParallelCluster."""
    own = [key for key in below(language(PLATFORMS[platform])) if key.model is None]
    assert [key.path for key in own if key.bound is None or not key.bound.source] == []


def test_a_mapping_has_none() -> None:
    """What bounds it are its keys."""
    assert [key.path for key in all_keys() if key.model is not None and key.bound is not None] == []


def test_what_refuses_a_value_is_named() -> None:
    """A type with a check of its own, a choice or a number of the model, a list without doubles, a code."""
    holders = {key.path: key.holders for key in VALUES}
    assert holders["spec.region"][0] == "Region"
    assert "RES003" in holders["spec.region"]
    assert holders["spec.network.create.nat"] == ["model"]
    assert holders["spec.nodePools[].zones"][:2] == ["Zone", "Distinct"]
    assert "model" in holders["spec.nodePools[].nodes.max"]
