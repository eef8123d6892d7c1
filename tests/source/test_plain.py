"""Values without places are those that nodes have, or there are none."""

from __future__ import annotations

from pathlib import Path

import pytest
from drawn import examples_of
from hypothesis import given, settings
from hypothesis import strategies as st
from trainyard.extensions.lint.plain import plain_values
from trainyard.language.places.tree import SourceFile
from trainyard.language.source.compose import MAX_DEPTH
from trainyard.language.source.manifests import parse_manifests

ROOT = Path(__file__).parent.parent.parent


def _composed(text: str) -> object:
    """What nodes say, with the class of each value, where there is no fault."""
    documents, faults = parse_manifests(SourceFile("set.yaml", text))
    assert not faults
    return repr([each.root.to_python() for each in documents])


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\nb: [x, 'yes', \"2\", 1.5, true, ~, null, 0x1f]\n",
        "---\n---\na:\n---\n[]\n---\n~\n",
        "a: |\n  x\n  y\n'<<': {b: 1}\n\"1\": c\n? d\n: e\n",
        '{"apiVersion": "v1", "items": [{"a": [[1], {}]}]}',
    ],
)
def test_what_is_plain_is_read_as_it_is_composed(text: str) -> None:
    assert repr(plain_values(text)) == _composed(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "a: 1\na: 2\n",
        "a: yes\n",
        "a: 0755\n",
        "a: 22:30\n",
        "no: 1\n",
        "1: a\n",
        ": a\n",
        "a: !!str 1\n",
        "!x {a: 1}\n",
        "a: &b {c: 1}\n",
        "a: &b 1\nc: *b\n",
        "&a b: 1\n",
        "a: {<<: {b: 1}}\n",
        "[a]: 1\n",
        "{a: 1}: 1\n",
        "a: [\n",
        "a: b: c\n",
        "a: \x07\n",
        "a: 1\n\ufeffb: 2\n",
        "a: 99999999999999999999999\n",
        "a: .inf\n",
        "[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1),
    ],
)
def test_what_is_odd_is_left_to_the_composer(text: str) -> None:
    assert plain_values(text) is None


@pytest.mark.slow
def test_manifests_of_the_repository_are_plain() -> None:
    files = [*(ROOT / "generated").rglob("*.yaml"), *(ROOT / "tests" / "lint_sets").rglob("*.yaml")]
    plain = [path for path in files if plain_values(path.read_text(encoding="utf-8")) is not None]
    assert len(plain) > len(files) // 2
    for path in plain:
        text = path.read_text(encoding="utf-8")
        assert repr(plain_values(text)) == _composed(text), path


_PARTS = [
    "a",
    "b: ",
    "yes",
    "1",
    "07",
    ": ",
    "- ",
    "\n",
    "\n  ",
    "\n- ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "'",
    '"',
    "|",
    "#",
    "&x ",
    "*x",
    "<<: ",
    "!t ",
    "---\n",
    "~",
    "? ",
    "\t",
    "\u2028",
    "\ufeff",
]


@pytest.mark.slow
@given(st.lists(st.sampled_from(_PARTS), max_size=12).map("".join))
@settings(max_examples=examples_of(400), deadline=None)
def test_any_text_is_read_as_it_is_composed_or_not_at_all(text: str) -> None:
    found = plain_values(text)
    if found is not None:
        assert repr(found) == _composed(text)
