"""Output formats: what a person and what a program is shown."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from drawn import examples_of
from hypothesis import given, settings
from hypothesis import strategies as st
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.pages import load_pages, split_pages
from trainyard.language.diagnostics.render import FORMATS, render, sort, summary
from trainyard.language.diagnostics.render.sarif import MAX_RESULTS
from trainyard.language.diagnostics.render.text import WIDTH, columns
from trainyard.language.places import Route, SourceFile, Span
from trainyard.language.source.parse import parse

FILE = SourceFile(
    "specs/prod.yaml", "a: 1\nspec:\n  zones: [us-east-1a, us-east-1b]\n\tb: 一二 x\n"
)
ZONES = Span(FILE, 3, 10, 3, 34)
EFA = Diagnostic(
    "EFA003",
    Severity.ERROR,
    "EFA node group `gpu` spans 2 Availability Zones",
    Route(("spec", "zones")),
    ZONES,
    "EFA traffic cannot cross a zone",
    ("each zone has its own network",),
    "keep one zone",
    related=((Span(FILE, 1, 1, 1, 2), "declared here"),),
    object="NodePool/gpu",
)
BARE = Diagnostic("OUT004", Severity.WARNING, "another run is writing")


def show(format: str, *diagnostics: Diagnostic, color: bool = False) -> str:
    return render(format, diagnostics, tool_version="1.2.3", color=color)


def test_every_module_is_a_format() -> None:
    assert {"github", "json", "junit", "markdown", "sarif", "text"} <= set(FORMATS)
    for format in FORMATS:
        assert "EFA003" in show(format, EFA), format


def test_text_shows_place_caret_related_notes_and_help() -> None:
    assert (
        show("text", EFA, BARE)
        == """\
warning[OUT004]: another run is writing

error[EFA003]: EFA node group `gpu` spans 2 Availability Zones
 --> specs/prod.yaml:3:10
  |
3 |   zones: [us-east-1a, us-east-1b]
  |          ^^^^^^^^^^^^^^^^^^^^^^^^ EFA traffic cannot cross a zone
 ::: specs/prod.yaml:1:1
  |
1 | a: 1
  | - declared here
  = note: in NodePool/gpu
  = note: each zone has its own network
  = help: keep one zone
