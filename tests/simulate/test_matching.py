"""Which nodes a node affinity lets a pod on (core/v1, NodeSelectorRequirement)."""

from __future__ import annotations

import pytest
from trainyard.extensions.forecast.simulate.objects import Placement
from trainyard.extensions.forecast.simulate.reasons import anywhere
from trainyard.extensions.forecast.simulate.topology import matches, selects, untolerated

from simulate.worlds import LEVEL, job

LABELS = {"gpus": "8", "zone": "a"}


@pytest.mark.parametrize(
    ("key", "operator", "values", "holds"),
    [
        ("gpus", "Lt", ["9"], True),
        ("gpus", "Lt", ["8"], False),
        ("gpus", "Gt", ["7"], True),
        ("gpus", "Gt", ["8"], False),
        ("gpus", "Gt", ["7", "6"], False),
        ("zone", "Gt", ["7"], False),
        ("cpus", "Lt", ["9"], False),
        ("zone", "In", ["a", "b"], True),
        ("zone", "NotIn", ["a"], False),
        ("rack", "NotIn", ["a"], True),
        ("rack", "Exists", [], False),
        ("rack", "DoesNotExist", [], True),
        ("zone", "Like", ["a"], False),
    ],
)
def test_an_expression_holds(key: str, operator: str, values: list[str], holds: bool) -> None:
    expression = {"key": key, "operator": operator, "values": values}
    assert matches(LABELS, {}, ((expression,),)) is holds


@pytest.mark.parametrize(
    ("toleration", "tolerates"),
    [
        ({"key": "team", "value": "a", "effect": "NoSchedule"}, True),
        ({"key": "team", "value": "a"}, True),
        ({"key": "team", "value": "a", "effect": "NoExecute"}, False),
        ({"key": "team", "value": "b"}, False),
        ({"key": "team"}, False),
        ({"key": "other", "value": "a"}, False),
        ({"key": "team", "operator": "Exists", "effect": "NoSchedule"}, True),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"value": "a"}, False),
    ],
)
def test_a_toleration_of_a_taint(toleration: dict[str, str], tolerates: bool) -> None:
    """core/v1, Toleration: without an effect of each, without a key of each if its operator is Exists."""
    taint = {"key": "team", "value": "a", "effect": "NoSchedule"}
    soft = {"key": "soft", "effect": "PreferNoSchedule"}
    assert untolerated([soft, taint], [toleration]) == (None if tolerates else taint)


@pytest.mark.parametrize(
    ("selector", "selected"),
    [
        (None, False),
        ({}, True),
        ({"matchLabels": {"zone": "a"}}, True),
        ({"matchLabels": {"zone": "b"}}, False),
        ({"matchExpressions": [{"key": "rack", "operator": "Exists"}]}, False),
    ],
)
def test_a_selector_of_labels(selector: dict[str, object] | None, selected: bool) -> None:
    assert selects(LABELS, selector) is selected


def test_a_level_that_is_required_becomes_one_that_is_preferred() -> None:
    near = job("near", "q", 2, mode="required")
    assert [each.placement for each in anywhere(near, "preferred").pod_sets] == [
        Placement("preferred", LEVEL)
    ]
    assert [each.placement for each in anywhere(near).pod_sets] == [
        Placement("unconstrained", None)
    ]
