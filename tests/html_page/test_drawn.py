"""What the page draws: texts as spans, nodes as squares, numbers as bars."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from trainyard.extensions.forecast.blocks import Explained, Strong, Text, code_text
from trainyard.extensions.forecast.costs import Item
from trainyard.extensions.review.html.bars import cost_of_items, quotas
from trainyard.extensions.review.html.page import Span, spans
from trainyard.extensions.review.html.topology import COLUMNS, MOST, squares
from trainyard.extensions.review.report.queues import Share

STYLE = (
    Path(__file__).parents[2]
    / "compiler"
    / "trainyard"
    / "extensions"
    / "review"
    / "html"
    / "templates"
    / "style.css"
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", []),
        ("plain", [("", "plain")]),
        ("pool `h100` waits", [("", "pool "), ("code", "h100"), ("", " waits")]),
        ("one ` alone", [("", "one "), ("", "`"), ("", " alone")]),
        ("`` a`b ``.", [("code", "a`b"), ("", ".")]),
        ("`a``b`", [("code", "a``b")]),
        ((Strong("no"), ", `x`"), [("strong", "no"), ("", ", "), ("code", "x")]),
        (Explained("`1`", "why"), [("code", "1")]),
        ("**<b>**", [("", "**<b>**")]),
    ],
)
def test_code_is_between_backticks_and_nothing_else_is_a_mark(
    text: Text, shown: list[tuple[str, str]]
) -> None:
    assert list(spans(text)) == [Span(*each) for each in shown]


@pytest.mark.parametrize("value", ["a", "a`b", "`a", "a`", "a`b`c"])
def test_what_sections_write_as_code_is_read_as_it_was(value: str) -> None:
    assert [span.text for span in spans(code_text(value))] == [value]


def test_a_square_is_a_node() -> None:
    drawn = squares([(3, "a"), (1, "b")], 6)
    counts = {path.kind: path.outline.count("M") for path in drawn.paths}
    assert (counts, drawn.each) == ({"a": 3, "b": 1, "free": 2}, 1)
    places = re.findall(r"M(\d+) (\d+)", "".join(path.outline for path in drawn.paths))
    assert len(set(places)) == 6


def test_a_large_pool_has_no_more_squares_than_can_be_seen() -> None:
    drawn = squares([(900, "a")], 1000)
    count = sum(path.outline.count("M") for path in drawn.paths)
    assert count <= MOST
    assert count * drawn.each >= 1000
    assert drawn.width < COLUMNS * 11


def test_jobs_on_more_nodes_than_the_pool_has_are_all_drawn() -> None:
    drawn = squares([(5, "a")], 2)
    assert [path.kind for path in drawn.paths] == ["a"]


def share(quota: int, borrows: int, asked: int) -> Share:
    class Job:
        whole_nodes = asked
        source_name = "train"

    return Share("team", "gpu", quota, borrows, "", (Job(),))  # type: ignore[arg-type]


def test_the_parts_of_a_quota_are_what_is_asked_borrowed_and_waits() -> None:
    (bar,) = quotas([share(4, 2, 8)]).bars
    assert [(part.kind, part.start, part.length) for part in bar.parts] == [
        ("asked", 0, 50),
        ("borrowed", 50, 25),
        ("waiting", 75, 25),
    ]
    assert bar.words == "8 of 4 nodes, may borrow 2: the largest job never starts"


def test_a_quota_that_nobody_asks_for_is_shown_as_unused() -> None:
    chart = quotas([share(4, 2, 1)])
    assert [part.kind for part in chart.bars[0].parts] == ["asked", "unused", "lendable"]
    assert [kind for kind, _ in chart.legend] == ["asked", "unused", "lendable"]


def test_costs_are_drawn_to_one_scale_and_what_has_no_price_is_not() -> None:
    items = [
        Item(name="small", what="", least=1, most=1, usd=1.0, how=""),
        Item(name="unknown", what="", least=1, most=1, usd=None, how=""),
        Item(name="large", what="", least=2, most=4, usd=1.0, how=""),
    ]
    bars = cost_of_items(items, "us-east-1").bars
    assert [bar.name for bar in bars] == ["large", "small"]
    assert [part.length for bar in bars for part in bar.parts] == [50, 50, 25]
    assert bars[0].words == "$2.00 always, $4.00 at most"


def colors(style: str) -> list[dict[str, str]]:
    """The variables of both schemes; the dark one has those that it does not name from the light one."""
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    first = dict(re.findall(r"--(\w+): (#\w{6})", light))
    return [first, first | dict(re.findall(r"--(\w+): (#\w{6})", dark))]


def luminance(color: str) -> float:
    """WCAG 2.2, relative luminance."""
    channels = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    red, green, blue = linear
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.2, contrast ratio."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_texts_and_drawings_stand_out_in_both_schemes() -> None:
    """WCAG 2.2 AA: 4.5 for text (1.4.3), 3 for what is drawn (1.4.11)."""
    for scheme in colors(STYLE.read_text()):
        for ground in ("back", "box"):
            for name in ("text", "soft", "link", "good", "bad"):
                assert contrast(scheme[name], scheme[ground]) >= 4.5, (name, ground)
            for name in ("line", *(f"c{number}" for number in range(8))):
                assert contrast(scheme[name], scheme[ground]) >= 3, (name, ground)
