"""What stands in the committed folder and cannot be read, and folders that are links to others."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from builders import FSX, spec
from running import Command

pytestmark = pytest.mark.slow


@pytest.fixture
def lab(tmp_path: Path, trainyard: Command) -> Path:
    """A repository with a spec, and what it compiles to."""
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec()))
    assert trainyard("compile", "lab.yaml", cwd=tmp_path).code == 0
    return tmp_path


def test_an_index_that_is_none_is_an_error(lab: Path, trainyard: Command) -> None:
    index = lab / "generated" / "lab" / ".manifest.json"
    before = index.read_bytes()
    for data in (b"\xff", b"[]", b"{"):
        index.write_bytes(data)
        done = trainyard("check", "lab.yaml", cwd=lab)
        assert done.code == 1
        assert "error[CHG031]" in done.out
        assert trainyard("compile", "lab.yaml", cwd=lab).code == 1
        assert index.read_bytes() == data
    index.write_bytes(before)
    assert trainyard("check", "lab.yaml", cwd=lab).code == 0


def test_a_folder_in_the_place_of_a_file_is_an_error(lab: Path, trainyard: Command) -> None:
    (job,) = (lab / "generated" / "lab" / "jobs").glob("*.trainjob-*.yaml")
    job.unlink()
    job.mkdir()
    done = trainyard("check", "lab.yaml", cwd=lab)
    assert done.code == 1
    assert f"{job.name}` cannot be read: it is a folder" in done.out


def test_a_linked_folder_of_the_output_is_an_error(lab: Path, trainyard: Command) -> None:
    jobs = lab / "generated" / "lab" / "jobs"
    jobs.rename(lab / "elsewhere")
    jobs.symlink_to(lab / "elsewhere")
    done = trainyard("check", "lab.yaml", cwd=lab)
    assert done.code == 1
    assert "jobs` cannot be read: it is a symbolic link" in done.out


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_an_error(lab: Path, trainyard: Command) -> None:
    (job,) = (lab / "generated" / "lab" / "jobs").glob("*.trainjob-*.yaml")
    job.chmod(0)
    done = trainyard("check", "lab.yaml", cwd=lab)
    assert done.code == 1
    assert "cannot be read: permission denied" in done.out


@pytest.mark.parametrize("link", ["generated", "generated/lab"])
def test_a_link_is_not_followed(link: str, tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec()))
    outside = tmp_path / "outside"
    outside.mkdir()
    place = tmp_path / link
    place.parent.mkdir(exist_ok=True)
    place.symlink_to(outside)
    done = trainyard("compile", "lab.yaml", cwd=tmp_path)
    assert done.code == 2
    assert "error[OUT003]" in done.out
    assert list(outside.iterdir()) == []


COMMITTED = {
    "job": "jobs/*.trainjob-*.yaml",
    "runtime": "queues/runtimes/*.yaml",
    "volume": "platform/persistentvolume-*.yaml",
    "claim": "platform/*.persistentvolumeclaim-*.yaml",
    "pool": "platform/nodepool-*.yaml",
    "flavor": "queues/resourceflavor-*.yaml",
    "stage": "flux/kustomization-trainyard-jobs.yaml",
    "cluster": "bootstrap/eksctl.yaml",
}


@pytest.mark.parametrize("pattern", COMMITTED.values(), ids=COMMITTED)
def test_what_was_edited_by_hand_may_be_anything(
    pattern: str, tmp_path: Path, trainyard: Command
) -> None:
    """A merge may leave anything behind: what is found of it is said, and the files are made anew."""
    storage = [{"name": "data", "fsxLustre": {"existing": FSX}}]
    job = {"mounts": [{"storage": "data", "path": "/data"}]}
    before, after = spec(storage=storage, job=job), spec(storage=storage, jobs=[])
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(before))
    assert trainyard("compile", "lab.yaml", cwd=tmp_path).code == 0
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(after))
    (file, *_) = sorted((tmp_path / "generated" / "lab").glob(pattern))
    text = file.read_text()
    mark = text.partition("\n")[0]
    body = yaml.safe_load(text)
    named = {key: body[key] for key in ("apiVersion", "kind", "metadata")}
    of_other_shape = {**body["metadata"], "labels": 3, "annotations": [1]}
    for edited in (
        {"kind": 3, "metadata": 3, "spec": 3},
        named,
        {**named, **dict.fromkeys(body.keys() - named.keys(), 3)},
        {**body, "metadata": of_other_shape},
    ):
        file.write_text(f"{mark}\n{yaml.safe_dump(edited)}")
        for data in (before, after):
            (tmp_path / "lab.yaml").write_text(yaml.safe_dump(data))
            done = trainyard("check", "lab.yaml", cwd=tmp_path)
            assert done.code in (0, 1), done.err
            assert "INT000" not in done.err
