"""Many specs at once: what workers settle, and what is left to the process itself."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from builders import spec
from running import Command, snapshot
from trainyard.run.fleet import spread

pytestmark = pytest.mark.slow

CLUSTERS = 16


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_every_index_is_done_or_settled(workers: int) -> None:
    done, verdicts = spread(
        40, lambda index: index * index, lambda value: value or None, workers=workers
    )
    assert verdicts == {index: index * index for index in range(1, 40)}
    assert done[0] == 0  # no verdict, so it is done here
    assert len(done) == (40 if workers == 1 else len(range(0, 40, workers)))
    assert all(value == index * index for index, value in done.items())


def test_workers_are_processes() -> None:
    _, verdicts = spread(16, lambda index: os.getpid(), lambda process: process, workers=2)
    assert len(set(verdicts.values())) == 2


@pytest.mark.parametrize("death", ["exit", "raise", "unfit"])
def test_a_worker_that_dies_leaves_its_share_to_us(death: str) -> None:
    ours = os.getpid()

    def do(index: int) -> object:
        if os.getpid() != ours:
            if death == "exit":
                os._exit(9)
            if death == "raise":
                raise RuntimeError("a worker's own fault")
            return object()  # nothing that marshal takes
        return index

    done, verdicts = spread(16, do, lambda value: value, workers=2)
    assert done == verdicts == {index: index for index in range(16)}


def test_a_fault_is_raised_here() -> None:
    def do(index: int) -> int:
        if index == 15:
            raise ZeroDivisionError
        return index

    with pytest.raises(ZeroDivisionError):
        spread(16, do, lambda value: value, workers=2)


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory, compile_once: Callable[..., None]) -> Path:
    """As many clusters as every core takes a share of, compiled."""
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "specs").mkdir()
    for number in range(CLUSTERS):
        text = yaml.safe_dump(spec(name=f"c{number:02}"), sort_keys=False)
        (folder / "specs" / f"c{number:02}.yaml").write_text(text)
    compile_once(folder, "specs")
    return folder


@pytest.fixture
def fleet(tmp_path: Path, compiled: Path) -> Path:
    """A copy of them."""
    shutil.copytree(compiled, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_many_clusters_are_summed_up(fleet: Path, trainyard: Command) -> None:
    """Names with ``--verbose`` alone, and those that change."""
    before = snapshot(fleet / "generated")
    done = trainyard("compile", "specs", cwd=fleet)
    assert (done.code, done.out, done.err) == (
        0,
        "",
        f"{CLUSTERS} clusters: 0 changed, {CLUSTERS} current\n",
    )
    assert snapshot(fleet / "generated") == before
    assert trainyard("check", "specs", cwd=fleet).err == f"clean: {CLUSTERS} clusters\n"
    assert "c15" in trainyard("check", "--verbose", "specs", cwd=fleet).err
    (fleet / "specs" / "c07.yaml").write_text(
        yaml.safe_dump(spec(name="c07", pool={"nodes": {"max": 8}}, jobs=[]))
    )
    done = trainyard("compile", "--check", "specs", cwd=fleet)
    assert done.code == 3
    assert "generated/c07: not current: " in done.err
    assert f"\n{CLUSTERS} clusters: 1 would change, {CLUSTERS - 1} current\n" in done.err
    assert len(trainyard("compile", "--verbose", "specs", cwd=fleet).err.splitlines()) > CLUSTERS


def test_one_finding_among_many(fleet: Path, trainyard: Command) -> None:
    """A fault, an edited file and a foreign one are found in whichever share they lie."""
    for name in ("c04", "c11"):
        (fleet / "specs" / f"{name}.yaml").write_text(
            yaml.safe_dump(spec(name=name, job={"pool": "nowhere"}))
        )
    done = trainyard("compile", "specs", cwd=fleet)
    assert done.code == 1
    assert re.findall(r"error\[RES011\]: .*\n  --> specs/(c\d\d)", done.out) == ["c04", "c11"]
    for name in ("c04", "c11"):
        (fleet / "specs" / f"{name}.yaml").write_text(yaml.safe_dump(spec(name=name)))
        (fleet / "generated" / name / "notes.txt").write_text("mine")
    done = trainyard("compile", "specs", cwd=fleet)
    assert re.findall(r"warning\[OUT006\]: `generated/(c\d\d)/notes.txt`", done.out) == [
        "c04",
        "c11",
    ]


def test_nothing_waits_for_the_disk(
    fleet: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tree can be made again at any time, so no file of it is synced."""
    for name in ("fsync", "sync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda *_: pytest.fail("synced"))
    (fleet / "specs" / "c07.yaml").write_text(
        yaml.safe_dump(spec(name="c07", pool={"nodes": {"max": 8}}, jobs=[]))
    )
    assert trainyard("compile", "specs", cwd=fleet).code == 0
