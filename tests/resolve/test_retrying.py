"""How often a job is started again, where its spec does not say so and where it does."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from trainyard.eks.jobs.plan import Runtime

from tests.builders import FSX, manifests_of, plan_of, spec
from tests.running import Command

MPI: dict[str, Any] = {"launcher": {"mpi": {}}, "command": ["mpirun", "python", "t.py"]}
STORAGE = [{"name": "data", "fsxLustre": {"existing": FSX}}]
READ = [{"storage": "data", "path": "/data", "readOnly": True}]


def restarts(**job: Any) -> int | None:
    (runtime,) = plan_of(spec(job={"nodes": 2, **job}, storage=STORAGE)).of(Runtime)
    return runtime.max_restarts


SAVES: dict[str, dict[str, Any]] = {
    "a checkpoint": {"checkpoint": {"path": "/out"}},
    "a storage": {"mounts": [{"storage": "data", "path": "/data"}]},
    "a claim": {
        "volumes": [{"name": "v", "path": "/v", "persistentVolumeClaim": {"claimName": "runs"}}]
    },
    "a bucket in its command": {"args": ["--save", "s3://runs-111122223333/a"]},
    "a bucket in a variable": {"env": {"SAVE_TO": "s3://runs-111122223333/a"}},
    "a bucket in a file": {"files": {"/etc/train.yaml": "save: s3a://runs-111122223333/a"}},
}
SAVES_NOT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "a storage that it only reads": {"mounts": READ},
    "a folder of the node": {"volumes": [{"name": "v", "path": "/v", "emptyDir": {}}]},
    "files that are given": {
        "volumes": [{"name": "v", "path": "/v", "configMap": {"name": "words"}}]
    },
}


@pytest.mark.parametrize("job", SAVES.values(), ids=SAVES)
def test_a_gang_that_may_resume_is_started_again_ten_times(job: dict[str, Any]) -> None:
    assert restarts(**job) == 10


@pytest.mark.parametrize("job", SAVES_NOT.values(), ids=SAVES_NOT)
def test_a_gang_that_begins_at_step_0_is_started_again_three_times(job: dict[str, Any]) -> None:
    assert restarts(**job) == 3
    assert restarts(**job, retries=7) == 7
    assert restarts(**job, maxRestarts=1) == 3


def test_one_node_is_started_again_ten_times() -> None:
    assert restarts(nodes=1) == 10


KINDS: dict[str, tuple[dict[str, Any], str, int]] = {
    "TrainJob": ({}, "maxRestarts", 3),
    "TrainJob by Open MPI": (MPI, "maxRestarts", 3),
    "TrainJob by JAX": ({"launcher": {"jax": {}}, "command": ["python", "t.py"]}, "maxRestarts", 3),
    "JobSet": ({"kind": "JobSet"}, "maxRestarts", 3),
    "PyTorchJob, which counts pods": ({"kind": "PyTorchJob"}, "backoffLimit", 6),
    "MPIJob": ({"kind": "MPIJob", **MPI}, "backoffLimit", 3),
    "RayJob": ({"kind": "RayJob", "command": ["python", "t.py"]}, "backoffLimit", 3),
    "Job, whose pods do not know each other": (
        {"kind": "Job", "command": ["python", "t.py"]},
        "backoffLimitPerIndex",
        10,
    ),
}


@pytest.mark.parametrize(("job", "key", "times"), KINDS.values(), ids=KINDS)
def test_every_kind_and_launcher_has_the_same_default(
    job: dict[str, Any], key: str, times: int
) -> None:
    manifests = manifests_of(spec(job={"nodes": 2, **job}))
    texts = [json.dumps(manifest.body) for manifest in manifests]
    assert any(f'"{key}": {times}' in text for text in texts)


def test_an_acceptance_test_is_not_started_again() -> None:
    """A network that is too slow is so again."""
    job = {"launcher": {"ncclTest": {}}, "image": None, "command": None}
    assert restarts(**job) == 0


def test_explain_says_why_there_are_few() -> None:
    plan = plan_of(spec(job={"nodes": 2}))
    (derived,) = [value for value in plan.derived if value.field == "retries"]
    assert derived.value == "3"
    assert "begins at step 0" in derived.reason


def test_ten_that_are_written_are_found(trainyard: Command, tmp_path: Path) -> None:
    """RUN041 is silent about the default, and speaks at the line of what a job, or all of them, say."""
    path = tmp_path / "spec.yaml"
    text = yaml.safe_dump(spec(job={"nodes": 2}, jobDefaults={"retries": 10}))
    path.write_text(text)
    done = trainyard("check", path)
    place = f"{path}:{text.splitlines().index('    retries: 10') + 1}:14"
    assert "warning[RUN041]: job `train` may restart 10 times, and has nowhere to save" in done.out
    assert place in done.out
    path.write_text(yaml.safe_dump(spec(job={"nodes": 2})))
    assert "RUN041" not in trainyard("check", path).out
