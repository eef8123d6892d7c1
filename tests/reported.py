"""What is reported of broken specs and manifests, as their last comments; ``python tests/reported.py`` rewrites them.

The marks (`# error: CODE`) on the lines are written by hand: they say what must be reported; these say how it reads.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from running import without_hashes

HERE = Path(__file__).parent
CASES = sorted((HERE / "bad_input" / "cases").glob("*.yaml"))
SPECS = sorted((HERE / "policy" / "faults" / "specs").glob("*.yaml"))
MANIFESTS = sorted((HERE / "policy" / "faults" / "manifests").glob("*.yaml"))
REPORTED = "# reported: "


def reported(path: Path) -> list[str]:
    """What the comments of a case say."""
    return [
        line.removeprefix(REPORTED)
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(REPORTED)
    ]


def words(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Findings (of ``--format json``) as the comments have them; the hash in the name of a job's object is left out."""
    return [without_hashes(_words(each)) for each in found]


def _words(found: Mapping[str, Any]) -> str:
    place = found["place"]
    lines = [
        f"{place['line']}:{place['column']}-{_until(place)} {found['code']} {found['message']}"
        f" → {found['help']}"
    ]
    if found["label"]:
        lines.append(f"label: {found['label']}")
    lines += [f"note: {note}" for note in found["notes"]]
    for other in found["related"]:
        at = other["place"]
        lines.append(f"{at['line']}:{at['column']}-{_until(at)} {other['label']}")
    return " | ".join(lines)


def _until(place: Mapping[str, Any]) -> str:
    """Where a place ends: its column, and its line where that is another."""
    if place["endLine"] == place["line"]:
        return f"{place['endColumn']}"
    return f"{place['endLine']}:{place['endColumn']}"


def main() -> None:
    """Every case as it is reported now."""
    for path in (*CASES, *SPECS):
        _rewrite(path, "check")
    for path in MANIFESTS:
        _rewrite(path, "lint")


def _rewrite(path: Path, verb: str) -> None:
    command = [sys.executable, "-m", "trainyard", verb, "--format", "json", path.name]
    done = subprocess.run(
        command, cwd=path.parent, capture_output=True, encoding="utf-8", check=False
    )
    lines = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.startswith(REPORTED)
    ]
    lines += [REPORTED + each for each in words(json.loads(done.stdout)["diagnostics"])]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
