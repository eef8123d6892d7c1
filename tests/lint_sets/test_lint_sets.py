"""Sets of third-party manifests: without a fault nothing is reported, with one fault just that, at its line.

A set is a folder. Its `faults.txt` holds changes, each under `=== what is wrong`: lines of `- ` are replaced by the
lines of `+ ` after them, and `@ ` names a line that is not changed. Texts must be found exactly once in the set; `⏎`
is a line break. `# error: CODE` or `# warning: CODE` at the end marks the line where the finding must appear. What one
object shows without the others is an example of its rule, and not here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest
from trainyard.extensions.lint.linter import lint
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.run.outcome import Options

HERE = Path(__file__).parent
SETS = sorted(each for each in HERE.iterdir() if (each / "faults.txt").exists())
MARK = re.compile(r" *# (error|warning|note): ([A-Z]{3}[0-9]{3}) *$")
Reported = tuple[str, str, str, int]


@dataclass
class Change:
    """Text that is replaced, or searched for where ``new`` is ``None``; and what must be reported there."""

    old: str
    new: str | None
    level: str = ""
    code: str = ""
    line: int = 0  # of the mark, counted from the first line of the new text


@dataclass
class Fault:
    folder: Path
    title: str
    changes: list[Change]


def faults(folder: Path) -> Iterator[Fault]:
    for part in re.split(
        r"^=== ", (folder / "faults.txt").read_text(encoding="utf-8"), flags=re.MULTILINE
    )[1:]:
        title, _, body = part.partition("\n")
        yield Fault(folder, title, list(changes(body)))


def changes(body: str) -> Iterator[Change]:
    for found in re.finditer(r"((?:^- .*\n)+)((?:^\+.*\n)*)|^@ (.*)\n", body, re.MULTILINE):
        old, new, place = found.groups()
        text = (place or "\n".join(each[2:] for each in new.splitlines())).replace("⏎", "\n")
        lines = text.split("\n")
        marks = [(index, mark) for index, line in enumerate(lines) if (mark := MARK.search(line))]
        clean = "\n".join(MARK.sub("", line) for line in lines)
        plain = (
            clean if place else "\n".join(each[2:] for each in old.splitlines()).replace("⏎", "\n")
        )
        first = marks[0] if marks else None
        # a mark after several lines of an unchanged place is for its first
        line = 0 if first is None or place else first[0]
        level, code = first[1].groups() if first else ("", "")
        yield Change(plain, None if place else clean, level, code, line)


FAULTS = [each for folder in SETS for each in faults(folder)]


def texts(folder: Path) -> dict[str, str]:
    return {
        each.relative_to(folder).as_posix(): each.read_text(encoding="utf-8")
        for each in sorted(folder.rglob("*"))
        if each.suffix in (".yaml", ".yml", ".json")
    }


def applied(fault: Fault) -> tuple[dict[str, str], list[Reported]]:
    """The files with the fault, and what must be reported."""
    files = texts(fault.folder)
    for change in fault.changes:
        if change.new is not None:
            name = file_with(files, change.old)
            files[name] = replaced(files[name], change.old, change.new)
    expected = []
    for change in fault.changes:
        if change.code:
            text = change.old if change.new is None else change.new
            name = file_with(files, text)
            line = files[name][: files[name].index(text)].count("\n") + 1 + change.line
            expected.append((change.level, change.code, name, line))
    return files, sorted(expected)


def replaced(text: str, old: str, new: str) -> str:
    whole = not new and f"\n{old}\n" in text
    return text.replace(f"\n{old}\n", "\n") if whole else text.replace(old, new)


def file_with(files: dict[str, str], text: str) -> str:
    places = [name for name, content in files.items() for _ in range(content.count(text))]
    assert len(places) == 1, f"{text!r} is in {places}"
    return places[0]


def reported(folder: Path) -> list[Diagnostic]:
    return lint([folder], Options(today=date(2026, 11, 21))).diagnostics


def shown(found: list[Diagnostic], folder: Path) -> list[Reported]:
    return sorted(
        (
            each.severity.name.lower(),
            each.code,
            Path(each.span.file.name).relative_to(folder).as_posix(),
            each.span.line,
        )
        if each.span
        else (each.severity.name.lower(), each.code, "?", 0)
        for each in found
    )


@pytest.mark.parametrize("folder", SETS, ids=lambda each: each.name)
def test_a_set_without_fault(folder: Path) -> None:
    found = reported(folder)
    assert shown(found, folder) == [], [each.message for each in found]


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda each: f"{each.folder.name}: {each.title}")
def test_one_fault_is_one_finding(fault: Fault, tmp_path: Path) -> None:
    files, expected = applied(fault)
    assert expected, "no line is marked"
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    found = reported(tmp_path)
    assert shown(found, tmp_path) == expected, [each.message for each in found]
    for each in found:
        assert each.help, each.message
        assert each.severity > Severity.NOTE or each.code == "QUE014"


def parted(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The set without one of its objects, for each object in turn."""
    files = texts(folder)
    for name, text in files.items():
        if name.endswith("kustomization.yaml"):
            continue
        if name.endswith(".json"):
            items = json.loads(text)["items"]
            for index, item in enumerate(items):
                left = {
                    "apiVersion": "v1",
                    "kind": "List",
                    "items": items[:index] + items[index + 1 :],
                }
                yield f"{item['kind']}", {**files, name: json.dumps(left)}
            continue
        parts = re.split(r"^---\n", text, flags=re.MULTILINE)
        for index, part in enumerate(parts):
            kind = re.search(r"kind: (\w+)", part)
            yield (
                kind[1] if kind else "nothing",
                {**files, name: "---\n".join(parts[:index] + parts[index + 1 :])},
            )


@pytest.mark.slow
@pytest.mark.parametrize("folder", SETS, ids=lambda each: each.name)
def test_what_is_elsewhere_is_unknown(folder: Path, tmp_path: Path) -> None:
    """Without any one of its objects, nothing is reported of the others. But where some pools are left, they
    are all there are, so that what is meant for a missing one has no pool; and without Kueue's configuration its
    defaults hold."""
    for number, (kind, files) in enumerate(parted(folder)):
        place = tmp_path / str(number)
        for name, text in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text(text, encoding="utf-8")
        allowed = {"NodePool": {"QUE002", "PLC005", "PLC010"}, "HelmRelease": {"QUE001"}}.get(
            kind, set()
        )
        found = [each for each in reported(place) if each.code not in {"YML019", *allowed}]
        assert found == [], (kind, [(each.code, each.message) for each in found])
