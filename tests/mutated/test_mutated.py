"""A short run of ``python -m tests.mutated``, and every input that failed once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutated.inputs import inputs
from tests.mutated.judging import Judge
from tests.mutated.seeds import Seed, all_seeds

pytestmark = pytest.mark.slow

KEPT = sorted(Path(__file__).with_name("kept").glob("*/*.yaml"))
INPUTS = 250


@pytest.mark.parametrize("seed", [1, 2])
def test_mutated_inputs_are_judged_without_a_crash(seed: int, tmp_path: Path) -> None:
    judge = Judge(tmp_path)
    problems = []
    for number, start, data in inputs(all_seeds(), seed, 0, INPUTS, 0.2):
        problem = judge.problem(start, data)
        if problem is not None:
            problems.append(f"{start.name}, input {number}: {problem.text}")
    assert problems == []


@pytest.mark.parametrize("file", KEPT, ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_what_failed_once_does_not_fail_again(file: Path, tmp_path: Path) -> None:
    seed = Seed(file.parent.name, file.name, "")
    assert Judge(tmp_path).problem(seed, file.read_bytes()) is None


def test_a_crash_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crashing(*_: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("tests.mutated.judging.lint", crashing)
    problem = Judge(tmp_path).problem(Seed("lint", "a.yaml", ""), b"a: 1")
    assert problem is not None
    assert problem.about.startswith("KeyError at")


def test_an_input_that_takes_too_long_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: object) -> None:
        while True:
            pass

    monkeypatch.setattr("tests.mutated.judging.lint", endless)
    monkeypatch.setattr("tests.mutated.judging.PATIENCE", 0.2)
    problem = Judge(tmp_path).problem(Seed("lint", "a.yaml", ""), b"a: 1")
    assert problem is not None
    assert problem.about.startswith("slow at")


def test_an_input_is_made_again_by_its_number() -> None:
    seeds = all_seeds()
    whole = [data for _, _, data in inputs(seeds, 3, 0, 8, 0.5)]
    rest = [data for _, _, data in inputs(seeds, 3, 5, 3, 0.5)]
    assert rest == whole[5:]
