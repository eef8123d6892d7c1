"""Patterns as Go reads them."""

from __future__ import annotations

import json
import re

import pytest
from builders import ROOT
from trainyard.language.re2 import compile_re2, refusal
from trainyard.output.body import value_at, walk_values
from trainyard.verify.patterns import _WORDS, in_words
from trainyard.verify.structure import go_pattern


@pytest.mark.parametrize(
    ("pattern", "accepted", "refused"),
    [
        ("^a$", ["a"], ["a\n", "b"]),
        (r"^\d+$", ["12"], ["١٢"]),
        ("^(?i)(abort|warn)?$", ["", "Warn"], ["x", "warn\n"]),
        (r"^\PC*$", ["plain", ""], ["a\nb", "\x00"]),
        ("[$]", ["$"], ["a"]),
        (r"a\$b", ["a$b"], ["ab"]),
        (r"^a\z", ["a"], ["a\n"]),
        ("^[]$]+$", ["]$"], ["a", "]\n"]),
        ("^[^]$]+$", ["a\n"], ["]", "$"]),
        ("^[[:alpha:]$_]+$", ["aZ$_"], ["5", "[", ":", "]", "a\n"]),
        ("^[^[:space:][:punct:]]$", ["5"], [" ", "\v", "[", "]", "~"]),
        ("^[a[]$", ["a", "["], ["]"]),
    ],
)
def test_pattern(pattern: str, accepted: list[str], refused: list[str]) -> None:
    search = compile_re2(pattern).search
    assert all(search(text) for text in accepted)
    assert not any(search(text) for text in refused)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("^[^]$]+$", ""),
        ("[[:digit:]]+", ""),
        ("[[:digits:]]+", "invalid character class range: [:digits:]"),
        (r"(a)\1", r"invalid escape sequence: \1"),
    ],
)
def test_why_go_refuses_a_pattern(pattern: str, why: str) -> None:
    assert refusal(pattern) == why


@pytest.mark.parametrize(
    ("of_java", "of_go"),
    [
        (r"^[\u0009\u0020-\u00FF]+\Z", r"^[\x{0009}\x{0020}-\x{00FF}]+\z"),
        (r"^(?!\s*$).+$", r"^.*\S.*$"),
        ("^(?=.{2,256}$)[a-z]+$", "^[a-z]+$"),
        ("^[a-z]{1,4096}$", "^[a-z]{1,}$"),
        (r"^[\p{L}\p{Z}]{3,63}$", r"^[\p{L}\p{Z}]{3,63}$"),
        ("^(?<!a)b$", ""),
    ],
)
def test_a_pattern_of_java_in_the_words_of_go(of_java: str, of_go: str) -> None:
    assert go_pattern(of_java) == of_go


def test_every_pattern_of_the_package_is_one_of_go() -> None:
    folders = (ROOT / "compiler" / "trainyard").rglob("data")
    files = [path for folder in folders for path in folder.rglob("*.json")]
    found = [
        value
        for path in files
        for _, each in walk_values(json.loads(path.read_text(encoding="utf-8")))
        if isinstance(value := value_at(each, "pattern"), str)
    ]
    assert len(found) > 200
    assert [pattern for pattern in found if refusal(pattern)] == []


def patterns() -> set[str]:
    """Every pattern of the schemas of the package."""
    found: set[str] = set()
    for path in (ROOT / "compiler" / "trainyard" / "verify" / "data").rglob("*.json"):
        schema = json.loads(path.read_text(encoding="utf-8"))
        values = (value_at(value, "pattern") for _, value in walk_values(schema))
        found.update(value for value in values if isinstance(value, str))
    return found


@pytest.mark.parametrize("pattern", sorted(patterns()))
def test_no_long_pattern_is_shown(pattern: str) -> None:
    """Words for each, or the pattern itself where it is short."""
    message, help = in_words(pattern, "x")
    assert "definition wants" not in message
    assert len(message) <= 110
    assert len(help) <= 160


@pytest.mark.slow
@pytest.mark.parametrize("pattern", sorted(_WORDS))
def test_the_words_of_a_pattern_are_used_and_their_examples_match(pattern: str) -> None:
    assert pattern in patterns()
    _, example = _WORDS[pattern]
    examples = [each.strip('"') for each in re.findall("`([^`]+)`", example)]
    assert examples
    assert [each for each in examples if not compile_re2(pattern).search(each)] == []


def test_a_long_pattern_of_others_is_cut() -> None:
    message, help = in_words("^" + "(abc|def)" * 30 + "$", "x")
    assert message == "`x` does not have the form that the field's definition requires"
    assert len(help) <= 80
