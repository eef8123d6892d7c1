"""Whether a model's training state fits the memory of a job's accelerators.

Weights, gradients and Adam's moments alone, without activations: what does not fit here fits nowhere. Bytes a parameter
as in ZeRO (Rajbhandari et al. 2020, arXiv:1910.02054, section 3.1): 2 + 2 + 12 for mixed precision, whose optimizer
keeps an fp32 copy of the weights and two moments; 4 + 4 + 8 for fp32.
"""

from __future__ import annotations

from math import ceil

from compiler.plan.units import Quantity
from compiler.resolve.context import Context
from compiler.source import Route
from compiler.subjects.jobs.spec import Job, Model
from compiler.subjects.pools.pools import Pool

_MIB, _GIB = 1024**2, 1024**3
# Weights and gradients, optimizer. fp8 keeps its gradients in 16 bits; its weights in 8 at the least.
_BYTES = {"fp32": (8, 8), "bf16": (4, 12), "fp16": (4, 12), "fp8": (3, 12)}


def bytes_a_parameter(model: Model) -> int:
    """State of one parameter, in bytes."""
    kept, optimizer = _BYTES[model.precision]
    return kept + (
        optimizer if model.optimizer_bytes is None else model.optimizer_bytes
    )


_WEIGHT = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}


def checkpoint_bytes(model: Model) -> int:
    """What a checkpoint holds from which training goes on: weights and the state of the optimizer, no gradients."""
    derived = _BYTES[model.precision][1]
    optimizer = derived if model.optimizer_bytes is None else model.optimizer_bytes
    return int(model.parameters * (_WEIGHT[model.precision] + optimizer))


def check_model(
    context: Context, job: Job, pool: Pool, asked: dict[str, Quantity], at: Route
) -> None:
    """Report a model whose state alone is larger than the memory of the job's accelerators."""
    model, each = job.model, pool.instance.accelerator_memory_mib * _MIB
    count = asked[pool.share.resource].value if pool.share.resource in asked else 0
    if model is None or not each or not count:
        return
    state = int(model.parameters * bytes_a_parameter(model))
    gpus = count * job.nodes if model.sharding == "full" else 1
    if state <= gpus * each:
        return
    fewest = ceil(state / (each * count))
    where = (
        f"the {gpus} accelerators of {job.nodes} nodes have"
        if gpus > 1
        else "each accelerator has"
    )
    context.fault(
        "RES024",
        f"the training state of `{job.name}` takes {_gib(state)} ({bytes_a_parameter(model)} bytes a "
        f"parameter), {where} {_gib(gpus * each)}",
        at / "model" / "parameters",
        _help(job, model, pool, fewest),
    )


def _help(job: Job, model: Model, pool: Pool, fewest: int) -> str:
    nodes = f"`nodes: {fewest}`, the fewest of {pool.instance.name} that hold it"
    beyond = (
        f"; pool `{pool.name}` has {pool.nodes} at most" if fewest > pool.nodes else ""
    )
    if model.sharding == "full":
        return f"write {nodes}{beyond}"
    enough = "" if fewest <= job.nodes else f" and {nodes}{beyond}"
    return (
        f"write `sharding: full` if the program shards its state (FSDP, ZeRO-3){enough}"
    )


def _gib(count: int) -> str:
    return f"{count / _GIB:,.1f} GiB"
