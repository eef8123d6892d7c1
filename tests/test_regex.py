"""Expressions that are compiled at first use: all of ours compile, and they do what ``re`` does."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import compiler
from compiler.policy.code import code_of
from compiler.policy.kept import run_module
from compiler.policy.load import _builtin_folders, _files, builtin_folder
from compiler.regex import _Pattern, compiled_at_first_use, regex


def test_it_is_an_expression() -> None:
    digits = regex(r"[0-9]+")
    assert digits.pattern == "[0-9]+"
    assert digits.search("a12b3")[0] == "12"  # type: ignore[index]
    assert digits.sub("-", "a12b3") == "a-b-"
    assert digits.findall("a12b3") == ["12", "3"]
    assert digits.groups == 0
    assert regex("^a", re.MULTILINE).search("b\na") is not None
    assert regex(b"a").fullmatch(b"a") is not None


def test_a_malformed_one_is_refused_at_its_first_use() -> None:
    with pytest.raises(re.error, match="unterminated"):
        regex("(").match("")


def test_what_is_imported_within_compiles_later_and_nothing_after() -> None:
    with compiled_at_first_use():
        late = re.compile("a+")
    assert isinstance(late, _Pattern)
    assert late.fullmatch("aa") is not None
    assert isinstance(re.compile("a+"), re.Pattern)


def modules() -> list[ModuleType]:
    names = [
        found.name
        for found in pkgutil.walk_packages(compiler.__path__, "compiler.")
        if not found.name.endswith("__main__")
    ]
    return [import_module(name) for name in names]


def test_every_expression_of_ours_compiles() -> None:
    """A malformed one would be met when a run first needs it."""
    names = [vars(module) for module in modules()]
    folder = builtin_folder()
    for area in _builtin_folders(folder):
        paths = map(Path, _files(folder / area))
        names += [run_module(path, code_of(path)) for path in paths]
    patterns = [
        value for namespace in names for value in namespace.values() if isinstance(value, _Pattern)
    ]
    assert len(patterns) > 80
    for pattern in patterns:
        assert pattern.search is not None
