"""What the rules about memory say: of training, of nodes, and of objects in etcd."""

from __future__ import annotations

import json

import pytest
from trainyard.language.diagnostics import Severity

from tests.policy.manifests import pods, release, required
from tests.policy.saying import found, said

pytestmark = pytest.mark.needs("lint")

SHAPE = "shape: {layers: 32, hidden: 4096, heads: 32, kvHeads: 8, ffn: 14336, vocabulary: 128256}"
LEAST = "recomputation: full, fusedLoss: true, parallel: {tensor: 8}, "
LESS = (
    "`trainable` if only adapters are trained, `offload: optimizer` if the node's memory holds it"
)
SELECTIVE = (
    "write `recomputation: selective`, the smallest change that fits; `trainyard fit` shows what "
    "takes the memory"
)
SHARD = f"write `sharding: full` if the program shards its state (FSDP, ZeRO-3), {LESS}"


def model(keys: str, nodes: int = 4) -> str:
    """A job that trains a model."""
    return f"jobs: [{{name: llama, nodes: {nodes}, model: {{{keys}}}}}]"


def long(tokens: int, keys: str = "") -> str:
    """A job whose samples have so many tokens."""
    return model(f"sharding: full, {keys}{SHAPE}, batch: {{sequenceLength: {tokens}}}")


@pytest.mark.parametrize(
    ("text", "severity", "help"),
    [
        (
            model("parameters: 30e9, sharding: full, parallel: {tensor: 4}", 1),
            Severity.ERROR,
            f"write `nodes: 2`, the fewest of p4d.24xlarge that hold it; or {LESS}",
        ),
        (
            model("parameters: 300e9, sharding: full"),
            Severity.ERROR,
            "write `nodes: 14`, the fewest of p4d.24xlarge that hold it; pool `gpu` has 4 at most; "
            f"or {LESS}",
        ),
        (model("parameters: 8e9"), Severity.ERROR, SHARD),
        (long(4096), Severity.WARNING, SELECTIVE),
        (long(6144), Severity.ERROR, SELECTIVE),
        (
            long(4_194_304, LEAST),
            Severity.ERROR,
            "`trainyard fit` shows what takes it; divide the model further, or take accelerators with more memory",
        ),
    ],
)
def test_a_model_that_is_too_large(text: str, severity: Severity, help: str) -> None:
    """An error where even the least of the range does not fit."""
    (only,) = found("LIM020", text)
    assert (only.severity, only.help) == (severity, help)


SCRIPT = """Region: us-west-2
Scheduling:
  Scheduler: slurm
  SlurmQueues: [{Name: gpu, ComputeResources: [{Name: a, InstanceType: p5.48xlarge, MaxCount: 4}]}]
HeadNode: {InstanceType: m5.xlarge}
---
#!/bin/bash
#SBATCH --nodes=2
#SBATCH --partition=gpu
#SBATCH --gpus-per-node=8
#SBATCH --mem=3000G
srun torchrun train.py
"""
ASKS = (
    "{cpu: 1, memory: 2Gi, nvidia.com/gpu: null, vpc.amazonaws.com/efa: null, hugepages-2Mi: null}"
)
SMALL = f"""apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec: {{trainer: {{resourcesPerNode: {{requests: {ASKS}, limits: {ASKS}}}}}}}"""


@pytest.mark.parametrize(
    ("amount", "most"), [("", "1945Gi"), (", SchedulableMemory: 2090000", "2048Gi")]
)
def test_what_a_batch_script_may_ask_for(amount: str, most: str) -> None:
    """95 % of what EC2 says, unless the configuration says an amount."""
    (only,) = found("LIM002", SCRIPT.replace("MaxCount: 4", f"MaxCount: 4{amount}"))
    assert only.message.endswith(f"jobs can get {most} of `p5.48xlarge`")
    assert only.help == f"ask for at most {most}"


def test_less_than_a_gibibyte_is_said_in_mebibytes() -> None:
    overhead = release("karpenter", "{settings: {vmMemoryOverheadPercent: 0.85}}")
    pool = required("node.kubernetes.io/instance-type", "m7i.large")
    (message,) = said("LIM002", "\n---\n".join([overhead, pool, SMALL]))
    assert message.endswith("pods can get 554Mi of `m7i.large`")


def test_the_containers_that_share_a_node_are_listed() -> None:
    """Those that ask for what there is too little of."""
    beside = (
        "{spec: {containers: [{name: logs, image: 'a:1', resources: {requests: {memory: 200Gi}}}, "
        "{name: watch, image: 'a:1', resources: {requests: {cpu: 1}}}]}}"
    )
    (only,) = found("LIM002", pods(beside))
    shares = [note for note in only.notes if note.startswith("container ")]
    assert shares == ["container `node`: 1000Gi", "container `logs`: 200Gi"]


def too_large(body: dict[str, object]) -> list[str]:
    """Where most of an object is that may have 4,500 bytes."""
    ref = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "prompts", "namespace": "a"},
    }
    text = json.dumps({**ref, **body})
    return [str(each.at) for each in found("LIM041", f"# params: {{bytes: 4500}}\n{text}")]


LONG = "0123456789" * 90


@pytest.mark.parametrize(
    ("data", "place"),
    [
        ({"a": {"b": LONG * 6}}, ".data.a.b"),
        ({"a": [LONG, LONG * 5]}, ".data.a[1]"),
        ({"a": [[LONG] * 6]}, ".data.a[0]"),
        ({"a": LONG * 3, "b": [1, LONG * 3], "c": None, "d": True}, ".data"),
    ],
)
def test_where_most_of_an_object_is(data: dict[str, object], place: str) -> None:
    """Numbers and the like count nothing: protobuf takes a few bytes for each."""
    assert too_large({"data": data}) == [f"@ConfigMap/a/prompts{place}"]


@pytest.mark.parametrize("data", [{"a": [1] * 3000}, {"a": {"b": [LONG] * 4}}])
def test_an_object_that_is_not_too_large(data: dict[str, object]) -> None:
    assert too_large({"data": data}) == []
