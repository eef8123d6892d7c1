"""The memory that a model's training state takes, on accelerators and in the host's memory.

Weights, gradients and the optimizer's state, without activations and buffers: what does not fit here fits nowhere.

- Bytes a parameter (Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1): 2 + 2 + 12 for mixed precision, whose
  optimizer keeps an fp32 copy of the weights and two moments; 4 + 4 + 8 for fp32. fp8 keeps its weights in 8 bits at
  the least, its gradients in 16. 2 + 2 + 4 where all states are bf16: two moments, and no copy (torchtitan,
  torchtitan/config/job_config.py, Training.dtype).
- Parameters that are not trained have weights alone (Hu et al. 2021, LoRA, arXiv:2106.09685, section 4.2).
- What is sharded is divided among all ranks that hold the same part of the model (arXiv:1910.02054, section 5: ZeRO-1
  the optimizer's state, ZeRO-2 the gradients too, ZeRO-3 the weights too).
- Tensor and pipeline parallelism cut the model itself, and the ranks are tensor × pipeline × data (Narayanan et al.
  2021, arXiv:2104.04473, section 3), times context (Megatron Core, context parallelism), which cuts the sequence alone.
- Offloaded to the host (Ren et al. 2021, ZeRO-Offload, arXiv:2101.06840, section 4): with the optimizer its state and
  the gradients; with the parameters the weights too (Rajbhandari et al. 2021, ZeRO-Infinity, arXiv:2104.07857).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, prod
from typing import NamedTuple

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.model_spec import Model, Parallel
from trainyard.core.jobs.plan import TrainingState
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

_MIB, _GIB = 1024**2, 1024**3
_WEIGHT = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
_GRADIENT = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 2}
_OPTIMIZER = {"fp32": 8, "bf16": 12, "fp16": 12, "fp8": 12}
# What optimizers keep beside the fp32 copy of the weights: two moments, two of 8 bits (bitsandbytes, Dettmers et al.
# 2022, arXiv:2110.02861), one.
_MOMENTS = {"adamw": 8, "adamw8bit": 2, "sgd": 4}
_MOMENTS_IN_16_BITS = {"adamw": 4, "adamw8bit": 2, "sgd": 2}
# What of the state each way of sharding divides: weights, gradients, optimizer.
_SHARDED = {
    "none": (False, False, False),
    "optimizer": (False, False, True),
    "gradients": (False, True, True),
    "full": (True, True, True),
}
_ON_HOST = {
    None: (False, False, False),
    "optimizer": (False, True, True),
    "parameters": (True, True, True),
}


@dataclass(frozen=True, slots=True)
class State:
    """Training state in bytes: of a whole model, or of one parameter."""

    weights: int
    gradients: int
    optimizer: int

    @property
    def parts(self) -> tuple[int, int, int]:
        """Weights, gradients, optimizer."""
        return self.weights, self.gradients, self.optimizer


def state_of(model: Model) -> State:
    """What a model takes while it is trained; only what is trained has gradients and an optimizer's state."""
    if model.trainable is None:
        trained = model.size
    else:
        trained = model.trainable
    bytes_each = bytes_of_a_parameter(model)
    return State(
        int(model.size * bytes_each.weights),
        int(trained * bytes_each.gradients),
        int(trained * bytes_each.optimizer),
    )


def bytes_of_a_parameter(model: Model) -> State:
    """The bytes of one parameter that is trained."""
    optimizer = model.optimizer_bytes
    if optimizer is None and model.states == "bf16":
        optimizer = _MOMENTS_IN_16_BITS[model.optimizer or "adamw"]
    if optimizer is None:
        copies = _OPTIMIZER[model.precision] - _MOMENTS["adamw"]
        optimizer = copies + _MOMENTS[model.optimizer or "adamw"]
    return State(_WEIGHT[model.precision], _GRADIENT[model.precision], optimizer)


def checkpoint_bytes(model: Model) -> int:
    """What a checkpoint holds from which training goes on: what is trained and its optimizer's state, no gradients.

    The frozen weights of a model of which only adapters are trained are there already.
    """
    state = state_of(model)
    if model.trainable is None:
        trained = model.size
    else:
        trained = model.trainable
    weights = trained * _WEIGHT[model.precision]
    return int(weights) + state.optimizer


def check_model(
    context: Context, job: Job, asked: Mapping[str, Quantity], processes: int
) -> TrainingState | None:
    """What the job's model takes of each accelerator and of each node; ``None`` where that is not known.

    Reports degrees that do not make up the job's ranks, and weights that no accelerator holds.
    """
    model = job.spec.model
    if model is None:
        return None
    parallel = model.parallel
    if parallel is not None:
        fits = _degrees_fit(context, job, parallel, processes)
        if not fits:
            return None
    state = _held(context, job, model, asked, processes)
    if state is None or state.weights <= state.memory:
        return state
    context.fault(
        "RES024",
        f"the weights of `{job.spec.name}` alone take "
        f"{_gib(state.weights)} of each accelerator, which has "
        f"{_gib(state.memory)}",
        job.at / "model" / "parameters",
        "write `sharding: full` if the program shards them (FSDP, ZeRO-3), "
        "`parallel:` if it cuts the model, or take more nodes",
        source="arXiv:1910.02054, section 3.1",
    )
    return None


def sharing(model: Model | None) -> int:
    """The ranks that share one copy of a model, and the same samples."""
    if model is None:
        return 1
    return prod(_degrees(model))


