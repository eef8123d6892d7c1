"""Who writes what a help says, in the place that it is about, has a value that the spec takes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from reported import CASES, reported
from running import Command

pytestmark = pytest.mark.slow

WRITES = re.compile(
    r"(?:write(?: it like| one of| it as text, like)?|did you mean|quote it:) `([^`]+)`"
)
"""How a help begins that says the whole of what to write."""
CODES = r"(?:SPC002|SPC005|RES00\d)"
"""Of unknown keys, values of no form, and names of nothing."""
HELPED = re.compile(rf"{CODES} .* → {WRITES.pattern}")


def checked(trainyard: Command, path: Path) -> list[dict[str, Any]]:
    done = trainyard("check", "--format", "json", path.name, cwd=path.parent)
    found: list[dict[str, Any]] = json.loads(done.out)["diagnostics"]
    return found


def followed(lines: list[str], found: dict[str, Any]) -> list[str] | None:
    """The lines of a spec with what the help of a finding says; ``None`` where it says nothing for this place."""
    place = found["place"]
    said = WRITES.match(found["help"])
    if said is None or place["line"] != place["endLine"]:
        return None
    number, first, end = place["line"] - 1, place["column"] - 1, place["endColumn"] - 1
    line = lines[number]
    if line[first] in "{[" or said[1].endswith(":"):
        return None
    return [*lines[:number], line[:first] + said[1] + line[end:], *lines[number + 1 :]]


def is_helped(case: Path) -> bool:
    return any(HELPED.search(line) for line in reported(case))


@pytest.mark.parametrize("case", [*filter(is_helped, CASES)], ids=lambda case: case.stem)
def test_what_a_help_says_to_write_is_taken(case: Path, trainyard: Command, tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    shutil.copytree(case.parent, folder)
    lines = case.read_text(encoding="utf-8").splitlines()
    written = 0
    for each in checked(trainyard, folder / case.name):
        corrected = followed(lines, each)
        if corrected is None or not re.match(CODES, each["code"]):
            continue
        written += 1
        (folder / case.name).write_text("\n".join(corrected), encoding="utf-8")
        place = each["place"]["line"], each["place"]["column"]
        for after in checked(trainyard, folder / case.name):
            at = after["place"]["line"], after["place"]["column"]
            assert at != place or not after["code"].startswith(("SPC", "YML")), (each, after)
    assert written
