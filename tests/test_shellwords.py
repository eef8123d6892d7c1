"""The words of shell text: those of ``shlex``, in time that grows with the text."""

from __future__ import annotations

import shlex
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trainyard.extensions.parallelcluster.formats.sbatch.grammar import (
    documents,
    in_documents,
    statements,
)
from trainyard.language.shellwords import split

pytestmark = pytest.mark.slow

TEXT = st.text(alphabet="ab$#'\"\\ \t\n;&|(){}<>=", max_size=24)


def theirs(text: str, operators: str, *, comments: bool) -> list[str] | str:
    lexer = shlex.shlex(text, posix=True, punctuation_chars=operators or False)
    lexer.whitespace_split = True
    lexer.commenters = "#" if comments else ""
    try:
        return list(lexer)
    except ValueError:
        return "a quote is not closed"


@given(text=TEXT, operators=st.sampled_from(("", ";&|", ";&|(){}", "<>")), comments=st.booleans())
def test_they_are_those_of_shlex(text: str, operators: str, comments: bool) -> None:
    expected = theirs(text, operators, comments=comments)
    try:
        found: list[str] | str = split(text, operators, comments=comments)
    except ValueError:
        found = "a quote is not closed"
    assert found == expected


@pytest.mark.parametrize("text", ["x", "'x'", '"x" ', "\\x", "x;", "x #\n"])
def test_twice_the_text_takes_twice_the_time(text: str) -> None:
    """``shlex`` takes four times as long: one word of 500 kB takes it twelve seconds."""

    def taken(count: int) -> float:
        began = process_time()
        split(text * count, ";", comments=True)
        return process_time() - began

    taken(1000)
    assert taken(400_000) < 6 * taken(100_000) + 0.2


@pytest.mark.parametrize("line", ["cat <<A > a", "A=( $(b) $(c) )", "srun 'a' \"b\" # c"])
@pytest.mark.parametrize("joined", ["\n", " "])
def test_so_does_a_batch_script_of_twice_the_lines(line: str, joined: str) -> None:
    """Documents that nothing ends were looked for to the end of the script, each by itself."""

    def taken(count: int) -> float:
        text = joined.join([line] * count)
        began = process_time()
        list(statements(text)), in_documents(text), list(documents(text))
        return process_time() - began

    taken(100)
    assert taken(16_000) < 6 * taken(4_000) + 0.2