def _held(
    context: Context, job: Job, model: Model, asked: Mapping[str, Quantity], processes: int
) -> TrainingState | None:
    pool = job.pool
    nodes = job.spec.nodes
    resource = job.pool.share.resource
    count = 0
    if resource is not None and resource in asked:
        count = asked[resource].value
    memory = min(each.accelerator_memory_mib for each in job.pools) * _MIB
    on_cpus = not pool.instance.accelerators
    if not on_cpus and not (memory and count):
        return None
    # One process may use several accelerators; several processes on one hold a part each.
    ranks = max(processes, count)
    tensor, pipeline, sequences = _degrees(model)
    weights, held, host, divided = _bytes_of(
        model, ranks=ranks, nodes=nodes, cut=tensor * pipeline, count=0 if on_cpus else count
    )
    host_memory = asked["memory"].value
    if on_cpus:
        enough = _enough(host - divided / nodes, divided, host_memory, 1)
    else:
        enough = _enough(held - divided / (nodes * count), divided, memory, count)
    of_host = "offload" if model.offload else "parameters"
    return TrainingState(
        at=job.at,
        name=job.spec.name,
        namespace=job.namespace,
        pool=pool.name,
        instance=pool.instance.name,
        nodes=nodes,
        accelerators=count,
        most_nodes=pool.nodes,
        sharding=model.sharding,
        weights=ceil(weights),
        held=ceil(held),
        memory=memory,
        host=ceil(host),
        host_memory=host_memory,
        enough_nodes=enough,
        tensor=tensor,
        pipeline=pipeline,
        context=sequences,
        processes=processes,
        sharing=sharing(model),
        expert=model.parallel.expert if model.parallel is not None else 1,
        origins={
            "held": job.at / "model" / "parameters",
            "run": job.at / "model" / "batch",
            "expert": job.at / "model" / "parallel" / "expert",
            "host": job.at / "model" / of_host,
            "tensor": job.at / "model" / "parallel" / "tensor",
            "pipeline": job.at / "model" / "parallel" / "pipeline",
            "context": job.at / "model" / "parallel" / "context",
        },
    )


def _degrees(model: Model) -> tuple[int, int, int]:
    """Over how many ranks a model is cut by tensor, by pipeline, and its sequences by context parallelism."""
    parallel = model.parallel
    if parallel is None:
        return 1, 1, 1
    return parallel.tensor, parallel.pipeline, parallel.context


class _Bytes(NamedTuple):
    """Bytes of one accelerator: of the weights, and of all that it holds; of the host of a node; and all that is
    divided among the nodes."""

    weights: float
    held: float
    host: float
    divided: float


def _bytes_of(model: Model, *, ranks: int, nodes: int, cut: int, count: int) -> _Bytes:
    """Where the training state is. ``cut``: the ranks that have one copy of what is not sharded; ``count``: the
    accelerators of a node, none on CPUs."""
    weights, held, host, divided = 0.0, 0.0, 0.0, 0.0
    parts = zip(
        ("weights", "gradients", "optimizer"),
        state_of(model).parts,
        _SHARDED[model.sharding],
        _ON_HOST[model.offload],
        strict=True,
    )
    for part, size, sharded, on_host in parts:
        of_node = size / (ranks * nodes if sharded else cut) * ranks
        if sharded and not on_host:
            divided += size
        if on_host or not count:
            host += of_node
            continue
        held += of_node / count
        if part == "weights":
            weights = of_node / count
    return _Bytes(weights, held, host, divided)


def _enough(fixed: float, divided: float, memory: int, count: int) -> int | None:
    """The fewest nodes that hold what is divided among them, beside what each of ``count`` memories of a node holds in
    any case."""
    left = memory - fixed
    if not divided or left <= 0:
        return None
    return ceil(divided / (left * count))


def _degrees_fit(context: Context, job: Job, parallel: Parallel, processes: int) -> bool:
    """Whether the degrees make up all ranks; without `data` it is what is left."""
    ranks = job.spec.nodes * processes
    at = job.at / "model" / "parallel"
    degrees = {
        "tensor": parallel.tensor,
        "pipeline": parallel.pipeline,
        "context": parallel.context,
    }
    model = prod(degrees.values())
    if parallel.data is not None:
        data = parallel.data
    else:
        data = ranks // model
    if model * data == ranks:
        context.settle(
            job.target,
            "model.parallel.data",
            parallel.data,
            data,
            f"{ranks} ranks, {model} for each copy of the model",
            "arXiv:2104.04473, section 3",
            at=at / "data",
        )
        return True
    place = at
    if parallel.data is not None:
        degrees["data"] = parallel.data
        place = at / "data"
    named = degrees.items()
    made = prod(degrees.values())
    product = " × ".join(f"{name} {degree}" for name, degree in named)
    help = f"choose degrees whose product divides {ranks}, or change `nodes`"
    if ranks % model == 0:
        help = f"write `data: {ranks // model}`"
    context.fault(
        "RES064",
        f"job `{job.spec.name}` has {ranks} ranks "
        f"({job.spec.nodes} nodes of {processes} processes), "
        f"and {product} is {made}",
        place,
        help,
        source="arXiv:2104.04473, section 3",
    )
    return False


def _gib(count: int) -> str:
    return f"{count / _GIB:,.1f} GiB"
