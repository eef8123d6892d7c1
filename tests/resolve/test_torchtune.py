"""torchtune with what a released runtime of Trainer brings."""

from __future__ import annotations

import json
from itertools import starmap
from pathlib import Path
from typing import Any, get_args

import pytest
from builders import FSX, job_of, objects_of, plan_of, resolved, spec
from running import Command
from trainyard.catalog.runtimes import released_runtimes
from trainyard.core.jobs.launchers.torchtune.spec import Torchtune
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.lift import lift
from trainyard.output.manifest import ObjectRef
from trainyard.verify import verify

LUSTRE = {"name": "scratch", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}
MOUNTS = [{"storage": "scratch", "path": "/data"}]
LLAMA = "torchtune-llama3.2-1b"


def tuned(runtime: str = LLAMA, **job: Any) -> dict[str, Any]:
    launcher = {"torchtune": {"runtime": runtime, "secret": "hf-token"}}
    base = {"image": None, "command": None, "mounts": MOUNTS, "launcher": launcher}
    return spec(job={**base, **job}, storage=[LUSTRE])


def test_the_runtimes_are_those_of_the_catalog() -> None:
    named = get_args(Torchtune.model_fields["runtime"].annotation)
    released = [name for name in released_runtimes() if name.startswith("torchtune-")]
    assert sorted(named) == sorted(released)


@pytest.mark.parametrize("runtime", get_args(Torchtune.model_fields["runtime"].annotation))
def test_every_one_makes_a_sound_job(runtime: str) -> None:
    plan = plan_of(tuned(runtime))
    objects = objects_of(plan)
    external = frozenset(starmap(ObjectRef, plan.external))
    assert verify(objects, external=external) == []
    lifted = lift(objects, closed=True)
    assert lifted.of(TrainJob) == plan.of(TrainJob)
    assert lifted.of(Runtime) == plan.of(Runtime)


def test_it_brings_image_command_model_and_dataset() -> None:
    job = job_of(tuned())
    version = released_runtimes()[LLAMA].version
    assert job.image == f"ghcr.io/kubeflow/trainer/torchtune-trainer:v{version}"
    assert job.command[:3] == ("tune", "run", "--rdzv_backend=c10d")
    assert job.command[3:6] == ("full_finetune_distributed", "--config", "llama3_2/1B_full")
    uris = {source.name: source.uri for source in job.initializers}
    assert uris == {
        "dataset": "hf://tatsu-lab/alpaca",
        "model": "hf://meta-llama/Llama-3.2-1B-Instruct",
    }
    secrets = {source.name: source.secret for source in job.initializers}
    assert secrets == {"dataset": None, "model": "hf-token"}


def test_nodes_meet_at_the_first_one() -> None:
    """The released command names each node's own machine."""
    job = job_of(tuned())
    assert not any("localhost" in word for word in job.command)
    values = {variable.name: variable.value for variable in job.env}
    assert values["PET_RDZV_ENDPOINT"].startswith(f"{job.name}-node-0-0.")  # type: ignore[union-attr]
    assert "PET_RDZV_BACKEND" not in values


def test_a_job_says_itself_what_it_wants_otherwise() -> None:
    own = {
        "image": "registry.test/tune:1.0",
        "args": ["epochs=3"],
        "initializer": {"model": {"storageUri": "s3://models/llama"}},
    }
    job = job_of(tuned(**own))
    assert job.image == "registry.test/tune:1.0"
    assert job.args == ("epochs=3",)
    assert [source.uri for source in job.initializers] == ["s3://models/llama"]


def test_its_own_image_has_no_plugin_for_efa(tmp_path: Path, trainyard: Command) -> None:
    """Reported where the runtime is named, unless the job brings an image."""
    path = tmp_path / "spec.yaml"
    path.write_text(json.dumps(tuned(nodes=2)), encoding="utf-8")
    said = trainyard("check", "--format", "json", path.name, cwd=tmp_path).out
    faults = json.loads(said)["diagnostics"]
    assert "RUN120" in {fault["code"] for fault in faults}
    own = tuned(nodes=2, image="registry.test/tune:1.0")
    path.write_text(json.dumps(own), encoding="utf-8")
    said = trainyard("check", "--format", "json", path.name, cwd=tmp_path).out
    assert "RUN120" not in said


def test_without_a_shared_volume_it_cannot_run() -> None:
    assert "RES165" in [fault.code for fault in resolved(tuned(mounts=[]))[1]]


def test_a_recipe_in_one_process_is_doubted() -> None:
    """torchtune looks for options of torchrun in its own command line, not in the environment."""
    command = ["tune", "run", "full_finetune_distributed", "--config", "c.yaml"]
    codes = [fault.code for fault in resolved(tuned(command=command))[1]]
    assert codes == ["RES131"]
