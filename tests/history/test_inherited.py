"""What a job inherits is part of its words: an edit of it is an edit of every job that has it from there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import JOB, spec
from running import Command

from history.folder import codes, compiled, runs, train_jobs

pytestmark = pytest.mark.slow


def data(jobs: list[dict[str, Any]], **parts: Any) -> dict[str, Any]:
    return spec(jobs=jobs, **parts)


def only(*keys: str) -> dict[str, Any]:
    return {key: JOB[key] for key in keys}


@pytest.fixture
def folder(tmp_path: Path, trainyard: Command) -> Path:
    """A folder with two jobs that were submitted, each with all its words."""
    jobs = [{**JOB, "nodes": 2}, {**JOB, "name": "second", "nodes": 2, "env": {"A": "b"}}]
    assert compiled(tmp_path, trainyard, data(jobs)).code == 0
    return tmp_path


def test_the_same_words_from_elsewhere_are_no_other_run(folder: Path, trainyard: Command) -> None:
    before, remembered = train_jobs(folder), runs(folder)
    defaults = {**only("image", "command"), "nodes": 2}
    short = [{"name": "train"}, {"name": "second", "extends": "train", "env": {"A": "b"}}]
    done = compiled(folder, trainyard, data(short, jobDefaults=defaults))
    assert done.code == 0, done.out
    assert train_jobs(folder) == before
    assert runs(folder) == remembered


def test_an_edit_of_the_defaults_asks_for_another_run_of_each(
    folder: Path, trainyard: Command
) -> None:
    defaults = {**only("command"), "image": "registry.test/train:2.0", "nodes": 2}
    short = [{"name": "train"}, {"name": "second", "env": {"A": "b"}}]
    done = compiled(folder, trainyard, data(short, jobDefaults=defaults))
    assert done.code == 1
    assert codes(done) == {"RES030"}
    assert done.out.count("error[RES030]") == 2
    line = (
        (folder / "spec.yaml").read_text().splitlines().index("    image: registry.test/train:2.0")
    )
    assert done.out.count(f"spec.yaml:{line + 1}:") == 2
