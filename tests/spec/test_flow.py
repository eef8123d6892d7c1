"""Values as helps and pages show them: one line of YAML, which means the same to every reader."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from trainyard.language.models.flow import flow
from trainyard.language.places import SourceFile
from trainyard.language.source.parse import parse


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("llama", "llama"),
        ("1.35", '"1.35"'),
        ("7:04:00", '"7:04:00"'),
        ("yes", '"yes"'),
        ("#gpu", '"#gpu"'),
        ("", '""'),
        ("it's", "it's"),
        ("'one", '"\'one"'),
        (["it's", "don't"], "[it's, don't]"),
        ("a: 'b'", "\"a: 'b'\""),
        ('say: "x"', "'say: \"x\"'"),
        (r"\d+: x", r"'\d+: x'"),
        ({"nodes": 2, "efa": True}, "{nodes: 2, efa: true}"),
        (8.03e9, "8.03e+9"),
        ("Größe", "Größe"),
    ],
)
def test_what_a_value_reads_like(value: Any, shown: str) -> None:
    assert flow(value) == shown


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=20))
def test_a_text_is_read_back(text: str) -> None:
    written = flow({"a": text})
    assert yaml.safe_load(written) == {"a": text}
    (document,), found = parse(SourceFile("f", written))
    assert not found
    assert document.root.to_python() == {"a": text}


@pytest.mark.parametrize("text", ["Y", "n", "0o7", "1_000", "1:30", "~", "null"])
def test_what_some_reader_takes_for_another_value_is_quoted(text: str) -> None:
    assert flow(text) == f'"{text}"'
