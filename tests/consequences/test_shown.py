"""Changes as they are shown: in text, in JSON and in the report, few or many."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.extensions.forecast.change import Action, Change, Consequence, Effect, Field, Place
from trainyard.extensions.review.consequences.shown import text, values
from trainyard.extensions.review.report.markdown import lines
from trainyard.extensions.review.report.merge import of
from trainyard.language.diagnostics.render.text import painter
from trainyard.output.fields import ABSENT

AT = Place("specs/lab.yaml", 7, 3)
COST = Effect(Consequence.COST, "it costs more", "docs")
HARMLESS = Effect(Consequence.HARMLESS, "nothing happens")


def field(path: str, before: Any = 1, after: Any = 2, at: Place | None = AT) -> Field:
    return Field(path=path, before=before, after=after, at=at)


def change(
    *fields: Field, effect: Effect = COST, name: str = "NodePool/gpu", at: Place | None = AT
) -> Change:
    return Change(
        action=Action.CHANGED,
        effect=effect,
        object=name,
        kind="NodePool",
        file="platform/nodepool-gpu.yaml",
        at=at,
        fields=fields,
    )


def shown(*changes: Change, whole: bool = False) -> list[str]:
    return [line.strip() for line in text(changes, painter(color=False), whole=whole)]


def in_report(*changes: Change) -> str:
    return "\n".join(lines(of(changes)))


@pytest.mark.parametrize(
    ("count", "whole", "left"), [(6, False, 0), (7, False, 1), (9, False, 3), (9, True, 0)]
)
def test_of_many_fields_the_first_are_shown(count: int, whole: bool, left: int) -> None:
    found = shown(change(*(field(f"a{number}") for number in range(count))), whole=whole)
    named = [line for line in found if line.startswith("a")]
    assert len([line for line in named if " → " in line]) == count - left
    words = {0: [], 1: ["and 1 more field"], 3: ["and 3 more fields"]}[left]
    assert [line for line in named if line.startswith("and ")] == words


def test_a_place_that_is_not_known_is_left_out() -> None:
    known, unknown = field("a"), field("b", ABSENT, "x", at=None)
    found = shown(change(known, unknown))
    assert "a: 1 → 2  [specs/lab.yaml:7]" in found
    assert 'b: none → "x"' in found
    assert "~ NodePool/gpu  platform/nodepool-gpu.yaml" in shown(change(at=None))
    (row,) = values([change(known, unknown, at=None)])
    assert row["at"] is None
    assert [each["at"] for each in row["fields"]] == [
        {"file": "specs/lab.yaml", "line": 7, "column": 3, "revision": "working tree"},
        None,
    ]
    assert "before" not in row["fields"][1]


@pytest.mark.parametrize(
    ("count", "folded", "more"),
    [
        (8, "", ""),
        (9, "1 more change", ""),
        (48, "40 more changes", ""),
        (51, "43 more changes", "3"),
    ],
)
def test_of_many_changes_the_report_folds_the_rest_away(count: int, folded: str, more: str) -> None:
    text = in_report(*(change(name=f"NodePool/p{number:02}") for number in range(count)))
    opened, _, rest = text.partition("<details>")
    assert opened.count("`NodePool/p") == min(count, 8)
    assert rest.count("`NodePool/p") == min(max(count - 8, 0), 40)
    assert (f"<summary>{folded}</summary>" in text) is bool(folded)
    assert (f"- and {more} more: `trainyard plan` lists them" in text) is bool(more)


def test_what_is_harmless_is_counted_alone() -> None:
    text = in_report(change(effect=HARMLESS))
    assert "| harmless | 1 |" in text
    assert "NodePool" not in text
    assert in_report() == ""
