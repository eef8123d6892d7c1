from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import TrainingState
from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("LIM020")
def training_state_exceeds_memory(state: TrainingState) -> Iterator[Finding]:
    """The training state of a model is larger than the memory that it has.

    Counted are weights, gradients and the optimizer's state alone: 16 bytes a parameter with Adam in mixed precision
    (arXiv:1910.02054, section 3.1), of parameters that are not trained the weights alone (LoRA, arXiv:2106.09685),
    divided as `sharding` and `parallel` say; what is offloaded counts in the memory of the node (ZeRO-Offload,
    arXiv:2101.06840); without accelerators all of it does. Activations come on top. A program that keeps less than
    that, like one that quantizes weights or optimizer, is an exception to be written down, or says `optimizerBytes`.

    A model with a `shape` or `config` and a `batch` is judged with its activations, logits, buffers and the context of
    CUDA: an error where the least of the estimate is above the accelerator's memory, a warning where only the most is
    (docs/model-fit.md has the formulas, and how far they are from measurements). The most is that of a plain program,
    unless the spec says that it divides activations and logits (`sequenceParallel`, `lossParallel`) and reduces
    gradients after each micro batch (`syncEachBatch`).

    ## Fails

        jobs: [{name: llama, nodes: 1, model: {parameters: 70e9, sharding: full}}]

        jobs: [{name: llama, model: {parameters: 8.03e9}}]

        jobs: [{name: llama, model: {parameters: 13e9, sharding: optimizer}}]

        jobs: [{name: llama, nodes: 1, resources: {memory: 200Gi}, model: {parameters: 30e9, sharding: full,
          offload: optimizer}}]

        jobs: [{name: llama, pool: cpu, nodes: 2, resources: {memory: 8Gi},
          model: {parameters: 8e9, sharding: full}}]
        nodePools: [{name: gpu, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: {max: 4}},
          {name: cpu, instanceTypes: [m7i.24xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        queues: [{name: research, namespaces: [team-a], quota: [{pool: gpu, nodes: 4}, {pool: cpu, nodes: 4}]}]

        jobs: [{name: llama, model: {sharding: full, shape: {layers: 32, hidden: 4096, heads: 32, kvHeads: 8,
          ffn: 14336, vocabulary: 128256}, batch: {sequenceLength: 8192, microBatchSize: 4}}}]

    ## Passes

        jobs: [{name: llama, model: {sharding: full, recomputation: full, fusedLoss: true, shape: {layers: 32,
          hidden: 4096, heads: 32, kvHeads: 8, ffn: 14336, vocabulary: 128256}, batch: {sequenceLength: 4096}}}]

        jobs: [{name: llama, pool: cpu, nodes: 2, model: {parameters: 8e9, sharding: full}}]
        nodePools: [{name: gpu, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: {max: 4}},
          {name: cpu, instanceTypes: [m7i.24xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        queues: [{name: research, namespaces: [team-a], quota: [{pool: gpu, nodes: 4}, {pool: cpu, nodes: 4}]}]

        jobs: [{name: llama, model: {parameters: 8.03e9, sharding: full}}]

        jobs: [{name: llama, model: {parameters: 8.03e9, trainable: 41.9e6}}]

        jobs: [{name: llama, model: {parameters: 8.03e9, parallel: {tensor: 8}}}]

        jobs: [{name: llama, nodes: 1, model: {parameters: 30e9, sharding: full, offload: optimizer}}]
    """
    if isinstance(state, TrainingRun):
        yield from _with_activations(state)
    elif state.held > state.memory:
        yield Finding(
            f"the training state of job `{state.name}` takes {_gib(state.held)} of each accelerator, which has "
            f"{_gib(state.memory)}",
            state.where("held"),
            label="activations come on top",
            help=_help(state),
        )
    if state.host <= state.host_memory:
        return
    if not state.accelerators:
        yield Finding(
            f"the training state of job `{state.name}` takes {_gib(state.host)} of each node, and it gets "
            f"{_gib(state.host_memory)}",
            state.where("host"),
            label="activations come on top",
            help=_help_on_cpus(state),
        )
    else:
        yield Finding(
            f"what job `{state.name}` offloads takes {_gib(state.host)} of each node, and it gets "
            f"{_gib(state.host_memory)}",
            state.where("host"),
            help="offload less, or divide it among more nodes",
        )


def _with_activations(state: TrainingRun) -> Iterator[Finding]:
    """What is found where activations are counted too: the range of the estimate against the memory."""
    run = state.run
    if run.verdict == "fits":
        return
    needed = run.memory
    takes = f"{_gib(int(needed.least))} to {_gib(int(needed.most))}"
    severity = None
    if run.verdict == "may not fit":
        severity = Severity.WARNING
    help = "`trainyard fit` shows what takes it; divide the model further, or take accelerators with more memory"
    if state.smaller:
        so = " if the program does so" if run.unsaid else ""
        help = f"write {state.smaller}{so}, the smallest change that fits; `trainyard fit` shows what takes the memory"
    yield Finding(
        f"job `{state.name}` takes {takes} of each accelerator, which has {_gib(run.place.memory)}",
        state.where("run"),
        label="by estimate, with activations",
        help=help,
        severity=severity,
    )


def _help_on_cpus(state: TrainingState) -> str:
    if state.enough_nodes is not None and state.enough_nodes > state.nodes:
        return (
            f"write `nodes: {state.enough_nodes}`, the fewest that hold it{_beyond(state)}; or ask for more "
            "`memory`"
        )
    return "ask for more `memory`, or write `sharding: full` if the program shards its state (FSDP, ZeRO-3)"


def _help(state: TrainingState) -> str:
    less = "`trainable` if only adapters are trained, `offload: optimizer` if the node's memory holds it"
    if state.enough_nodes is not None and state.enough_nodes > state.nodes:
        nodes = f"`nodes: {state.enough_nodes}`, the fewest of {state.instance} that hold it{_beyond(state)}"
        return f"write {nodes}; or {less}"
    # More nodes hold what is sharded in full.
    return f"write `sharding: full` if the program shards its state (FSDP, ZeRO-3), {less}"


def _beyond(state: TrainingState) -> str:
    """What is to be said of a pool that has fewer nodes than hold the model."""
    if state.enough_nodes is None or state.enough_nodes <= state.most_nodes:
        return ""
    return f"; pool `{state.pool}` has {state.most_nodes} at most"


def _gib(count: int) -> str:
    return f"{count / 1024**3:,.1f} GiB"
