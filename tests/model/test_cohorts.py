"""Cohorts in cohorts: each has one topmost one, however they are nested."""

from __future__ import annotations

import pytest

from compiler.model.cohorts import Cohorts
from compiler.plan import Plan
from compiler.platforms.eks.kueue.plan import Cohort


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
