"""Short forms of a format in YAML, like `!Ref` of CloudFormation: mappings of one key, with their places."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.language.places import Document, Route, SourceFile
from trainyard.language.source.parse import parse

TAGS = {"!Ref": "Ref", "!Sub": "Fn::Sub", "!If": "Fn::If"}


def read(text: str) -> tuple[Document, list[tuple[str, int, str]]]:
    documents, found = parse(SourceFile("t.yaml", text), tags=TAGS)
    reported = [(each.code, each.span.line, each.help) for each in found if each.span]
    return documents[0], reported


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: !Ref b", {"a": {"Ref": "b"}}),
        ("a: !Ref 12", {"a": {"Ref": "12"}}),  # a scalar with a tag is text
        ("a: !Ref yes", {"a": {"Ref": "yes"}}),
        ('a: !Sub "${b}"', {"a": {"Fn::Sub": "${b}"}}),
        ("a: !Sub [x, {b: 1}]", {"a": {"Fn::Sub": ["x", {"b": 1}]}}),
        ("a: !If [c, !Ref b, !Ref d]", {"a": {"Fn::If": ["c", {"Ref": "b"}, {"Ref": "d"}]}}),
        ("- !Ref a\n- !If\n  - b\n  - c", [{"Ref": "a"}, {"Fn::If": ["b", "c"]}]),
        ("a: &x !Ref b\nc: *x", {"a": {"Ref": "b"}, "c": {"Ref": "b"}}),
        ("a: !If &x [b]\nc: *x", {"a": {"Fn::If": ["b"]}, "c": {"Fn::If": ["b"]}}),
        ("a: !Sub |\n  x\n  y", {"a": {"Fn::Sub": "x\ny"}}),
    ],
)
def test_a_short_form_is_a_mapping_of_one_key(text: str, value: Any) -> None:
    document, reported = read(text)
    assert document.root.to_python() == value
    assert reported == []


def test_places_are_those_of_what_was_written() -> None:
    document, _ = read("a:\n  b: !If [c, !Ref d]\n  e: !Sub\n    - x\n    - {f: 1}\n")
    for route, line, column in (
        (Route(("a", "b")), 2, 6),
        (Route(("a", "b", "Fn::If", 1)), 2, 14),
        (Route(("a", "b", "Fn::If", 1, "Ref")), 2, 14),
        (Route(("a", "e", "Fn::Sub", 1, "f")), 5, 11),
    ):
        span = document.span(route)
        assert (span.line, span.column) == (line, column), route


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("a: !Reff b", "did you mean `!Ref`?"),
        ("a: !Other b", "remove the tag; quote the value if it is text"),
        ("a: !!binary b", "remove the tag; quote the value if it is text"),
    ],
)
def test_another_tag_is_reported(text: str, help: str) -> None:
    _, reported = read(text)
    assert reported == [("YML014", 1, help)]


def test_without_short_forms_every_tag_is_reported() -> None:
    _, found = parse(SourceFile("t.yaml", "a: !Ref b"))
    assert [each.code for each in found] == ["YML014"]


def test_short_forms_nest_no_deeper_than_other_values() -> None:
    _, found = parse(SourceFile("t.yaml", "a: " + "!If [" * 80 + "]" * 80), tags=TAGS)
    assert [each.code for each in found] == ["YML007"]


def test_an_anchor_of_a_short_form_inside_itself() -> None:
    _, found = parse(SourceFile("t.yaml", "a: &x !If [*x]"), tags=TAGS)
    assert [each.code for each in found] == ["YML006"]
