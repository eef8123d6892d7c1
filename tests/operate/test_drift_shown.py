"""A comparison as text: how many objects differ, are missing or are too many, each in words of its number."""

from __future__ import annotations

import pytest
from trainyard.extensions.operate.drift import Comparison, Difference, Drift
from trainyard.extensions.operate.drift_shown import _LONGEST, text
from trainyard.output.fields import ABSENT
from trainyard.output.manifest import ObjectRef

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


@pytest.mark.parametrize(
    ("drift", "lines"),
    [
        (EXTRA, ["ConfigMap/a/settings: not in git, and Kustomization jobs owns it"]),
        (MISSING, ["ConfigMap/a/settings: missing in the cluster (a.yaml)"]),
        (
            Drift(ref=REF, file="a.yaml", refused="denied by a webhook"),
            [
                "ConfigMap/a/settings: the cluster refuses what is in git (a.yaml)",
                "  denied by a webhook",
            ],
        ),
        (
            Drift(
                ref=REF,
                file="a.yaml",
                fields=(
                    Difference("data.a", "1", ABSENT, ()),
                    Difference("data.b", ABSENT, "é", ("kubectl", "argo")),
                    Difference("data.c", "x" * 200, 2, ()),
                ),
            ),
            [
                "ConfigMap/a/settings (a.yaml)",
                '  data.a: git "1", cluster has none',
                '  data.b: git has none, cluster "é" (kubectl, argo)',
                f'  data.c: git "{"x" * (_LONGEST - 2)}…, cluster 2',
            ],
        ),
    ],
)
def test_what_is_said_of_an_object(drift: Drift, lines: list[str]) -> None:
    found = Comparison(
        cluster="lab",
        context="lab",
        proven=True,
        same=0,
        drifted=(drift,),
        skipped=(),
        suspended=(),
    )
    assert text(found).splitlines()[1:] == [f"  {line}" for line in lines]
