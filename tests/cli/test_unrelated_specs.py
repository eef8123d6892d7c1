"""Who asks about one job, or one thing of a spec, is not stopped by what is wrong with the spec of another cluster."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import ROOT
from running import Command
from trainyard.cli.explain import object_names
from trainyard.run.outcome import Options

OTHERS = {
    "not YAML": "a: [1\n",
    "no document of ours": "kind: Pod\n",
    "an unknown key": "apiVersion: trainyard.dev/v1alpha1\nkind: TrainingCluster\nmetadata: {name: x}\nspeck: 1\n",
    "an unknown type": (ROOT / "specs/starter.yaml")
    .read_text()
    .replace("name: starter", "name: other")
    .replace("g6e.48xlarge", "g6z.48xlarge")
    .replace("name: hello", "name: wrong"),
}
COMMANDS = {
    "failures --job hello": "hello in starter: 2 nodes",
    "fit --job llama3-8b-fsdp": "llama3-8b-fsdp in seoul-llm: 4 × p4d.24xlarge",
    "explain job/hello": "job/hello in starter",
    "debug hello --print": "# kubectl wait job/debug-hello",
}


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    (tmp_path / "specs").mkdir()
    for name in ("starter.yaml", "llama3-8b.yaml"):
        (tmp_path / "specs" / name).write_bytes((ROOT / "specs" / name).read_bytes())
    return tmp_path


@pytest.mark.needs("review", "forecast", "operate")
@pytest.mark.parametrize("words", COMMANDS)
@pytest.mark.parametrize("fault", OTHERS)
def test_another_spec_in_error_stops_nobody(
    words: str, fault: str, trainyard: Command, specs: Path
) -> None:
    (specs / "specs" / "other.yaml").write_text(OTHERS[fault])
    done = trainyard(*words.split(), cwd=specs)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(COMMANDS[words])


@pytest.mark.needs("review", "forecast", "operate")
@pytest.mark.parametrize("command", ["failures", "fit"])
@pytest.mark.parametrize("job", ["wrong", "nowhere"])
def test_a_job_that_may_be_in_it_is_told_what_is_wrong(
    command: str, job: str, trainyard: Command, specs: Path
) -> None:
    (specs / "specs" / "other.yaml").write_text(OTHERS["an unknown type"])
    done = trainyard(command, "--job", job, cwd=specs)
    assert done.code != 0
    assert ("RES005" in done.err) or f"`--job {job}`" in done.err


@pytest.mark.needs("review", "forecast", "operate")
@pytest.mark.parametrize("path", sorted((ROOT / "specs").iterdir()), ids=lambda path: path.stem)
def test_each_thing_that_a_spec_names_is_explained(path: Path, trainyard: Command) -> None:
    """By its derived values; where there are none, by what is written for it."""
    names = [
        each for each in object_names([str(path)], Options(explained=True)) if each.count("/") == 1
    ]
    named = [each for each in names if each.partition("/")[0] in ("storage", "secret", "priority")]
    for name in named or names[:1]:
        done = trainyard("explain", name, "--in", path)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(f"{name} in ")


@pytest.mark.needs("review", "forecast", "operate")
def test_a_storage_of_which_nothing_is_derived(trainyard: Command) -> None:
    """A file system that exists, and a priority: the objects that are made of it."""
    for name, made in (
        ("storage/checkpoints", "PersistentVolumeClaim/team-a/checkpoints"),
        ("priority/production", "WorkloadPriorityClass/production"),
    ):
        done = trainyard("explain", name, "--in", ROOT / "specs" / "llama3-8b.yaml")
        assert (done.code, done.err) == (0, "")
        head, *lines = done.out.splitlines()
        assert head.startswith(f"{name} in seoul-llm, ")
        assert head.endswith(", from which no value is derived")
        assert [each for each in lines if each.startswith(f"  {made}: ")]
