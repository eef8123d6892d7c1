"""The files of a run stay as long as it goes on: pods that JobSet makes anew mount them again."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import JOB, spec
from running import Command, contents
from trainyard.core.jobs import settled
from trainyard.eks.runs import resolve as resolve_jobs
from trainyard.language.units import Quantity

from history.folder import codes, compiled, only_object

pytestmark = pytest.mark.slow

FILES = {"/workspace/train.yaml": "epochs: 3\n"}
OTHER = {**JOB, "name": "second", "nodes": 1}


def config_maps(folder: Path) -> dict[str, bytes]:
    """The files of jobs in the output."""
    found = contents(folder / "generated" / "lab")
    return {path: data for path, data in found.items() if "configmap-files-" in path}


@pytest.fixture
def folder(tmp_path: Path, trainyard: Command) -> Path:
    """A folder with a job with files that was submitted, and one without."""
    jobs = [{**JOB, "files": FILES}, OTHER]
    assert compiled(tmp_path, trainyard, spec(jobs=jobs)).code == 0
    assert len(config_maps(tmp_path)) == 1
    return tmp_path


def test_an_edit_of_a_file_is_another_run(folder: Path, trainyard: Command) -> None:
    changed = {**JOB, "files": {"/workspace/train.yaml": "epochs: 4\n"}}
    done = compiled(folder, trainyard, spec(jobs=[changed, OTHER]))
    assert codes(done) == {"RES030"}
    before = config_maps(folder)
    done = compiled(folder, trainyard, spec(jobs=[{**changed, "rerun": 1}, OTHER]))
    assert done.code == 0, done.out
    after = config_maps(folder)
    assert len(after) == 2
    assert before.items() <= after.items()


def test_the_files_of_a_job_that_left_stay_until_it_has_ended(
    folder: Path, trainyard: Command
) -> None:
    before = config_maps(folder)
    name = only_object(folder, "train")
    done = compiled(folder, trainyard, spec(jobs=[OTHER]))
    assert done.code == 0, done.out
    assert config_maps(folder) == before
    done = compiled(folder, trainyard, spec(jobs=[OTHER], completedRuns=[name]))
    assert done.code == 0, done.out
    assert config_maps(folder) == {}


def test_a_job_that_stays_as_it_was_submitted_keeps_its_files(
    folder: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another Trainyard names files otherwise, and derives another runtime."""
    before = config_maps(folder)
    made = resolve_jobs.file_set

    def renamed(job: resolve_jobs.Job) -> resolve_jobs.FileSet | None:
        found = made(job)
        if found is None:
            return None
        return resolve_jobs.replace(found, name=found.name.replace("files-", "files-x"))

    monkeypatch.setattr(resolve_jobs, "file_set", renamed)
    monkeypatch.setattr(settled, "shared_memory", lambda *_: Quantity.parse("1Gi"))
    done = trainyard("compile", "spec.yaml", cwd=folder)
    assert done.code == 0, done.out
    assert codes(done) == {"RES036"}
    assert before.items() <= config_maps(folder).items()
