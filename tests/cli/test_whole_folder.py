"""A file of a cluster's folder stands for the whole cluster, in every command that takes specs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from merging import git
from running import EXAMPLE, Command, contents

pytestmark = pytest.mark.slow

JOB = "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingJob\nmetadata: {name: second}\n"
SPEC = "SPEC"
COMMANDS = (
    "compile SPEC --check",
    "check SPEC",
    "plan SPEC --base HEAD",
    "report SPEC",
    "report SPEC --against generated",
    "simulate SPEC",
    "simulate SPEC --timeline",
    "fit SPEC",
    "failures SPEC",
    "drill SPEC",
    "status SPEC",
    "drift SPEC",
    "explain job/second --in SPEC",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, compile_once: Callable[..., None]) -> Path:
    root = tmp_path_factory.mktemp("whole")
    home = root / "specs" / "starter"
    (home / "jobs").mkdir(parents=True)
    whole = (EXAMPLE / "specs/starter.yaml").read_text()
    (home / "cluster.yaml").write_text(whole)
    (home / "jobs" / "second.yaml").write_text(
        f"{JOB}spec: {{nodes: 1, timeout: 1h, command: [python, train.py], image: {_image(whole)}}}\n"
    )
    compile_once(root)
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    return root


def _image(spec: str) -> str:
    return spec.partition('image: "')[2].partition('"')[0]


@pytest.mark.parametrize("words", COMMANDS)
def test_each_command_reads_the_whole_cluster(words: str, folder: Path, trainyard: Command) -> None:
    whole = trainyard(*words.replace(SPEC, "specs/starter").split(), cwd=folder)
    for name in ("cluster.yaml", "jobs/second.yaml"):
        part = trainyard(*words.replace(SPEC, f"specs/starter/{name}").split(), cwd=folder)
        assert (part.code, part.out, part.err) == (whole.code, whole.out, whole.err)


def test_naming_the_file_of_the_cluster_removes_nothing(folder: Path, trainyard: Command) -> None:
    before = contents(folder / "generated")
    for name in ("cluster.yaml", "jobs/second.yaml"):
        assert trainyard("compile", f"specs/starter/{name}", cwd=folder).code == 0
        assert contents(folder / "generated") == before


@pytest.mark.parametrize("name", ["cluster.yaml", "jobs/second.yaml"])
@pytest.mark.parametrize("place", ["link.yaml", "else/where/link.yaml"])
def test_a_link_to_a_file_stands_for_the_whole_cluster(
    name: str, place: str, folder: Path, trainyard: Command
) -> None:
    link = folder / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(folder / "specs/starter" / name)
    try:
        part = trainyard("simulate", place, cwd=folder)
    finally:
        link.unlink()
    whole = trainyard("simulate", "specs/starter", cwd=folder)
    assert "hello" in whole.out
    assert "second" in whole.out
    assert (part.code, part.out, part.err) == (whole.code, whole.out, whole.err)
