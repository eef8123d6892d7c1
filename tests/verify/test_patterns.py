"""Go RE2 patterns said in Python's words."""

from __future__ import annotations

import pytest

from compiler.verify.patterns import compile_re2


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
    ],
)
def test_pattern(pattern: str, accepted: list[str], refused: list[str]) -> None:
    search = compile_re2(pattern).search
    assert all(search(text) for text in accepted)
    assert not any(search(text) for text in refused)
