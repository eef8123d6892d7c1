"""Reports of the examples, whole: every section, every number and what it is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.report.whole import FOLDER, REPORTED, pages

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("spec", REPORTED, ids=lambda spec: spec.stem)
def test_a_report_reads_as_it_did(spec: Path) -> None:
    for path, text in pages(spec).items():
        assert text == path.read_text(encoding="utf-8"), "`python -m tests.report.whole` writes it"


def test_no_other_report_is_there() -> None:
    known = {f"{spec.stem}{suffix}" for spec in REPORTED for suffix in (".md", ".why.txt")}
    assert {path.name for path in FOLDER.iterdir()} == known
