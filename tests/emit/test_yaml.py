"""The YAML writer: one object to every reader, readable, stable."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from drawn import examples_of
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from trainyard.language.places.tree import SourceFile
from trainyard.language.source.parse import parse
from trainyard.output.emit.yaml import dump


def _read_by_all(text: str) -> list[Any]:
    """PyYAML (1.1), libyaml (1.1), ruamel (1.2), and our own reader (1.2, no exceptions)."""
    documents, found = parse(SourceFile("f", text))
    assert found == []
    return [
        yaml.safe_load(text),
        yaml.load(text, Loader=yaml.CSafeLoader),
        YAML(typ="safe", pure=True).load(text),
        documents[0].root.to_python(),
    ]


TRICKY = [
    "",
    " ",
    "no",
    "Yes",
    "ON",
    "y",
    "N",
    "null",
    "~",
    "Null",
    "true",
    "FALSE",
    "010",
    "0o10",
    "0x1F",
    "0b1",
    "12:30:45",
    "1_000",
    "1e3",
    "1E3",
    "1.",
    ".5",
    "-1",
    "+1",
    ".inf",
    "-.INF",
    ".nan",
    "2026-11-21",
    "2026-11-21T10:00:00Z",
    "=",
    "<<",
    "-",
    "- a",
    "?",
    "? a",
    ":",
    "a:",
    "a: b",
    "a :b",
    "#",
    "a #b",
    "a#b",
    "&a",
    "*a",
    "!a",
    "|",
    ">",
    "%a",
    "@a",
    "`a`",
    "[a]",
    "{a}",
    "a, b",
    "'a'",
    '"a"',
    "---",
    "...",
    "--- a",
    "a\n---\nb",
    "a\n...\nb",
    "\n",
    "\n\n",
    "a\n",
    "a\n\n",
    "a\nb",
    " a\nb",
    "a \nb",
    "a\n b\n",
    "\ta",
    "a\tb",
    "a\n\tb",
    "a\r\nb",
    "a\rb",
    "a\x85b",
    "a\u2028b",
    "\ufeffa",
    "a\x00b",
    "\x7f",
    "\x1b[0m",
    "é",
    "😀",
    "\ud800",
    "\ufffe",
    "${a}",
    "{{ a }}",
    "$(a)",
    "a\\b",
    "\\n",
    "30m",
    "64Gi",
    "1E",
    "1e",
    "10.0.0.0/16",
    "1.2.3",
    "1.30",
    "v1.30",
    "arn:aws:iam::111122223333:role/x",
    "a:b",
    "http://x/y?z=1#f",
    "111122223333",
    "012345678901",
    "#!/bin/sh\nset -e\n  x: 1\n\n# end\n",
    "a" * 500,
    "a b " * 100,
    "key: |\n  x\n",
]


@pytest.mark.parametrize("text", TRICKY, ids=ascii)
def test_a_tricky_string_is_read_back_as_itself(text: str) -> None:
    for body in ({"k": text, "l": [text, [text], {text: text}]}, {text or "e": {"a": text}}):
        written = dump(body)
        if text == "\ud800":
            written = written.replace(
                "\\ud800", "x"
            )  # no reader takes a lone surrogate, even escaped
            body = yaml.safe_load(written)
        assert all(read == body for read in _read_by_all(written))


@pytest.mark.parametrize("number", [0.5, -2.0, 1e16, 1.5e300, 1e-7, -2.5e-9, 5e-324])
def test_a_number_is_read_back_as_itself(number: float) -> None:
    assert _read_by_all(dump({"k": number})) == [{"k": number}] * 4


LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from([text for text in TRICKY if text != "\ud800"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
    | st.text("ab: -#\n\t'\"\\|>", max_size=20)
    | st.from_regex(r"[0-9._:exobEi+-]{1,9}", fullmatch=True)
)
WORDS = st.characters(exclude_categories=["Cs"])
KEYS = st.sampled_from(["no", "spec", "a/b", "1", "<<"]) | st.text(WORDS, max_size=12)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.slow
@given(st.dictionaries(KEYS, VALUES, max_size=5))
@settings(max_examples=examples_of(400), deadline=None)
def test_every_object_is_read_back_as_itself(body: dict[str, Any]) -> None:
    text = dump(body)
    assert all(read == body for read in _read_by_all(text))
    assert "\r" not in text
    assert text.endswith("\n")


def test_leading_keys_come_first_and_others_keep_their_order() -> None:
    metadata = {"x": 1, "labels": {"b": "1", "a": "2"}, "name": "nn"}
    body = {
        "z": 1,
        "spec": {"b": 1, "a": 2},
        "status": {},
        "metadata": metadata,
        "kind": "K",
        "apiVersion": "v1",
    }
    assert dump(body) == (
        'apiVersion: v1\nkind: K\nmetadata:\n  name: nn\n  labels:\n    b: "1"\n    a: "2"\n  x: 1\n'
        "spec:\n  b: 1\n  a: 2\nz: 1\nstatus: {}\n"
    )


def test_scripts_stay_readable_and_lines_are_not_wrapped() -> None:
    long = "word " * 60 + "end"
    assert dump({"a": [{"run": "#!/bin/sh\nset -e\n\nexec train\n"}], "b": long, "c": "x\ny"}) == (
        f"a:\n- run: |\n    #!/bin/sh\n    set -e\n\n    exec train\nb: {long}\nc: |-\n  x\n  y\n"
    )


def test_shared_values_are_written_out() -> None:
    shared = {"a": 1}
    assert dump({"x": shared, "z": shared}) == "x:\n  a: 1\nz:\n  a: 1\n"


def test_a_key_too_long_for_one_line_is_read_back() -> None:
    body = {"a": [{"k" * 1500: {"b": 1}, "c" * 1500: "x", "d": [2]}]}
    assert all(read == body for read in _read_by_all(dump(body)))


@pytest.mark.parametrize(
    "body", [{1: "a"}, {"a": {1}}, {"a": float("nan")}, {"a": float("inf")}, {"a": b"x"}]
)
def test_what_has_no_yaml_form_is_refused(body: Any) -> None:
    with pytest.raises(TypeError):
        dump(body)


def test_nothing_is_an_empty_mapping() -> None:
    assert dump({}) == "{}\n"
