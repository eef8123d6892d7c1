"""The code of rules is kept in one file: it is as new as the rules, and what is wrong with it stops nobody."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import CodeType

import pytest

from compiler.policy.bytecode import compiled, page_of

RULE = '''
def {name}(plan):
    """A page."""
    return {value}
'''


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "area").mkdir()
    (tmp_path / "area" / "one.py").write_text(RULE.format(name="one", value=1))
    return tmp_path


def called(code: CodeType, name: str) -> tuple[object, str | None]:
    scope: dict[str, object] = {}
    exec(code, scope)
    function = scope[name]
    assert callable(function)
    return function(None), function.__doc__


def test_the_code_is_kept_without_its_page(rules: Path) -> None:
    path = rules / "area" / "one.py"
    for _ in range(2):
        assert called(compiled(rules, [path])[path], "one") == (1, None)
    assert page_of(str(path), "one") == "A page."
    (kept,) = (rules / "__pycache__").iterdir()
    assert kept.name.startswith("rules.")


def test_a_changed_rule_is_compiled_anew(rules: Path) -> None:
    path = rules / "area" / "one.py"
    compiled(rules, [path])
    path.write_text(RULE.format(name="one", value=2))
    os.utime(path, ns=(1, 1))
    assert called(compiled(rules, [path])[path], "one")[0] == 2


def test_a_broken_file_is_made_anew(rules: Path) -> None:
    path = rules / "area" / "one.py"
    compiled(rules, [path])
    (kept,) = (rules / "__pycache__").iterdir()
    whole = kept.read_bytes()
    for broken in (b"", b"no code", whole[:-20], whole[:4] + b"N"):
        kept.write_bytes(broken)
        assert called(compiled(rules, [path])[path], "one")[0] == 1
        assert kept.read_bytes() == whole


def test_where_nothing_may_be_kept_nothing_is(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = rules / "area" / "one.py"
    assert compiled(rules, [path]) == {}
    assert not (rules / "__pycache__").exists()


def test_what_is_no_python_is_left_to_the_loader(rules: Path) -> None:
    path = rules / "area" / "broken.py"
    path.write_text("def (:")
    assert compiled(rules, [path, rules / "area" / "absent.py"]) == {}
