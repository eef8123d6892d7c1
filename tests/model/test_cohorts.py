"""Cohorts in cohorts: each has one topmost one, however they are nested."""

from __future__ import annotations

import pytest
from trainyard.core.queues.plan import FlavorQuotas, Quota, ResourceGroup
from trainyard.eks.kueue.plan import ClusterQueue, Cohort
from trainyard.judge.model.cohorts import Cohorts
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan import Plan


def cohorts(**parents: str | None) -> Cohorts:
    nodes = [Cohort(name=name, parent=parent) for name, parent in parents.items()]
    return Cohorts(Plan(tuple(nodes), closed=False))


@pytest.mark.parametrize(
    ("cohort", "root"),
    [
        ("team", "org"),
        ("dept", "org"),
        ("org", "org"),
        ("elsewhere", "elsewhere"),
        ("lost", "gone"),
        (None, None),
    ],
)
def test_the_topmost_cohort(cohort: str | None, root: str | None) -> None:
    assert cohorts(team="dept", dept="org", org=None, lost="gone").root(cohort) == root


def test_a_cycle_ends() -> None:
    looped = cohorts(a="b", b="a", c="a")
    assert looped.root("a") == "a"
    assert looped.root("c") == "a"


HERE = Route(("here",))
QUOTA = Quota(resource="nvidia.com/gpu", nominal=Quantity.of(8))
FLAVOR = FlavorQuotas(at=HERE, flavor="gpu", quotas=(QUOTA,))
GROUPS = (ResourceGroup(at=HERE, covered=("nvidia.com/gpu",), flavors=(FLAVOR,)),)


@pytest.mark.parametrize(
    ("resource", "parent", "most"),
    [("nvidia.com/gpu", "org", 16), ("nvidia.com/gpu", "elsewhere", 8), ("cpu", "org", None)],
)
def test_a_queue_borrows_of_its_own_tree(resource: str, parent: str, most: int | None) -> None:
    """What another cohort has is none of its own; of what the queue does not cover it gets nothing."""
    queue = ClusterQueue(name="research", cohort="team", groups=GROUPS)
    cohorts = [
        Cohort(name="team", parent="org"),
        Cohort(name="org", parent=None),
        Cohort(name="shared", parent=parent, groups=GROUPS),
    ]
    known = Cohorts(Plan((queue, *cohorts), closed=True))
    found = known.borrowable(queue, "gpu", resource)
    assert found == (None if most is None else Quantity.of(most))
