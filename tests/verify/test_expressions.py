"""Expressions in CEL that users write: the functions of Kubernetes, and what evaluation may cost."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.extensions.declared_rules.expressions import TooCostlyError, evaluated, refusal


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("text.matches('b+')", True),
        ("text.find('[0-9]+')", "12"),
        ("text.find('x+')", ""),
        ("text.replace('b', 'x')", "a-xx-12"),
        ("text.replace('b', 'x', 1)", "a-xb-12"),
        ("text.split('-')", ["a", "bb", "12"]),
        ("text.split('-', 2)", ["a", "bb-12"]),
        ("text.split('-', 1)", ["a-bb-12"]),
        ("text.split('-', 0)", []),
        ("text.split('-', -1)", ["a", "bb", "12"]),
        ("'abc'.split('')", ["a", "b", "c"]),
        ("'abc'.split('', 2)", ["a", "bc"]),
        ("text.indexOf('b')", 2),
        ("text.indexOf('b', 3)", 3),
        ("text.indexOf('b', 4)", -1),
        ("text.substring(2, 4) + text.substring(5)", "bb12"),
        ("' A '.trim().lowerAscii() + 'b'.upperAscii()", "aB"),
        ("['a', 'b'].join() + ['a', 'b'].join('+')", "aba+b"),
        ("[1, 2].sum() + [3, 4].min() + [5, 6].max()", 12),
    ],
)
def test_the_functions_of_kubernetes(expression: str, value: Any) -> None:
    assert refusal(expression) == ""
    assert evaluated(expression, {"text": "a-bb-12"}, 1) == value


@pytest.mark.parametrize(
    ("expression", "text", "why"),
    [
        # what follows would fail, for the reason that nothing was replaced
        ("int(text.replace('a', text)) > 1", "a" * 400, "a text that grows without end"),
        ("text.replace('a', text) != ''", "a" * 400, "a text that grows without end"),
        ("text + text", "a" * 60_000, "a value of 120,000 characters or items"),
    ],
)
def test_what_would_take_too_long_is_not_evaluated(
    expression: str, text: str, why: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert refusal(expression) == ""
    with pytest.raises(TooCostlyError) as raised:
        evaluated(expression, {"text": text}, 1)
    assert str(raised.value) == why
    assert caplog.records == []


@pytest.mark.parametrize(
    ("pattern", "match"),
    [("(a+)+$", ""), ("(a|a)*c", ""), ("a*b*c*d*", "a" * 50_000 + "b"), ("b", "b")],
)
def test_a_pattern_is_found_in_linear_time(pattern: str, match: str) -> None:
    """RE2 never goes back in a text: one of 50,000 letters is searched in some milliseconds."""
    text = "a" * 50_000 + "b"
    assert evaluated(f"text.find('{pattern}')", {"text": text}, 1) == match


def test_macros_over_a_long_list_are_counted_before_they_run() -> None:
    expression = "items.all(a, items.all(b, a != b))"
    assert evaluated(expression, {"items": [1]}, 1) is False
    with pytest.raises(TooCostlyError, match="steps, and 1e"):
        evaluated(expression, {"items": [1]}, 10_000)


def test_what_a_function_fails_on_is_raised_and_not_printed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with pytest.raises(RuntimeError, match="find"):
        evaluated("text.find('[')", {"text": "a"}, 1)
    assert caplog.records == []
