"""A job as the arithmetic of training sees it, from its spec, its pool and the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from compiler.catalog.accelerators import memory_rate, pcie_rate, peaks
from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.core.jobs.sizes import shape_of_model
from compiler.core.pools.pools import Pool, resolve_pools
from compiler.training.changes import smallest_change
from compiler.training.run import Place, Run
from compiler.training.setup import Machine, Setup

if TYPE_CHECKING:
    from compiler.catalog import InstanceType
    from compiler.core.jobs.forms.model import Batch, Model, Parallel

_MIB = 1024**2
_GIGA = 1e9
_BITS = 8


def run_of(
    context: Context, job: Job, bytes_each: tuple[int, int, int], *, count: int, ranks: int
) -> Run | None:
    """The job on its pool; ``None`` where the shape or the batch is not known.

    ``bytes_each``: of one parameter's weights, gradients and optimizer; ``count``: the accelerators of a node;
    ``ranks``: its ranks, of which several may share one.
    """
    model = job.spec.model
    if model is None or model.batch is None or not count:
        return None
    shape = shape_of_model(context, model, job.at / "model")
    if shape is None:
        return None
    place = _place(job.pool, count, ranks)
    others = [
        _place(pool, pool.instance.accelerators, pool.instance.accelerators)
        for pool in context.once(resolve_pools).values()
        if pool.name != job.pool.name and _takes(pool)
    ]
    return Run(
        shape=shape,
        setup=_setup(model, model.batch, bytes_each, job.spec.nodes * ranks),
        place=place,
        nodes=job.spec.nodes,
        tokens=model.batch.tokens,
        others=tuple(others),
    )


def smaller_than(run: Run | None) -> str:
    """The smallest change with which a job fits that may not; empty where it does, or none is known."""
    if run is None or run.verdict == "fits":
        return ""
    found = smallest_change(run)
    return found.text if found else ""


def _takes(pool: Pool) -> bool:
    """Whether a model could be trained there: on whole GPUs whose memory is known."""
    instance = pool.instance
    return bool(instance.gpus and instance.accelerator_memory_mib) and pool.spec.gpu_sharing is None


def _setup(model: Model, batch: Batch, bytes_each: tuple[int, int, int], ranks: int) -> Setup:
    parallel = model.parallel
    degrees = _degrees(parallel)
    of_model = degrees["tensor"] * degrees["pipeline"] * degrees["context"]
    weights, gradients, optimizer = bytes_each
    return Setup(
        precision=model.precision,
        weight_bytes=weights,
        gradient_bytes=gradients,
        optimizer_bytes=optimizer,
        trained=model.trainable,
        sharding=model.sharding,
        offload=model.offload,
        data=max(1, ranks // of_model),
        micro_batch=batch.micro_batch_size,
        global_batch=batch.global_batch_size,
        sequence=batch.sequence_length,
        recomputation=model.recomputation,
        fused_loss=model.fused_loss,
        **degrees,
    )


def _degrees(parallel: Parallel | None) -> dict[str, int]:
    if parallel is None:
        return {"tensor": 1, "pipeline": 1, "context": 1, "expert": 1, "chunks": 1}
    return {
        "tensor": parallel.tensor,
        "pipeline": parallel.pipeline,
        "context": parallel.context,
        "expert": parallel.expert,
        "chunks": parallel.virtual_stages,
    }


def _place(pool: Pool, count: int, ranks: int) -> Place:
    memory = pool.accelerator_memory_mib * _MIB
    return Place(
        pool=pool.name,
        instance=pool.instance.name,
        machine=_machine(pool.instance, count, memory),
        ranks=ranks,
        nodes=pool.nodes,
        memory=memory * count // ranks,
    )


def _machine(instance: InstanceType, count: int, memory: int) -> Machine:
    """What a node has; EC2 counts NVLink both ways, and the network by node."""
    if instance.nvlink_gb_s:
        link = instance.nvlink_gb_s / 2 * _GIGA
    else:
        link = pcie_rate()
    return Machine(
        accelerator=instance.accelerator or "",
        accelerators=count,
        memory=memory,
        memory_rate=memory_rate(instance) or 0.0,
        peak=peaks(instance.accelerator),
        link=link,
        network=instance.network_gbps / _BITS * _GIGA / max(1, instance.accelerators),
    )
