"""A comparison as text: how many objects differ, are missing or are too many, each in words of its number."""

from __future__ import annotations

import pytest

from compiler.manifest import ObjectRef
from compiler.operate.drift import Comparison, Difference, Drift
from compiler.operate.drift_shown import text

REF = ObjectRef("v1", "ConfigMap", "a", "settings")
DIFFERS = Drift(ref=REF, file="a.yaml", fields=(Difference("data.a", "1", "2", ()),))
MISSING = Drift(ref=REF, file="a.yaml", exists=False)
EXTRA = Drift(ref=REF, file="", stage="jobs")


@pytest.mark.parametrize(
    ("drifted", "same", "summary"),
    [
        ((), 3, "3 objects in sync"),
        ((DIFFERS,), 1, "1 differs, 1 object in sync"),
        ((DIFFERS, DIFFERS), 2, "2 differ, 2 objects in sync"),
        ((MISSING,), 0, "1 missing in the cluster, 0 objects in sync"),
        (
            (EXTRA, DIFFERS, MISSING),
            5,
            "1 differs, 1 missing in the cluster, 1 not in git, 5 objects in sync",
        ),
    ],
)
def test_the_summary_counts_each_kind_of_difference(
    drifted: tuple[Drift, ...], same: int, summary: str
) -> None:
    found = Comparison(
        cluster="lab",
        context="lab",
        proven=True,
        same=same,
        drifted=drifted,
        skipped=(),
        suspended=(),
    )
    assert text(found).splitlines()[0] == f"lab: {summary} (context lab)"
