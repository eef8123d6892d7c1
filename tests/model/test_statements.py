"""The script that a command gives to a shell, and how it ends."""

from __future__ import annotations

import pytest
from trainyard.judge.model.statements import script_of


@pytest.mark.parametrize(
    ("words", "stops", "pipes_fail"),
    [
        (("bash", "-c", "a; b"), False, False),
        (("bash", "-c", "a -e x; b"), False, False),
        (("bash", "-e", "-c", "a; b"), True, False),
        (("bash", "-ec", "a; b"), True, False),
        (("bash", "-e", "-o", "pipefail", "-c", "a; b"), True, True),
        (("bash", "-c", "set -euo pipefail; a; b"), True, True),
    ],
)
def test_options_of_the_shell_and_of_the_script_say_where_it_ends(
    words: tuple[str, ...], stops: bool, pipes_fail: bool
) -> None:
    script = script_of(words)
    assert script is not None
    assert (script.stops, script.pipes_fail) == (stops, pipes_fail)
    assert [each.program for each in script.statements][-2:] == ["a", "b"]


@pytest.mark.parametrize(
    "words",
    [
        ("python", "-c", "a"),
        ("bash", "train.sh"),
        ("bash", "--norc", "train.sh"),
        ("bash", "-c"),
        ("bash", "-c", "exec torchrun", "train.py"),  # words that were meant to be of the script
    ],
)
def test_no_script_is_given(words: tuple[str, ...]) -> None:
    assert script_of(words) is None


def test_words_after_a_script_that_takes_them_are_its_arguments() -> None:
    script = script_of(("bash", "-c", 'exec torchrun "$@"', "bash", "train.py"))
    assert script is not None
    assert [each.program for each in script.statements] == ["torchrun"]


@pytest.mark.parametrize(
    ("text", "programs"),
    [
        ("A=1 env B=2 torchrun a.py", ["torchrun"]),
        ("A=1; torchrun a.py", ["", "torchrun"]),
        ("A=1 B=2", [""]),
        ("exec /opt/bin/torchrun a.py", ["torchrun"]),
    ],
)
def test_assignments_stand_before_programs(text: str, programs: list[str]) -> None:
    script = script_of(("bash", "-c", text))
    assert script is not None
    assert [each.program for each in script.statements] == programs
    assert [each.command[:1] == () for each in script.statements] == [not each for each in programs]


@pytest.mark.parametrize("text", ["echo 'a", "torchrun a.py \\"])
def test_a_line_that_does_not_end_is_not_read(text: str) -> None:
    assert script_of(("bash", "-c", text)) is None
