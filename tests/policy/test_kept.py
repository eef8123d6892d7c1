"""The built-in rules are kept in one file: they are as new as their files, and what is wrong with it stops nobody."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.catalog import load_catalog
from compiler.plan import Plan
from compiler.policy import kept as module
from compiler.policy.code import module_of
from compiler.policy.engine import run
from compiler.policy.kept import loaded
from compiler.policy.load import _builtin
from compiler.policy.rule import Rule

RULE = '''
from compiler.plan import Plan
from compiler.policy.rule import Finding, rule
from compiler.places import Route


@rule("RUN001", params={{"most": 3}})
def one(plan: Plan):
    """A page."""
    yield Finding("{message}", Route(("x",)))
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "area").mkdir()
    write(tmp_path, "first")
    yield tmp_path
    sys.modules.pop(module_of(tmp_path / "area" / "one.py"), None)


def write(folder: Path, message: str) -> Path:
    path = folder / "area" / "one.py"
    path.write_text(RULE.format(message=message))
    return path


def rules_of(folder: Path) -> tuple[Rule, ...]:
    """What a run of its own finds in a folder."""
    _builtin.cache_clear()
    rules, faults = _builtin(folder)
    _builtin.cache_clear()
    assert faults == ()
    return rules


def message(rule: Rule) -> str:
    return next(finding.message for finding in loaded(rule)(None))


def kept_file(folder: Path) -> Path:
    (file,) = (folder / "__pycache__").iterdir()
    assert file.name.startswith("rules.")
    return file


def test_a_kept_rule_is_what_it_was(folder: Path) -> None:
    (first,), (kept,) = rules_of(folder), rules_of(folder)
    for field in ("code", "slug", "severity", "runs_on", "params", "kinds", "file"):
        assert getattr(kept, field) == getattr(first, field)
    assert (kept.subject, kept.doc) == (first.subject, first.doc)
    assert message(kept) == message(first) == "first"
    assert kept.check.__code__.co_firstlineno == first.check.__code__.co_firstlineno


def test_a_kept_rule_is_not_loaded_before_it_is_run(folder: Path) -> None:
    name = module_of(folder / "area" / "one.py")
    rules_of(folder)
    del sys.modules[name]
    (kept,) = rules_of(folder)
    assert name not in sys.modules
    found = run(Plan(), load_catalog(), (kept,))
    assert [finding.message for finding in found] == ["first"]
    assert name in sys.modules


def test_a_changed_rule_is_loaded_anew(folder: Path) -> None:
    rules_of(folder)
    os.utime(write(folder, "again"), ns=(1, 1))
    assert message(rules_of(folder)[0]) == "again"
    assert message(rules_of(folder)[0]) == "again"


def test_rules_are_loaded_anew_where_a_class_has_moved(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule that names a class of old would have nothing to look at, and look like one that finds nothing."""
    rules_of(folder)
    stamp = module._stamp
    monkeypatch.setattr(
        module, "_stamp", lambda path: (1, 1) if path.endswith("plan/plan.py") else stamp(path)
    )
    assert not hasattr(rules_of(folder)[0].check, "loaded")


def test_a_broken_file_is_made_anew(folder: Path) -> None:
    rules_of(folder)
    file = kept_file(folder)
    whole = file.read_bytes()
    for broken in (b"", b"no code", whole[:-20], whole[:4] + b"N", whole[:16] + b"N"):
        file.write_bytes(broken)
        assert message(rules_of(folder)[0]) == "first"
        assert kept_file(folder).read_bytes() == whole


def test_where_nothing_may_be_kept_nothing_is(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert message(rules_of(folder)[0]) == "first"
    assert not (folder / "__pycache__").exists()


def test_a_rule_whose_parameters_cannot_be_kept_is_loaded_each_time(folder: Path) -> None:
    path = folder / "area" / "one.py"
    path.write_text(path.read_text().replace('"most": 3', '"most": object()'))
    for _ in range(2):
        (rule,) = rules_of(folder)
        assert not hasattr(rule.check, "loaded")
