"""Faults of real tutorials and repositories: each is reported on its line, of specs and of third-party manifests.

A case is a file whose first line says the faults in words. `# error: CODE` at the end of a line, with `warning` and
`note` beside it, says what must be reported there; nothing else may be. Comments at the end say in which words
(`tests/reported.py`). `docs/faults.md` is the table of all of them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from reported import MANIFESTS, SPECS, reported, words
from running import ROOT, Command

from tests.policy.harness import builtin_rules

pytestmark = pytest.mark.needs("lint")

PAGE = ROOT / "docs" / "faults.md"
MARK = re.compile(r"\b(error|warning|note): ([A-Z]{3}[0-9]{3})\b")
CODE = re.compile(r"\b[A-Z]{3}[0-9]{3}\b")
Reported = tuple[int, str, str]


def expected(path: Path) -> list[Reported]:
    """What the marks of a case say: line, level and code."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return sorted(
        (number, level, code)
        for number, line in enumerate(lines, 1)
        for level, code in MARK.findall(line.partition(" # ")[2])
    )


def assert_reported(trainyard: Command, verb: str, path: Path) -> None:
    """Exactly what is marked on its lines, in the words at the end of the case."""
    done = trainyard(verb, "--format", "json", path.name, cwd=path.parent)
    found = json.loads(done.out)["diagnostics"]
    assert expected(path)
    assert (
        sorted((fault["place"]["line"], fault["severity"], fault["code"]) for fault in found)
    ) == expected(path)
    assert words(found) == reported(path), "`python tests/reported.py` rewrites the words"


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.stem)
def test_a_fault_of_manifests_is_reported(path: Path, trainyard: Command) -> None:
    assert_reported(trainyard, "lint", path)


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_fault_of_a_spec_is_reported(path: Path, trainyard: Command) -> None:
    assert_reported(trainyard, "check", path)


def test_each_case_says_what_is_wrong() -> None:
    for path in (*SPECS, *MANIFESTS):
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        assert first.startswith("# "), path.name
        assert first.endswith("."), path.name


def rows() -> list[tuple[str, str, str]]:
    """The rows of the page's first table: the fault, what finds it in a spec, what finds it in manifests."""
    table = PAGE.read_text(encoding="utf-8").partition("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if line.startswith("|")
    ]
    return [(fault, spec, lint) for fault, spec, lint in cells[2:]]


def test_the_page_has_a_case_for_each_code() -> None:
    """What the page says is found is found by a case; of specs also by one of ``tests/bad_input``."""
    in_manifests = {code for path in MANIFESTS for *_, code in expected(path)}
    of_specs = (*SPECS, *(ROOT / "tests" / "bad_input" / "cases").glob("*.yaml"))
    in_specs = set()
    for path in of_specs:
        in_specs.update(CODE.findall(path.read_text(encoding="utf-8")))
    for fault, spec, lint in rows():
        assert set(CODE.findall(lint)) <= in_manifests, fault
        assert set(CODE.findall(spec)) <= in_specs, fault


def test_the_page_has_every_case() -> None:
    page = set(CODE.findall(PAGE.read_text(encoding="utf-8")))
    for path in (*SPECS, *MANIFESTS):
        codes = {code for *_, code in expected(path)}
        assert codes <= page, (path.name, codes - page)


def test_a_fault_that_nothing_finds_has_its_reason() -> None:
    for fault, spec, lint in rows():
        assert spec, fault
        assert lint, fault
        if not CODE.search(lint):
            assert len(lint.split()) > 2, fault


def test_codes_of_the_page_exist() -> None:
    policies = {rule.code for rule in builtin_rules()}
    fixed = ("RES", "SPC", "SCH", "REF", "NAM")
    for code in CODE.findall(PAGE.read_text(encoding="utf-8")):
        assert code in policies or code.startswith(fixed), code
