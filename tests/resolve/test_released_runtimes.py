"""A training runtime of Trainer's release, used as it is."""

from __future__ import annotations

from itertools import starmap
from pathlib import Path
from typing import Any, get_args

import pytest
from builders import FSX, body_of, job_of, manifests_of, objects_of, plan_of, resolved, spec
from history.folder import write
from running import Command
from trainyard.catalog import load_catalog
from trainyard.catalog.runtimes import released_runtimes
from trainyard.core.jobs.spec import Job
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.judge.model.reading import Reading
from trainyard.lift import lift
from trainyard.output.manifest import ObjectRef
from trainyard.verify import verify

STORAGE = [{"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}]
IMAGE = "registry.test/train:1.0"
NAMES = sorted(
    name for choice in get_args(Job.model_fields["runtime"].annotation) for name in get_args(choice)
)


def stock(name: str = "torch-distributed", **job: Any) -> dict[str, Any]:
    """A spec whose job uses a released runtime, with what a job has beside."""
    base: dict[str, Any] = {
        "runtime": name,
        "image": IMAGE,
        "command": ["python", "train.py"],
        "mounts": [{"storage": "data", "path": "/data"}],
        "secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}],
        "volumes": [{"name": "scratch", "path": "/scratch", "emptyDir": {}}],
        "annotations": {"example.com/owner": "research"},
        "imagePullSecrets": ["registry"],
    }
    return spec(job={**base, **job}, storage=STORAGE)


@pytest.mark.parametrize("name", NAMES)
class TestEveryOne:
    def test_it_is_written_word_for_word(self, name: str) -> None:
        release = released_runtimes()[name]
        objects = manifests_of(stock(name))
        body = body_of(objects, "ClusterTrainingRuntime", f"{name}-{release.version}")
        assert body["spec"] == release.body["spec"]
        label = "trainer.kubeflow.org/framework"
        released = release.body["metadata"]["labels"][label]
        assert body["metadata"]["labels"][label] == released

    def test_what_is_written_is_sound_and_reads_back(self, name: str) -> None:
        plan = plan_of(stock(name))
        objects = objects_of(plan)
        external = frozenset(starmap(ObjectRef, plan.external))
        assert verify(objects, external=external) == []
        lifted = lift(objects, closed=True)
        assert lifted.of(TrainJob) == plan.of(TrainJob)
        assert lifted.of(Runtime) == plan.of(Runtime)

    def test_the_job_says_what_the_runtime_lacks(self, name: str) -> None:
        lifted = lift(objects_of(plan_of(stock(name))), closed=True)
        (work,) = Reading(lifted, load_catalog()).works
        assert work.accelerator == ("nvidia.com/gpu", 8)
        assert work.claims == {"data"}
        assert [pool.name for pool in work.pools] == ["gpu"]
        assert work.main is not None
        assert [mount.path for mount in work.main.mounts] == ["/dev/shm", "/scratch", "/data"]
        assert work.pod is not None
        assert work.pod.service_account == "training"
        assert work.pod.pull_secrets == ("registry",)
        assert work.pod.annotations["example.com/owner"] == "research"

    def test_its_image_is_the_jobs_unless_that_names_one(self, name: str) -> None:
        body = released_runtimes()[name].body
        (job,) = body["spec"]["template"]["spec"]["replicatedJobs"]
        (container,) = job["template"]["spec"]["template"]["spec"]["containers"]
        alone = stock(name, image=None, nodes=1)
        assert job_of(alone).image == container["image"]
        assert job_of(stock(name)).image == IMAGE


def test_jobs_share_it() -> None:
    data = stock()
    data["spec"]["jobs"].append({**data["spec"]["jobs"][0], "name": "other"})
    (runtime,) = plan_of(data).of(Runtime)
    assert {job.runtime for job in plan_of(data).of(TrainJob)} == {runtime.name}


def test_nothing_that_kueue_drops_is_patched() -> None:
    """The grace period (RUN004): the job would be admitted and never start."""
    job = job_of(stock(checkpoint={"path": "/data/out"}))
    (patch,) = job.patches
    assert patch.pod.grace_seconds is None
    assert patch.pod.restart_policy is None


def test_what_the_patch_says_is_part_of_the_jobs_name() -> None:
    names = {
        job_of(stock()).name,
        job_of(stock(imagePullSecrets=["other"])).name,
        job_of(stock(annotations={})).name,
    }
    assert len(names) == 3


@pytest.mark.parametrize(
    ("job", "code"),
    [
        ({"workingDir": "/w"}, "RES205"),
        ({"terminationGracePeriod": "5m"}, "RES205"),
        ({"retries": 2}, "RES205"),
        ({"files": {"/etc/a": "b"}}, "RES205"),
        ({"initContainers": [{"name": "a", "command": ["a"]}]}, "RES205"),
        ({"launcher": {"jax": {}}}, "RES205"),
        ({"kind": "PyTorchJob"}, "RES207"),
    ],
)
def test_what_a_train_job_cannot_say_is_an_error(job: dict[str, Any], code: str) -> None:
    assert [fault.code for fault in resolved(stock(**job))[1]] == [code]


def test_another_trainer_has_another_runtime() -> None:
    data = stock()
    data["spec"]["components"] = {"trainer": {"version": "2.2.1"}}
    assert [fault.code for fault in resolved(data)[1]] == ["RES206"]


@pytest.mark.slow
def test_a_run_stays_as_it_was_submitted(tmp_path: Path, trainyard: Command) -> None:
    write(tmp_path, stock())
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    write(tmp_path, stock(env={"A": "1"}))
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert "error[RES030]: job `train` was submitted as" in done.out
    write(tmp_path, stock(env={"A": "1"}, rerun=1))
    assert trainyard("compile", "spec.yaml", cwd=tmp_path).code == 0
    runtimes = tmp_path / "generated/lab/queues/runtimes"
    assert [path.name for path in runtimes.iterdir()] == [
        "clustertrainingruntime-torch-distributed-2.3.0.yaml"
    ]