"""
    )


def test_a_route_stands_in_for_a_place_that_is_not_known() -> None:
    assert " --> NodePool/gpu spec.zones\n" in show("text", replace(EFA, span=None, related=()))


def test_colour_is_only_there_when_asked_for() -> None:
    plain, coloured = show("text", EFA), show("text", EFA, color=True)
    assert "\x1b" not in plain
    assert coloured.startswith("\x1b[1;31merror[EFA003]\x1b[0m")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def _caret(text: str, span: tuple[int, int, int, int]) -> tuple[str, str]:
    shown = show(
        "text", Diagnostic("X001", Severity.ERROR, "m", span=Span(SourceFile("f", text), *span))
    )
    lines = [line.partition("| ")[2] for line in shown.splitlines() if "| " in line]
    return lines[0], lines[1]


@pytest.mark.parametrize(
    ("text", "span", "line", "caret"),
    [
        ("\tb: c", (1, 5, 1, 6), "    b: c", "       ^"),
        ("一二: ab", (1, 5, 1, 7), "一二: ab", "      ^^"),
        ("ab: 一二", (1, 5, 1, 7), "ab: 一二", "    ^^^^"),
        ("e\u0301: x", (1, 5, 1, 6), "e\u0301: x", "   ^"),
        ("a: \u202eb", (1, 5, 1, 6), "a: \ufffdb", "    ^"),
        ("a: \x1b[0m", (1, 4, 1, 5), "a: \ufffd[0m", "   ^"),
        ("a:\u00a0\u3000b", (1, 5, 1, 6), "a:\ufffd\ufffdb", "    ^"),
        ("a:\n  b: 1\n", (1, 1, 2, 7), "a:", "^^"),
        ("a: b", (1, 99, 1, 120), "a: b", "    ^"),
        ("a: b", (1, 3, 1, 3), "a: b", "  ^"),
    ],
)
def test_the_caret_stands_under_the_value(
    text: str, span: tuple[int, int, int, int], line: str, caret: str
) -> None:
    assert _caret(text, span) == (line, caret)


@pytest.mark.parametrize("at", [1, 50, 300, 590, 600])
@pytest.mark.parametrize("filler", ["x", "一"])
def test_a_long_line_is_cut_around_the_caret(at: int, filler: str) -> None:
    text = filler * (at - 1) + "!" + filler * (600 - at)
    line, caret = _caret(text, (1, at, 1, at + 1))
    assert columns(line) <= WIDTH + 6
    place = len(caret) - 1
    before = ""
    while columns(before) < place:
        before = line[: len(before) + 1]
    assert line[len(before)] == "!"


@pytest.mark.parametrize("at", [1, 50, 300])
def test_a_mark_that_is_longer_than_the_excerpt_ends_with_it(at: int) -> None:
    line, caret = _caret("x" * 600, (1, at, 1, at + 250))
    assert len(line.removesuffix("...")) == len(caret)


def test_a_place_on_an_empty_line_or_past_the_end_has_no_excerpt() -> None:
    for line in (2, 9):
        span = Span(SourceFile("f", "a\n\n"), line, 1, line, 1)
        item = Diagnostic("X001", Severity.ERROR, "m", span=span, label="here")
        assert show("text", item) == f"error[X001]: m\n --> f:{line}:1\n  | here\n"


def test_the_order_is_by_place_and_exact_duplicates_go() -> None:
    later = replace(EFA, span=Span(FILE, 3, 12, 3, 13))
    other = replace(EFA, span=Span(SourceFile("a.yaml", "x"), 9, 1, 9, 2))
    assert sort([later, EFA, other, BARE, EFA, replace(EFA, message="a")]) == [
        BARE,
        other,
        EFA,
        replace(EFA, message="a"),
        later,
    ]


def test_the_summary_counts() -> None:
    assert summary([EFA, EFA, BARE]) == "2 errors, 1 warning"
    assert summary([]) == ""


def test_json_has_the_documented_shape() -> None:
    body = json.loads(show("json", EFA, BARE))
    assert body["tool"] == {"name": "trainyard", "version": "1.2.3"}
    assert body["summary"] == {"errors": 1, "warnings": 1, "notes": 0}
    assert body["diagnostics"][1] == {
        "code": "EFA003",
        "severity": "error",
        "message": EFA.message,
        "label": EFA.label,
        "notes": list(EFA.notes),
        "help": EFA.help,
        "route": "spec.zones",
        "object": "NodePool/gpu",
        "place": {
            "file": "specs/prod.yaml",
            "line": 3,
            "column": 10,
            "endLine": 3,
            "endColumn": 34,
        },
        "related": [
            {
                "place": {
                    "file": "specs/prod.yaml",
                    "line": 1,
                    "column": 1,
                    "endLine": 1,
                    "endColumn": 2,
                },
                "label": "declared here",
            }
        ],
    }
    assert body["diagnostics"][0]["place"] is None


@pytest.mark.parametrize(
    ("end", "columns"),
    [((1, 9), "col=4,endColumn=8,"), ((1, 4), "col=4,endColumn=4,"), ((2, 9), "col=4,")],
)
def test_github_marks_columns_within_a_line(end: tuple[int, int], columns: str) -> None:
    """Its last column is part of what is marked; of several lines it has the first column alone."""
    span = Span(SourceFile("a.yaml", "x: abcdef\ny: abcdef\n"), 1, 4, *end)
    said = show("github", replace(EFA, span=span, related=()))
    assert said.startswith(f"::error file=a.yaml,line=1,endLine={end[0]},{columns}title=")


def test_github_commands_are_escaped() -> None:
    span = Span(SourceFile("a,b:c.yaml", "x: y"), 1, 4, 1, 5)
    item = replace(EFA, message="50% of\n::error::x", span=span, related=())
    assert show("github", item) == (
        "::error file=a%2Cb%3Ac.yaml,line=1,endLine=1,col=4,endColumn=4,title=EFA003::50%25 of%0A::error::x%0A"
        "EFA traffic cannot cross a zone%0Ain NodePool/gpu%0Anote: each zone has its own network%0A"
        "help: keep one zone\n"
    )
    assert show("github", BARE) == "::warning title=OUT004::another run is writing\n"


def test_junit_counts_errors_as_failures() -> None:
    suites = ET.fromstring(show("junit", EFA, BARE, replace(EFA, message="a<b>&\"'\x00]]>")))
    suite = suites[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "2")
    cases = suite.findall("testcase")
    assert [case.get("classname") for case in cases] == ["OUT004", "EFA003", "EFA003"]
    failures = [case.find("failure") for case in cases]
    assert failures[0] is None
    messages = {failure.get("message") for failure in failures if failure is not None}
    assert messages == {EFA.message, "a<b>&\"'\ufffd]]>"}
    assert ET.fromstring(show("junit"))[0].get("failures") == "0"


def test_markdown_stays_in_its_cells() -> None:
    item = replace(EFA, message="a | <b> @team\nnext", help="")
    row = show("markdown", item).splitlines()[-1]
    assert row == (
        "| ❌ | EFA003 | `specs/prod.yaml:3:10` | "
        "a \\| &lt;b&gt; &#64;team<br>next<br>EFA traffic cannot cross a zone |  |"
    )
    assert show("markdown") == "**Trainyard**: no findings\n"
    many = [replace(EFA, message=str(n)) for n in range(300)]
    assert show("markdown", *many).endswith("\n100 more not shown\n")


def _sarif(*diagnostics: Diagnostic) -> dict[str, Any]:
    run: dict[str, Any] = json.loads(show("sarif", *diagnostics))["runs"][0]
    return run


def test_sarif_has_rules_with_help_and_regions() -> None:
    run = _sarif(EFA, BARE)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["EFA003", "OUT004"]
    assert rules[1]["name"] == "AnotherRun"
    assert "holds the lock" in rules[1]["help"]["text"]
    result = run["results"][1]
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == "EFA003"
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "specs/prod.yaml"},
        "region": {"startLine": 3, "startColumn": 10, "endLine": 3, "endColumn": 34},
    }
    assert "locations" not in run["results"][0]
    assert _sarif()["results"] == []


def words(count: int) -> list[Diagnostic]:
    """A fault in each word of one line."""
    text = "{" + ", ".join(f"key{number:05}: no" for number in range(count)) + "}"
    found = parse(SourceFile("f", text))[1]
    assert len(found) == count
    return found


@pytest.mark.slow
def test_a_fault_in_each_word_of_one_line() -> None:
    """What is shown of a long line does not depend on how long it is; without that, it is hundreds of megabytes."""
    found = words(5_000)
    blocks = show("text", *found).split("\n\n")
    assert all("key" in block and "...\n" in block for block in blocks[10:-20])
    assert max(map(len, blocks[:-1])) < 1_000
    place, mark = blocks[2_345].splitlines()[3:5]
    assert place[mark.index("^") :].startswith("no, key02346")
    assert len(_sarif(*found)["results"]) == 5_000


def test_sarif_has_no_more_results_than_github_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors stay, in their order; a notification says how many are left out; none where all are there."""
    assert MAX_RESULTS == 25_000
    most = 50
    monkeypatch.setattr("trainyard.language.diagnostics.render.sarif.MAX_RESULTS", most)
    found = words(most + 7)
    warnings = [replace(each, severity=Severity.WARNING) for each in found[:10]]
    run = _sarif(*warnings, *found[10:])
    assert len(run["results"]) == most
    levels = [result["level"] for result in run["results"]]
    assert levels == ["warning"] * 3 + ["error"] * (most - 3)
    (reported,) = run["invocations"][0]["toolExecutionNotifications"]
    assert reported["message"]["text"].startswith("7 more findings are not in this file")
    assert "invocations" not in _sarif(*found[:most])


