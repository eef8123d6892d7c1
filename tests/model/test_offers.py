"""Whether a pool's nodes have accelerators, from what its requirements say."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.catalog import load_catalog
from trainyard.eks.nodes.plan import NodeGroup, NodePool
from trainyard.judge.model.offers import (
    ACCELERATED,
    accelerated,
    admits,
    as_pool,
    has_label,
    place,
    types_of,
    without_accelerators,
)
from trainyard.language.places import Route
from trainyard.plan.scheduling import Requirement

CATEGORY = "karpenter.k8s.aws/instance-category"
GPUS = "karpenter.k8s.aws/instance-gpu-count"


def pool(key: str, *values: str, operator: Any = "In") -> NodePool:
    return NodePool(
        name="pool", node_class="pool", requirements=(Requirement(key, operator, values),)
    )


@pytest.mark.parametrize(
    ("categories", "every", "none"),
    [
        (("p",), True, False),
        (tuple(sorted(ACCELERATED)), True, False),
        (("p", "m"), False, False),
        (("m", "c"), False, True),
    ],
)
def test_categories_say_which_nodes_have_accelerators(
    categories: tuple[str, ...], every: bool, none: bool
) -> None:
    said = pool(CATEGORY, *categories)
    assert accelerated(said, ()) is every
    assert without_accelerators(said) is none


def test_a_requirement_of_accelerators_says_that_they_are_there() -> None:
    assert accelerated(pool(GPUS, "0", operator="Gt"), ())
    assert accelerated(pool(GPUS, operator="Exists"), ())
    assert not accelerated(pool(GPUS, operator="DoesNotExist"), ())
    assert not accelerated(pool("kubernetes.io/arch", "amd64"), ())


def test_types_are_stronger_than_requirements() -> None:
    catalog = load_catalog()
    gpus, plain = catalog.instance("p5.48xlarge"), catalog.instance("c7i.xlarge")
    assert gpus is not None
    assert plain is not None
    said = pool(CATEGORY, "m")
    assert accelerated(said, (gpus,))
    assert not accelerated(said, (gpus, plain))


@pytest.mark.parametrize(
    ("operator", "values", "value", "admitted"),
    [
        ("In", ("a", "b"), "b", True),
        ("In", ("a",), "b", False),
        ("In", ("${TEAM}",), "b", True),
        ("In", ("a",), None, False),
        ("NotIn", ("a",), "b", True),
        ("NotIn", ("a",), "a", False),
        ("NotIn", ("a",), None, True),
        ("Exists", (), "a", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), "a", False),
        ("DoesNotExist", (), None, True),
        ("Gt", ("4",), "8", True),
        ("Gt", ("8",), "8", False),
        ("Gte", ("8",), "8", True),
        ("Lt", ("8",), "4", True),
        ("Lte", ("4",), "8", False),
        ("Gt", ("4",), None, False),
        ("Gt", (), "1", True),
        ("Gt", ("${LEAST}",), "1", True),
        ("Gt", ("4",), "many", True),
        ("Near", ("a",), "b", True),
    ],
)
def test_what_a_requirement_admits(
    operator: Any, values: tuple[str, ...], value: str | None, admitted: bool
) -> None:
    """What is filled in later, and an operator that nobody knows, keeps nothing out."""
    assert admits(Requirement("team", operator, values), value) is admitted


TYPE = "node.kubernetes.io/instance-type"


@pytest.mark.parametrize(
    ("labels", "requirements", "label", "has"),
    [
        ({"team": "a"}, (), ("team", "a"), True),
        ({"team": "a"}, (), ("team", "b"), False),
        ({"team": "${TEAM}"}, (), ("team", "b"), None),
        ({"team": "a"}, (), ("team", "${TEAM}"), None),
        ({}, (("team", "In", ("a",)),), ("team", "a"), True),
        ({}, (("team", "In", ("a",)),), ("team", "b"), False),
        ({}, (("team", "In", ("a",)),), ("team", "${TEAM}"), None),
        ({}, (("team", "Exists", ()),), ("team", "b"), None),
        ({}, (), ("team", "b"), False),
        ({}, (), ("topology.kubernetes.io/region", "us-west-2"), None),
        ({}, (), (TYPE, "p5.48xlarge"), True),
        ({}, (), (TYPE, "p4d.24xlarge"), False),
        ({}, (), (TYPE, "${TYPE}"), None),
    ],
)
def test_whether_nodes_have_a_label(
    labels: dict[str, str],
    requirements: tuple[tuple[str, Any, tuple[str, ...]], ...],
    label: tuple[str, str],
    has: bool | None,
) -> None:
    """``None`` where that is up to what is filled in, or to others."""
    p5 = load_catalog().instance("p5.48xlarge")
    assert p5 is not None
    said = NodePool(
        name="pool",
        node_class="pool",
        labels=labels,
        requirements=tuple(Requirement(*each) for each in requirements),
    )
    assert has_label(said, (p5,), *label) is has


def test_where_a_pool_requires_a_value() -> None:
    """At the value, or at the pool where no list has it."""
    at = Route(("pool",))
    said = NodePool(
        at=at,
        name="pool",
        node_class="pool",
        requirements=(Requirement("team", "NotIn", ("c",)), Requirement("team", "In", ("a", "b"))),
        origins={"requirements": at / "requirements"},
    )
    assert place(said, "team", "b") == at / "requirements" / 1 / "values" / 1
    assert place(said, "team", "c") == said.where("labels")
    assert place(said, "other", "a") == said.where("labels")


@pytest.mark.parametrize(
    ("key", "values", "names"),
    [
        ("gpu-name", ("a100",), {"p4d.24xlarge", "p4de.24xlarge"}),
        ("gpu-name", ("a100", "r100"), set()),
        ("family", ("p4d",), {"p4d.24xlarge"}),
        ("family", ("p4d", "m7i"), set()),
        (
            "family",
            ("p4d", "hpc7a"),
            {"p4d.24xlarge", *(f"hpc7a.{n}xlarge" for n in (12, 24, 48, 96))},
        ),
    ],
)
def test_types_are_named_where_all_are_known(
    key: str, values: tuple[str, ...], names: set[str]
) -> None:
    """Of a general family the catalog has a few, and of a GPU that it does not have none."""
    said = pool(f"karpenter.k8s.aws/instance-{key}", *values)
    assert {instance.name for instance in types_of(said, load_catalog())} == names


@pytest.mark.parametrize("types", [("p5.48xlarge",), ()])
def test_a_node_group_has_the_types_that_it_says(types: tuple[str, ...]) -> None:
    """One with a launch template may say none."""
    group = NodeGroup(name="gpu", at=Route(("group",)), instance_types=types)
    said = [each for each in as_pool(group).requirements if each.key == TYPE]
    assert [each.values for each in said] == ([types] if types else [])
