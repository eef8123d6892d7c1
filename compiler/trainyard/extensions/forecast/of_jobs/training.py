"""A job as the arithmetic of training sees it, from its spec, its pool and the catalog."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.model import bytes_of_a_parameter
from trainyard.core.jobs.model_spec import Batch, Model, Parallel
from trainyard.core.jobs.plan import TrainingState
from trainyard.core.jobs.sizes import shape_of_model
from trainyard.core.pools.pools import Pool, resolve_pools
from trainyard.extensions.forecast.accelerators import memory_rate, pcie_rate, peaks
from trainyard.extensions.forecast.training.changes import smallest_change
from trainyard.extensions.forecast.training.plan import TrainingRun
from trainyard.extensions.forecast.training.run import Place, Run
from trainyard.extensions.forecast.training.setup import Machine, Setup
from trainyard.language.places import Route
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.catalog import InstanceType

_MIB = 1024**2
_GIGA = 1e9
_BITS = 8


def refined(context: Context, job: Job, state: TrainingState) -> TrainingState:
    """What a job's model takes, with activations and time where its shape and its batch are known."""
    if not state.accelerators:
        return state
    run = _run(context, job, state)
    if run is None:
        return state
    known = {each.name: getattr(state, each.name) for each in fields(state)}
    return TrainingRun(**{**known, "seconds": _seconds(run), "run": run, "smaller": _smaller(run)})


def _run(context: Context, job: Job, state: TrainingState) -> Run | None:
    model = job.spec.model
    if model is None or model.batch is None:
        return None
    shape = shape_of_model(context, model, job.at / "model")
    if shape is None:
        return None
    micro, of_step = _batch(context, job, model.batch)
    # One process may use several accelerators; several processes on one hold a part each.
    ranks = max(state.processes, state.accelerators)
    place = _place(job.pool, count=state.accelerators, ranks=ranks, host=state.host_memory)
    others = [
        _place(
            pool,
            count=pool.instance.accelerators,
            ranks=pool.instance.accelerators,
            host=pool.instance.memory_mib * _MIB,
        )
        for pool in context.once(resolve_pools).values()
        if pool.name != job.pool.name and _takes(pool)
    ]
    return Run(
        shape=shape,
        setup=_setup(
            model,
            bytes_of_a_parameter(model).parts,
            ranks=job.spec.nodes * ranks,
            sequence=model.batch.sequence_length,
            micro=micro,
            of_step=of_step,
            synced=_is_synced(job, model.batch),
        ),
        place=place,
        nodes=job.spec.nodes,
        tokens=model.batch.tokens,
        others=tuple(others),
    )


def _seconds(run: Run) -> tuple[int, int] | None:
    """The seconds of the whole run at least and at most, without failures and saves."""
    step = run.step()
    if step is None:
        return None
    least, most = run.whole(step, step.least), run.whole(step, step.most)
    if least is None or most is None:
        return None
    return round(least), round(most)


def _smaller(run: Run) -> str:
    """The smallest change with which a job fits that may not; empty where it does, or none is known."""
    if run.verdict == "fits":
        return ""
    found = smallest_change(run)
    return found.text if found else ""


def _takes(pool: Pool) -> bool:
    """Whether a model could be trained there: on whole GPUs whose memory is known."""
    instance = pool.instance
    return bool(instance.gpus and instance.accelerator_memory_mib) and pool.spec.gpu_sharing is None


def _batch(context: Context, job: Job, batch: Batch) -> tuple[int, int | None]:
    """The samples of a pass and of a step; DeepSpeed's configuration says them too."""
    micro, of_step = batch.micro_batch_size, batch.global_batch_size
    given = job.spec.deepspeed
    if given is not None:
        at = job.at / "model" / "batch"
        micro = _agreed(context, at / "microBatchSize", micro, given.micro_batch_size)
        of_step = _agreed(context, at / "globalBatchSize", of_step, given.train_batch_size)
    return micro or 1, of_step


def _is_synced(job: Job, batch: Batch) -> bool | None:
    """Whether gradients are reduced after each micro batch: ZeRO-2 and 3 do so (DeepSpeed 0.17, runtime/engine.py,
    DeepSpeedEngine.allreduce_gradients)."""
    if batch.sync_each_batch is None and job.spec.deepspeed is not None:
        return True
    return batch.sync_each_batch


def _agreed(context: Context, at: Route, said: int | None, of_deepspeed: int | None) -> int | None:
    """What either says; a fault where both say something else."""
    if said is None or of_deepspeed is None:
        return said or of_deepspeed
    if said != of_deepspeed:
        context.fault(
            "RES376",
            f"`{at[-1]}` is {said}, and `deepspeed` has {of_deepspeed}",
            at,
            "remove it: it is derived from `deepspeed`",
        )
    return said


def _setup(
    model: Model,
    bytes_each: tuple[int, int, int],
    *,
    ranks: int,
    sequence: int,
    micro: int,
    of_step: int | None,
    synced: bool | None,
) -> Setup:
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
        micro_batch=micro,
        global_batch=of_step,
        sequence=sequence,
        recomputation=model.recomputation,
        fused_loss=model.fused_loss,
        pure=model.states == "bf16",
        sequence_parallel=parallel.sequence_parallel if parallel else None,
        loss_parallel=parallel.loss_parallel if parallel else None,
        sync_each_pass=synced,
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


def _place(pool: Pool, *, count: int, ranks: int, host: int) -> Place:
    memory = pool.accelerator_memory_mib * _MIB
    return Place(
        pool=pool.name,
        instance=pool.instance.name,
        machine=_machine(pool.instance, count),
        ranks=ranks,
        nodes=pool.nodes,
        memory=memory * count // ranks,
        host=host,
    )


def _machine(instance: InstanceType, count: int) -> Machine:
    """What a node has; EC2 counts NVLink both ways, and the network by node."""
    if instance.nvlink_gb_s:
        link = instance.nvlink_gb_s / 2 * _GIGA
    else:
        link = pcie_rate()
    return Machine(
        accelerator=instance.accelerator or "",
        accelerators=count,
        memory_rate=memory_rate(instance) or 0.0,
        peak=peaks(instance.accelerator),
        link=link,
        network=instance.network_gbps / _BITS * _GIGA / max(1, instance.accelerators),
    )