def test_sarif_takes_pages_of_rules() -> None:
    """GitHub shows both descriptions and the help beside an alert."""
    page = load_pages()["OUT004"]
    text = render(
        "sarif",
        [EFA],
        tool_version="1",
        pages={"EFA003": replace(page, code="EFA003", text="One. Two.")},
    )
    (rule,) = json.loads(text)["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["shortDescription"], rule["fullDescription"]) == ({"text": "One"}, {"text": "One"})
    assert rule["help"] == {"text": "One. Two.", "markdown": "One. Two."}


def test_sarif_fingerprints_survive_lines_above_and_tell_equals_apart() -> None:
    def prints(text: str) -> list[str]:
        found = parse(SourceFile("f", text))[1]
        return [
            result["partialFingerprints"]["trainyard/v1"] for result in _sarif(*found)["results"]
        ]

    first = prints("a: no\nb: yes\n---\na: no\n")
    assert first == prints("# one more\n\na: no\nb: yes\n---\nc: 1\na:   no\n")
    assert len(set(first)) == 3


STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x80-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
"""What moves a terminal's cursor, turns the direction of text, or is not seen."""

ODD = [
    "\x1b[31m",
    "\x9b31m",
    "\u202eab",
    "no\u200bdes",
    "a\r\n",
    "a\nb",
    "\ud800",
    "]]>",
    "|",
    "::error::",
    "一\t",
]
TEXTS = st.text(max_size=30) | st.sampled_from(ODD)
SPANS = st.builds(
    lambda text, line, column, height, width: Span(
        SourceFile("f", text), line, column, line + height, column + width
    ),
    TEXTS,
    st.integers(1, 4),
    st.integers(1, 40),
    st.integers(0, 2),
    st.integers(0, 40),
)
ANY = st.builds(
    Diagnostic,
    st.sampled_from(["YML001", "X999"]),
    st.sampled_from(list(Severity)),
    TEXTS,
    st.none(),
    SPANS | st.none(),
    TEXTS,
    st.lists(TEXTS, max_size=2).map(tuple),
    TEXTS,
    st.booleans(),
    st.lists(st.tuples(SPANS, TEXTS), max_size=2).map(tuple),
    TEXTS,
)


@pytest.mark.slow
@given(st.lists(ANY, max_size=4))
@settings(max_examples=examples_of(150), deadline=None)
def test_every_diagnostic_can_be_rendered_in_every_format(diagnostics: list[Diagnostic]) -> None:
    checks: dict[str, Callable[[str], Any]] = {
        "json": json.loads,
        "sarif": json.loads,
        "junit": _xml,
    }
    for format in FORMATS:
        text = show(format, *diagnostics)
        checks.get(format, str)(text)
        assert text.endswith("\n") or not text
    for format in FORMATS:
        assert not STEERING.search(show(format, *diagnostics)), format
    assert len(show("github", *diagnostics).split("\n")) == len(sort(diagnostics)) + 1


def test_file_names_that_are_not_utf8() -> None:
    """Python shows their bytes as lone surrogates; an address gets the bytes back, XML cannot."""
    odd = replace(EFA, span=replace(ZONES, file=SourceFile("gr\udcf6.yaml", FILE.text)), related=())
    location = _sarif(odd)["results"][0]["locations"][0]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == "gr%F6.yaml"
    assert "--> gr\ufffd.yaml:3:10" in show("text", odd)


def test_junit_is_the_same_in_every_encoding() -> None:
    text = show("junit", replace(EFA, message="größe"))
    assert text.isascii()
    assert _xml(text).find(".//failure[@message='größe']") is not None


def _xml(text: str) -> ET.Element:
    return ET.fromstring(text.encode())


def test_pages_are_complete() -> None:
    pages = load_pages()
    assert pages["YML001"].slug == "duplicate-key"
    assert pages["YML001"].title == "A mapping has the same key twice"
    for page in pages.values():
        assert page.text, page.code
    assert split_pages("# x\n\n## AB001 a-b\n\ntext\n\n## AB002 c\n")[0].text == "text"


@pytest.mark.parametrize("area", ["YML", "OUT"])
def test_every_code_of_ours_has_a_page_and_every_page_a_code(area: str) -> None:
    folder = Path(__file__).parents[2] / "compiler"
    used = {
        code
        for path in folder.rglob("*.py")
        for code in re.findall(rf'"({area}\d{{3}})"', path.read_text())
    }
    assert used == {code for code in load_pages() if code.startswith(area)}
    for code in used:
        assert "Fails:" in load_pages()[code].text
        assert "Instead:" in load_pages()[code].text
