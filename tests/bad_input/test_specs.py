"""Specs with one fault each. A comment on the line says which code must be reported there, and no other may be; the
comments at the end say the words: place, code, fact, help, label, notes and other places, as people read them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from reported import CASES, reported, words
from running import SPECS, Command, marks, snapshot


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An output folder that holds what a good spec compiled to."""
    from trainyard.cli.main import main

    folder = tmp_path_factory.mktemp("output")
    assert (
        main(["compile", "-q", str(SPECS / "starter.yaml"), "-o", str(folder / "generated")]) == 0
    )
    return folder


def test_every_case_of_the_list_is_here() -> None:
    """The issue's list of bad input, as far as it is about a spec's text."""
    assert {
        "syntax-error",
        "duplicate-key",
        "alias-bomb",
        "unknown-key",
        "wrong-type",
        "region-for-a-zone",
        "unknown-type",
        "zone-outside-the-region",
        "accelerators-above-the-type",
        "efa-above-the-type",
        "request-above-allocatable",
        "gang-above-the-pool",
        "quota-above-capacity",
        "two-zones-with-efa",
        "undeclared-queue",
        "undeclared-pool",
        "undeclared-storage",
        "undeclared-namespace",
        "placement-group-with-block",
        "reserved-without-reservation",
    } <= {case.stem for case in CASES}


@pytest.mark.needs("forecast")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_each_fault_is_reported_on_its_line(case: Path, trainyard: Command) -> None:
    """Exactly the marked codes on exactly their lines, in these words."""
    done = trainyard("check", "--format", "json", case.name, cwd=case.parent)
    found = json.loads(done.out)["diagnostics"]
    assert sorted(
        (each["place"]["file"], each["place"]["line"], each["code"]) for each in found
    ) == marks(case)
    assert words(found) == reported(case)
    assert done.code == 1


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_nothing_is_written(case: Path, trainyard: Command, written: Path) -> None:
    """Not a byte and not a time of the output changes, nor does anything appear beside it."""
    text = case.read_text(encoding="utf-8").replace("name: bad", "name: starter")
    spec = written / case.name
    spec.write_text(text, encoding="utf-8")
    before = snapshot(written)
    done = trainyard("compile", "-o", "generated", case.name, cwd=written)
    assert done.code == 1
    assert "nothing was written" in done.err
    assert snapshot(written) == before
    spec.unlink()


@pytest.mark.slow
def test_a_fault_in_one_spec_keeps_all_from_being_written(
    trainyard: Command, tmp_path: Path
) -> None:
    """A folder with a good and a bad spec writes neither."""
    shutil.copy(SPECS / "starter.yaml", tmp_path)
    shutil.copy(CASES[0].parent / "unknown-type.yaml", tmp_path)
    assert trainyard("compile", "-o", "generated", ".", cwd=tmp_path).code == 1
    assert not (tmp_path / "generated").exists()
