"""What a model takes of the accelerators and of the nodes: formulas by hand, and what refuses or reports the rest."""

from __future__ import annotations

from typing import Any

import pytest
from builders import faults_of, plan_of, resolved, shape_faults, spec
from pydantic import ValidationError
from trainyard.catalog import load_catalog
from trainyard.core.jobs.model import State, checkpoint_bytes, state_of
from trainyard.core.jobs.model_spec import Model
from trainyard.core.jobs.plan import TrainingState
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.load import load_rules

GIB = 1024**3
# DeepSeek-R1-Distill-Qwen-1.5B with LoRA (HyperPod's example): 4,358,144 of 1,781,446,144 parameters are trained.
LORA = {"parameters": 1_781_446_144, "trainable": 4_358_144}


def model(**fields: Any) -> dict[str, Any]:
    return {"parameters": 8e9, **fields}


def state(fields: dict[str, Any], **job: Any) -> TrainingState:
    """What the only job's model takes, on nodes of 8 GPUs of 40 GiB."""
    (found,) = plan_of(spec(job={"model": fields, **job})).of(TrainingState)
    return found


def reported(data: dict[str, Any]) -> list[str]:
    """Codes of the policies that look at the model."""
    plan, _ = resolved(data)
    assert plan is not None
    rules = [rule for rule in load_rules(None)[0] if rule.code in ("LIM020", "RUN050")]
    assert len(rules) == 2
    return [found.code for found in run(plan, load_catalog(), rules)]


