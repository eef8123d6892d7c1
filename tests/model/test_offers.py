"""Whether a pool's nodes have accelerators, from what its requirements say."""

from __future__ import annotations

from typing import Any

import pytest

from compiler.catalog import load_catalog
from compiler.model.offers import ACCELERATED, accelerated, without_accelerators
from compiler.plan.scheduling import Requirement
from compiler.platforms.eks.nodes.plan import NodePool

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
