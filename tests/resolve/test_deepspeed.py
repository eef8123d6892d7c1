"""The configuration of DeepSpeed that a job makes, and the sizes of its batches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import body_of, manifests_of, plan_of, resolved, spec
from trainyard.core.jobs.deepspeed.resolve import Batch, BatchFault, whole_batch
from trainyard.eks.jobs.plan import FileSet
from trainyard.language.diagnostics import Severity

PATH = "/etc/deepspeed/config.json"
COMMAND = ["torchrun", "train.py", "--deepspeed_config", PATH]
MODEL = {"parameters": 8.03e9, "sharding": "full", "offload": "parameters"}


def job(**keys: Any) -> dict[str, Any]:
    """A spec whose only job has two nodes, with eight accelerators each."""
    return spec(job={"nodes": 2, "command": COMMAND, **keys})


def configuration(data: dict[str, Any]) -> Any:
    (files,) = plan_of(data).of(FileSet)
    (text,) = files.files.values()
    return json.loads(text)


@pytest.mark.parametrize(
    ("said", "whole"),
    [
        (Batch(512, 4, None), Batch(512, 4, 8)),
        (Batch(512, None, 8), Batch(512, 4, 8)),
        (Batch(None, 4, 8), Batch(512, 4, 8)),
        (Batch(512, 4, 8), Batch(512, 4, 8)),
        (Batch(512, None, None), Batch(512, 32, 1)),
        (Batch(None, 4, None), Batch(64, 4, 1)),
    ],
)
def test_two_sizes_say_the_third(said: Batch, whole: Batch) -> None:
    assert whole_batch(said, 16) == whole


@pytest.mark.parametrize(
    ("said", "field", "help"),
    [
        (Batch(500, 4, None), "trainBatchSize", "`512`"),
        (Batch(8, None, None), "trainBatchSize", "`16`"),
        (Batch(512, 4, 4), "trainBatchSize", "`256`"),
        (Batch(None, None, 4), "gradientAccumulationSteps", "`microBatchSize`"),
    ],
)
def test_sizes_that_make_no_batch(said: Batch, field: str, help: str) -> None:
    with pytest.raises(BatchFault) as raised:
        whole_batch(said, 16)
    assert raised.value.field == field
    assert help in raised.value.help


def test_the_job_says_stage_offloading_precision_and_batch() -> None:
    data = job(model=MODEL, deepspeed={"trainBatchSize": 256, "microBatchSize": 4})
    ranks = 16
    assert configuration(data) == {
        "bf16": {"enabled": True},
        "gradient_accumulation_steps": 256 // 4 // ranks,
        "train_batch_size": 256,
        "train_micro_batch_size_per_gpu": 4,
        "zero_optimization": {
            "offload_optimizer": {"device": "cpu", "pin_memory": True},
            "offload_param": {"device": "cpu", "pin_memory": True},
            "stage": 3,
        },
    }


@pytest.mark.parametrize(
    ("sharding", "stage"), [("none", 0), ("optimizer", 1), ("gradients", 2), ("full", 3)]
)
def test_sharding_is_the_stage_of_zero(sharding: str, stage: int) -> None:
    model = {"parameters": 1e9, "sharding": sharding, "precision": "fp16"}
    config = configuration(job(model=model, deepspeed={"microBatchSize": 1}))
    assert config["zero_optimization"] == {"stage": stage}
    assert config["fp16"] == {"enabled": True}
    assert "bf16" not in config


def test_ranks_that_share_the_model_share_its_batch() -> None:
    model = {"parameters": 8.03e9, "sharding": "full", "parallel": {"tensor": 8}}
    config = configuration(job(model=model, deepspeed={"microBatchSize": 4}))
    assert config["train_batch_size"] == 4 * 16 // 8


def test_what_else_is_written_is_kept_and_auto_is_the_programs() -> None:
    given = {
        "microBatchSize": 4,
        "config": {
            "gradient_clipping": 1.0,
            "train_batch_size": "auto",
            "zero_optimization": {"overlap_comm": True},
        },
    }
    config = configuration(job(model=MODEL, deepspeed=given))
    assert config["gradient_clipping"] == 1.0
    assert config["train_batch_size"] == "auto"
    assert config["zero_optimization"]["overlap_comm"] is True
    assert config["zero_optimization"]["stage"] == 3


def test_the_file_is_mounted_where_the_command_reads_it() -> None:
    manifests = manifests_of(job(deepspeed={"microBatchSize": 4}))
    runtime = body_of(manifests, "ClusterTrainingRuntime")
    (replicated,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    pod = replicated["template"]["spec"]["template"]["spec"]
    mounts = {mount["mountPath"]: mount for mount in pod["containers"][0]["volumeMounts"]}
    assert mounts[PATH]["readOnly"] is True
    files = next(
        manifest.body
        for manifest in manifests
        if mounts[PATH]["subPath"] in (manifest.body.get("data") or {})
    )
    assert json.loads(files["data"][mounts[PATH]["subPath"]])["train_batch_size"] == 64


def test_another_batch_is_another_run() -> None:
    """A TrainJob is never changed: its name carries what it runs with."""
    names = {
        body_of(manifests_of(job(deepspeed={"microBatchSize": size})), "TrainJob")["metadata"][
            "name"
        ]
        for size in (1, 2)
    }
    assert len(names) == 2


def test_mpirun_starts_it_too() -> None:
    data = job(
        launcher={"mpi": {}},
        command=["mpirun", "python", "train.py", "--deepspeed_config", PATH],
        deepspeed={"microBatchSize": 4},
    )
    assert configuration(data)["train_batch_size"] == 64


def test_jax_does_not_heed_it() -> None:
    data = job(
        launcher={"jax": {}}, command=["python", "train.py", PATH], deepspeed={"microBatchSize": 4}
    )
    assert "RES130" in [fault.code for fault in resolved(data)[1]]


def test_a_configuration_that_no_command_names_is_doubted() -> None:
    data = job(command=["torchrun", "train.py"], deepspeed={"microBatchSize": 4})
    (doubt,) = [fault for fault in resolved(data)[1] if fault.code == "RES198"]
    assert doubt.severity is Severity.WARNING


def test_each_file_of_a_job_has_a_place_in_the_spec() -> None:
    data = job(deepspeed={"microBatchSize": 4}, files={"/etc/train/other.yaml": "a: b\n"})
    (files,) = plan_of(data).of(FileSet)
    places = {key.removeprefix("files."): str(route) for key, route in files.origins.items()}
    assert places == {
        "etc.deepspeed.config.json": "spec.jobs[0].deepspeed",
        "etc.train.other.yaml": 'spec.jobs[0].files["/etc/train/other.yaml"]',
    }