@pytest.mark.parametrize(
    ("fields", "bytes_each"),
    [
        ({}, (2, 2, 12)),
        ({"precision": "bf16"}, (2, 2, 12)),
        ({"precision": "fp16"}, (2, 2, 12)),
        ({"precision": "fp32"}, (4, 4, 8)),
        ({"precision": "fp8"}, (1, 2, 12)),
        ({"optimizerBytes": 2}, (2, 2, 2)),
        ({"precision": "fp32", "optimizerBytes": 0}, (4, 4, 0)),
        ({"states": "bf16"}, (2, 2, 4)),
        ({"states": "bf16", "precision": "fp8"}, (1, 2, 4)),
        ({"states": "bf16", "optimizer": "sgd"}, (2, 2, 2)),
        ({"states": "bf16", "optimizer": "adamw8bit"}, (2, 2, 2)),
        ({"states": "bf16", "optimizerBytes": 6}, (2, 2, 6)),
    ],
)
def test_bytes_a_parameter(fields: dict[str, Any], bytes_each: tuple[int, int, int]) -> None:
    found = state_of(Model.model_validate(model(parameters=1e9, **fields)))
    assert found.parts == tuple(size * 10**9 for size in bytes_each)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"states": "bf16", "precision": "fp32"}, "`states` are bf16, and `precision` is fp32"),
        ({"states": "bf16", "precision": "fp16"}, "`states` are bf16, and `precision` is fp16"),
        ({"parallel": {"sequenceParallel": True}}, "`sequenceParallel` is how `tensor` divides"),
        ({"parallel": {"lossParallel": True}}, "`lossParallel` is how `tensor` divides"),
    ],
)
def test_what_a_program_cannot_do_is_refused(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Model.model_validate(model(**fields))


def test_what_is_not_trained_has_weights_alone() -> None:
    found = state_of(Model.model_validate(LORA))
    assert found == State(2 * 1_781_446_144, 2 * 4_358_144, 12 * 4_358_144)


def test_a_checkpoint_of_adapters_has_the_adapters() -> None:
    assert checkpoint_bytes(Model.model_validate(LORA)) == 14 * 4_358_144
    assert checkpoint_bytes(Model.model_validate(model())) == 14 * 8 * 10**9


@pytest.mark.needs("forecast")
def test_the_fine_tune_that_runs_on_its_gpu_passes() -> None:
    """1.8B with LoRA on one A10G of 24 GB: 28.5 GB if all of it were trained, 3.6 GB as it is."""
    pool = {"instanceTypes": ["g5.8xlarge"], "zones": ["us-west-2a"]}
    job = {"nodes": 2, "model": LORA}
    assert reported(spec(pool=pool, job=job)) == []
    whole = {"parameters": LORA["parameters"]}
    assert reported(spec(pool=pool, job={**job, "model": whole})) == ["LIM020"]


# 16 bytes a parameter of 32e9 on 4 nodes of 8: 512e9 bytes, a 32th of it 16e9; weights 64e9, gradients 64e9, optimizer
# 384e9.
@pytest.mark.parametrize(
    ("fields", "held"),
    [
        ({"sharding": "full"}, 16e9),
        ({"sharding": "full", "parallel": {"tensor": 8}}, 16e9),
        ({"parallel": {"tensor": 8, "pipeline": 4}}, 16e9),
        ({"parallel": {"tensor": 8, "pipeline": 2}}, 32e9),
        ({"parallel": {"tensor": 8, "context": 4}}, 64e9),
        ({"parallel": {"tensor": 8}, "sharding": "gradients"}, 8e9 + 448e9 / 32),
        ({"parallel": {"tensor": 8}, "sharding": "optimizer"}, 16e9 + 384e9 / 32),
        ({"sharding": "full", "offload": "optimizer"}, 2e9),
        ({"sharding": "full", "offload": "parameters"}, 0),
        ({"sharding": "full", "trainable": 1.0}, 2e9 + 1),
    ],
)
def test_what_an_accelerator_holds(fields: dict[str, Any], held: float) -> None:
    assert state({"parameters": 32e9, **fields}).held == pytest.approx(held, abs=2)


@pytest.mark.parametrize(
    ("fields", "host"),
    [
        ({"sharding": "full"}, 0),
        ({"sharding": "full", "offload": "optimizer"}, 14 * 32e9 / 4),
        ({"sharding": "full", "offload": "parameters"}, 16 * 32e9 / 4),
        ({"parallel": {"tensor": 8}, "offload": "optimizer"}, 14 * 32e9),
    ],
)
def test_what_is_offloaded_counts_in_the_memory_of_the_node(
    fields: dict[str, Any], host: float
) -> None:
    assert state({"parameters": 32e9, **fields}).host == pytest.approx(host, abs=2)


def test_a_neuron_device_holds_the_state_of_each_of_its_cores() -> None:
    pool = {"instanceTypes": ["trn1.32xlarge"], "zones": ["us-west-2b"], "nodes": 2}
    job = {"nodes": 2, "model": {"parameters": 1e9}}
    (found,) = plan_of(spec(pool=pool, job=job)).of(TrainingState)
    assert (found.accelerators, found.processes) == (16, 32)
    assert found.held == 2 * 16 * 10**9


# 8 × 40 GiB a node of p4d.24xlarge: 2.68e9 parameters a GPU at 16 bytes, 21.47e9 a node.
@pytest.mark.parametrize(
    ("fields", "nodes", "fits"),
    [
        ({"parameters": 2.68e9}, 1, True),
        ({"parameters": 2.69e9}, 1, False),
        ({"parameters": 2.69e9}, 4, False),
        ({"parameters": 21.4e9, "sharding": "full"}, 1, True),
        ({"parameters": 21.5e9, "sharding": "full"}, 1, False),
        ({"parameters": 85e9, "sharding": "full"}, 4, True),
        ({"parameters": 7e9, "optimizerBytes": 2}, 1, True),
    ],
)
@pytest.mark.needs("forecast")
def test_state_that_does_not_fit_is_a_finding(
    fields: dict[str, Any], nodes: int, fits: bool
) -> None:
    found = reported(spec(job={"nodes": nodes, "model": model(**fields)}))
    assert found == ([] if fits else ["LIM020"])


# 2 bytes a parameter: 21.47e9 a GPU of 40 GiB.
@pytest.mark.parametrize(
    ("fields", "fits"),
    [
        ({"parameters": 21.4e9}, True),
        ({"parameters": 21.5e9}, False),
        ({"parameters": 21.5e9, "trainable": 1e6}, False),
        ({"parameters": 21.5e9, "parallel": {"pipeline": 2}}, True),
        ({"parameters": 21.5e9, "offload": "optimizer"}, False),
        ({"parameters": 21.5e9, "offload": "parameters"}, True),
        ({"parameters": 680e9, "sharding": "full"}, True),
        ({"parameters": 690e9, "sharding": "full"}, False),
        ({"parameters": 42e9, "precision": "fp8"}, True),
    ],
)
def test_weights_that_fit_nowhere_are_an_error(fields: dict[str, Any], fits: bool) -> None:
    pool = {"instanceTypes": ["p4d.24xlarge"]}
    given = {key: value for key, value in fields.items() if key != "precision"}
    if "precision" in fields:
        pool = {"instanceTypes": ["p5.48xlarge"], "zones": ["us-west-2a"]}
        given["precision"] = fields["precision"]
    found = {each.code for each in faults_of(spec(pool=pool, job={"model": given}))}
    # RES457: without full sharding parameters are not offloaded
    assert found - {"RES457"} == (set() if fits else {"RES024"})


@pytest.mark.needs("forecast")
def test_the_fewest_nodes_suffice() -> None:
    big = model(parameters=70e9, sharding="full")
    found = state(big, nodes=3)
    assert found.enough_nodes == 4
    assert reported(spec(job={"nodes": 3, "model": big})) == ["LIM020"]
    assert reported(spec(job={"nodes": 4, "model": big})) == []


def test_more_nodes_do_not_help_what_is_not_divided() -> None:
    assert state(model()).enough_nodes is None


@pytest.mark.needs("forecast")
def test_only_the_accelerators_that_a_job_asks_hold_its_state() -> None:
    job = {"nodes": 1, "model": model(parameters=20e9, sharding="full")}
    assert reported(spec(job=job)) == []
    assert reported(spec(job={**job, "resources": {"accelerators": 4}})) == ["LIM020"]


@pytest.mark.needs("forecast")
@pytest.mark.parametrize(("parameters", "codes"), [(70e9, ["LIM020"]), (1e9, [])])
def test_a_job_on_cpus_is_held_against_memory_of_the_node(
    parameters: float, codes: list[str]
) -> None:
    pool = {"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}
    data = spec(pool=pool, job={"nodes": 1, "model": model(parameters=parameters)})
    assert faults_of(data) == []
    (state,) = plan_of(data).of(TrainingState)
    assert state.accelerators == 0
    assert reported(data) == codes


@pytest.mark.parametrize(
    ("parallel", "data"),
    [
        ({"tensor": 8, "pipeline": 4}, 1),
        ({"tensor": 8}, 4),
        ({"tensor": 2, "pipeline": 2, "context": 2}, 4),
        ({"data": 32}, 32),
        ({"tensor": 4, "data": 8}, 8),
    ],
)
def test_data_is_what_is_left(parallel: dict[str, int], data: int) -> None:
    plan = plan_of(spec(job={"model": {"parameters": 1e9, "parallel": parallel}}))
    (found,) = [each for each in plan.derived if each.field == "model.parallel.data"]
    assert found.value == str(data)


@pytest.mark.parametrize(
    ("parallel", "at", "said", "help"),
    [
        ({"tensor": 8, "pipeline": 3}, "", "tensor 8 × pipeline 3 × context 1 is 24", "divides 32"),
        ({"tensor": 64}, "", "tensor 64 × pipeline 1 × context 1 is 64", "divides 32"),
        ({"tensor": 8, "data": 8}, ".data", "× data 8 is 64", "write `data: 4`"),
    ],
)
def test_degrees_are_all_ranks(parallel: dict[str, int], at: str, said: str, help: str) -> None:
    fields = {"parameters": 1e9, "parallel": parallel}
    (found,) = faults_of(spec(job={"model": fields}))
    assert (found.code, str(found.at)) == ("RES064", f"spec.jobs[0].model.parallel{at}")
    assert "32 ranks (4 nodes of 8 processes)" in found.message
    assert said in found.message
    assert help in found.help


@pytest.mark.needs("forecast")
def test_a_layer_is_divided_inside_a_node() -> None:
    fields = {"parameters": 1e9, "parallel": {"tensor": 16}}
    assert reported(spec(job={"model": fields})) == ["RUN050"]


def test_no_more_is_trained_than_there_is() -> None:
    (found,) = shape_faults(spec(job={"model": {"parameters": 1e9, "trainable": 2e9}}))
    assert (found.code, str(found.at)) == ("SPC005", "spec.jobs[0].model.trainable")
