"""The picture of the architecture is that of the tree: its boxes, its arrows, and about so many lines."""

from __future__ import annotations

import re

import pytest
from trainyard.plan.features import extensions, needs

from docs.picture import PICTURE, columns, drawn, kernel, rows, sizes, words

pytestmark = pytest.mark.needs(
    *("forecast", "hyperpod", "images", "lint", "observability", "operate"),
    *("parallelcluster", "review", "terraform"),
)

_LINES = re.compile(r"<title>(\w+): (\d+) lines</title>")


def test_the_picture_is_current() -> None:
    """`make picture` would change numbers of lines alone, and those by a tenth or less."""
    text = PICTURE.read_text(encoding="utf-8")
    shown = {name: int(lines) for name, lines in _LINES.findall(text)}
    assert drawn(shown) == text
    for name, lines in sizes().items():
        assert abs(lines - shown[name]) <= max(300, lines // 10), f"{name}: run `make picture`"


def test_everything_has_a_box_and_words_that_fit() -> None:
    left, right = columns()
    assert sorted([*left, *right]) == sorted(extensions())
    assert sorted(name for row in rows() for name in row) == sorted(kernel())
    assert abs(len(left) - len(right)) <= 1
    for name in (*kernel(), *extensions()):
        assert 5 < len(words(name)) <= (64 if [name] in rows() else 38), name


def test_what_an_extension_needs_stands_on_its_side() -> None:
    left, _ = columns()
    for name, module in extensions().items():
        assert not needs(module) or {name, *needs(module)} <= set(left)
