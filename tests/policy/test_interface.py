"""The interface of policies as it is described: complete, and true of what built-in rules use."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pytest
from running import Command
from trainyard.judge.model.work import Work
from trainyard.judge.policy.interface import CLASSES, describe, summaries
from trainyard.judge.policy.rule import Reach, rule

from tests.policy.harness import builtin_rules


@pytest.mark.parametrize("name", [name for name, _ in summaries()])
def test_every_class_has_a_page(name: str, trainyard: Command) -> None:
    done = trainyard("explain", "--interface", name)
    assert done.code == 0
    assert done.out.startswith(f"{name}\n\n")
    assert len(done.out.split()) > 10
    assert trainyard("explain", name) == done


def test_a_list_has_each_with_a_sentence(trainyard: Command) -> None:
    lines = trainyard("explain", "--interface").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [name for name, _ in summaries()]
    assert all(len(line.split()) > 1 for line in lines)


def test_what_is_no_part_of_it_is_refused(trainyard: Command) -> None:
    done = trainyard("explain", "--interface", "Wrok")
    assert (done.code, done.out) == (2, "")
    assert "rules meet no `Wrok`: did you mean `Work`?" in done.err
    done = trainyard("explain", "--interface", "Work", "job/a")
    assert "`--interface Work` and `job/a` are two subjects: ask for one at a time" in done.err


def test_what_rules_are_run_on_is_described() -> None:
    described = set(CLASSES)
    subjects = {rule.subject for rule in builtin_rules()}
    missing = {subject.__name__ for subject in subjects - described}
    assert missing == set()


def test_what_rules_ask_of_a_job_is_described() -> None:
    """Every attribute of a parameter that is a `Work`."""
    page = str(describe("Work"))
    used = {
        node.attr
        for rule in builtin_rules()
        if rule.subject is Work
        for node in ast.walk(ast.parse(Path(rule.file).read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "work"
    }
    assert used
    assert [name for name in sorted(used) if f"\n  {name}" not in page] == []


def test_the_page_of_the_decorator_has_every_parameter() -> None:
    """It is written by hand, since signatures print defaults as Python represents them."""
    named = [name for name in inspect.signature(rule).parameters if name != "reach"]
    parameters = [*named, *Reach.__annotations__]
    page = str(describe("rule")).partition("\n\n")[2].partition("\n\n")[0]
    missing = [name for name in parameters if not re.search(rf"\b{name}\b", page)]
    assert page.startswith("@rule(")
    assert missing == []
