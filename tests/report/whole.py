"""The reports of some specs as they read, with what each number is made of; ``python -m tests.report.whole`` writes
them again, into ``tests/report/whole/``."""

from __future__ import annotations

import io
from contextlib import chdir, redirect_stdout
from datetime import date
from pathlib import Path
from unittest import mock

from tests.running import EXAMPLE, ROOT, SPECS, without_hashes

FOLDER = Path(__file__).with_suffix("")
SCENARIOS = ROOT / "tests" / "scenarios"
REPORTED = (
    SPECS / "hyperpod-lora.yaml",
    SPECS / "jakarta-slurm.yaml",
    SPECS / "two-teams.yaml",
    SCENARIOS / "observed.yaml",
    SCENARIOS / "gpt-70b-for-three-days.yaml",
    SCENARIOS / "zero3-offloaded-on-four-nodes.yaml",
)
DAY = date(2026, 11, 28)


class _Day(date):
    """A clock that stands still."""

    @classmethod
    def today(cls) -> date:
        return DAY


def shown(spec: Path, *options: str) -> str:
    """What `report` prints of a spec on a certain day; the hash in the name of a job's object is left out."""
    from trainyard.cli.main import main

    printed = io.StringIO()
    with chdir(EXAMPLE), redirect_stdout(printed), mock.patch("trainyard.cli.settings.date", _Day):
        assert main(["report", str(spec), *options]) == 0
    return without_hashes(printed.getvalue())


def pages(spec: Path) -> dict[Path, str]:
    """The report of a spec, and the reasons of its numbers, by their files."""
    return {
        FOLDER / f"{spec.stem}.md": shown(spec),
        FOLDER / f"{spec.stem}.why.txt": shown(spec, "--why", ""),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in REPORTED:
        for path, text in pages(each).items():
            path.write_text(text, encoding="utf-8")
