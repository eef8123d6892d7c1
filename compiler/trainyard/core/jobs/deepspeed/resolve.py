"""DeepSpeed's configuration: rendered from the job, and checked as DeepSpeed checks it at start.

Source: DeepSpeed, "DeepSpeed Configuration JSON", and deepspeed/runtime/config.py of 0.17 (DeepSpeedConfig: sizes of
batches; bf16 or fp16), deepspeed/runtime/zero/config.py (offload_param is of stage 3, offload_optimizer of 1 to 3).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from trainyard.core.jobs.job import Job
from trainyard.core.jobs.model import sharing
from trainyard.core.jobs.model_spec import DeepSpeed, Model
from trainyard.plan.context import Context

# DeepSpeed's three batch sizes, and how the third follows from two of them.
#
# `train_batch_size` = `train_micro_batch_size_per_gpu` × `gradient_accumulation_steps` × the ranks that have data of
# their own (DeepSpeed 0.17, deepspeed/runtime/config.py, DeepSpeedConfig._set_batch_related_parameters).


class Batch(NamedTuple):
    """Samples: of a step of the optimizer, of a rank's pass, and a rank's passes in a step; ``None`` is not said."""

    size: int | None
    micro: int | None
    steps: int | None


class BatchFault(Exception):  # noqa: N818 - a finding, which the caller reports
    """Sizes that do not make up each other, with the key of the spec at fault and what to write."""

    def __init__(self, message: str, field: str, help: str) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.help = help


def whole_batch(said: Batch, ranks: int) -> Batch:
    """All three sizes. Raises ``BatchFault`` where there are none.

    As DeepSpeed does: without the number of passes it is one, unless the other two say it.
    """
    size, micro, steps = said
    if size is None and micro is None:
        raise BatchFault(
            "the passes alone make no batch",
            "gradientAccumulationSteps",
            "write `microBatchSize` too",
        )
    if size is None:
        assert micro is not None, "one of the two is said"
        return Batch(micro * (steps or 1) * ranks, micro, steps or 1)
    if micro is None:
        steps = steps or 1
        return Batch(size, _divided(size, steps * ranks, f"{steps} × {ranks}"), steps)
    if steps is None:
        return Batch(size, micro, _divided(size, micro * ranks, f"{micro} × {ranks}"))
    if size != micro * steps * ranks:
        raise BatchFault(
            f"a batch of {size} is not {micro} × {steps} × {ranks}",
            "trainBatchSize",
            f"write `{micro * steps * ranks}`, or leave one of the three out",
        )
    return Batch(size, micro, steps)


def _divided(size: int, unit: int, said: str) -> int:
    if size % unit == 0:
        return size // unit
    near = max(1, (size + unit // 2) // unit) * unit
    raise BatchFault(
        f"a batch of {size} cannot be divided by {said}",
        "trainBatchSize",
        f"write `{near}`, or another multiple of {unit}",
    )


SOURCE = "DeepSpeed 0.17, deepspeed/runtime/config.py"
_STAGES = {"none": 0, "optimizer": 1, "gradients": 2, "full": 3}
# The least stage that each way of offloading works with.
_LEAST = {"optimizer": "optimizer", "parameters": "full"}
_ON_HOST = {"device": "cpu", "pin_memory": True}


def with_configuration(context: Context, job: Job, processes: int) -> Job:
    """The job with the configuration of DeepSpeed among its files; as it is where that is faulty."""
    given = job.spec.deepspeed
    assert given is not None, "only asked of a job that has it"
    at = job.at / "deepspeed"
    if given.path in job.spec.files:
        context.fault(
            "RES199",
            f"`{given.path}` is the configuration of DeepSpeed, and a file of the job",
            job.at / "files" / given.path,
            "remove it: what it has goes under `deepspeed.config`",
            key=True,
        )
        return job
    derived = _of_model(context, job)
    derived |= _of_batch(context, job, processes)
    for path, written, meant in _contradictions(given.config, derived):
        context.fault(
            "RES197",
            f"`{'.'.join(path)}` is `{_shown(written)}`, and the job makes it `{_shown(meant)}`",
            at / "config" / path,
            f"remove it, or change {_reason(path)}",
        )
    _check_read(context, job, given)
    text = json.dumps(_merged(derived, given.config), indent=2, sort_keys=True)
    files = {**job.spec.files, given.path: f"{text}\n"}
    spec = job.spec.model_copy(update={"files": files})
    return replace(job, spec=spec)


def _of_model(context: Context, job: Job) -> dict[str, Any]:
    """What the model of the job says of the configuration."""
    model = job.spec.model
    if model is None:
        return {}
    _check_offload(context, job, model)
    stage = _STAGES[model.sharding]
    zero: dict[str, Any] = {"stage": stage}
    if model.offload is not None:
        zero["offload_optimizer"] = dict(_ON_HOST)
    if model.offload == "parameters":
        zero["offload_param"] = dict(_ON_HOST)
    _derive(context, job, "zero_optimization.stage", stage, f"model.sharding is {model.sharding}")
    if model.precision not in ("bf16", "fp16"):
        return {"zero_optimization": zero}
    _derive(
        context, job, f"{model.precision}.enabled", "true", f"model.precision is {model.precision}"
    )
    return {"zero_optimization": zero, model.precision: {"enabled": True}}


def _check_offload(context: Context, job: Job, model: Model) -> None:
    if model.offload is None:
        return
    least = _LEAST[model.offload]
    if _STAGES[model.sharding] >= _STAGES[least]:
        return
    context.fault(
        "RES197",
        f"ZeRO of stage {_STAGES[model.sharding]} offloads no {model.offload}",
        job.at / "model" / "offload",
        f"write `sharding: {least}`"
        if least == "full"
        else f"write `sharding: {least}`, `gradients` or `full`",
        source="DeepSpeed 0.17, deepspeed/runtime/zero/config.py",
    )


def _of_batch(context: Context, job: Job, processes: int) -> dict[str, Any]:
    """The sizes of a batch, all three."""
    given = job.spec.deepspeed
    assert given is not None, "only asked of a job that has it"
    at = job.at / "deepspeed"
    ranks = job.spec.nodes * processes
    copies = ranks // sharing(job.spec.model)
    said = Batch(given.train_batch_size, given.micro_batch_size, given.gradient_accumulation_steps)
    if not any(said):
        if not {"train_batch_size", "train_micro_batch_size_per_gpu"} & given.config.keys():
            context.fault(
                "RES196",
                f"the configuration of DeepSpeed of `{job.spec.name}` has no size of a batch",
                at,
                "write `trainBatchSize` or `microBatchSize`; in `config`, `auto` leaves it to the program",
                key=True,
                source=SOURCE,
            )
        return {}
    try:
        batch = whole_batch(said, copies)
    except BatchFault as problem:
        context.fault(
            "RES196",
            f"{problem.message} on {_shown_ranks(job, ranks, copies)}",
            at / problem.field,
            problem.help,
            source=SOURCE,
        )
        return {}
    product = f"{batch.micro} × {batch.steps} × {copies}"
    _derive(
        context,
        job,
        "batch",
        f"{batch.size} = {product}",
        "samples of a step: those of a rank, times its passes, times the ranks with data of their own",
    )
    return {
        "train_batch_size": batch.size,
        "train_micro_batch_size_per_gpu": batch.micro,
        "gradient_accumulation_steps": batch.steps,
    }


def _shown_ranks(job: Job, ranks: int, copies: int) -> str:
    if copies == ranks:
        return f"{ranks} ranks"
    of_each = ranks // copies
    return f"{copies} copies of the model ({ranks} ranks, {of_each} for each)"


def _derive(context: Context, job: Job, field: str, value: object, why: str) -> None:
    context.derive(job.target, f"deepspeed.{field}", str(value), why, SOURCE)


def _contradictions(
    written: Mapping[str, Any], derived: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """The keys that a spec gives another value than what it derives, by their path; what is `auto` is the program's."""
    for key, meant in derived.items():
        if key not in written:
            continue
        value = written[key]
        here = (*path, key)
        if isinstance(meant, dict) and isinstance(value, dict):
            yield from _contradictions(value, meant, here)
        elif value not in (meant, "auto"):
            yield here, value, meant


_REASONS = {
    "stage": "`model.sharding`",
    "enabled": "`model.precision`",
    "train_batch_size": "`trainBatchSize`",
    "train_micro_batch_size_per_gpu": "`microBatchSize`",
    "gradient_accumulation_steps": "`gradientAccumulationSteps`",
}


def _reason(path: tuple[str, ...]) -> str:
    """What of the job a key follows from."""
    return _REASONS.get(path[-1], "`model.offload`")


def _shown(value: Any) -> str:
    return json.dumps(value)


def _merged(derived: Mapping[str, Any], written: Mapping[str, Any]) -> dict[str, Any]:
    """Both, key by key; what is written wins, as `auto` does."""
    whole = dict(derived)
    for key, value in written.items():
        known = whole.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            whole[key] = _merged(known, value)
        else:
            whole[key] = value
    return whole


def _check_read(context: Context, job: Job, given: DeepSpeed) -> None:
    """A command that does not name the file may build its configuration itself: certain is nothing."""
    spec = job.spec
    words = (*spec.command, *spec.args)
    if any(given.path in word for word in words):
        return
    context.doubt(
        "RES198",
        f"the command of `{job.spec.name}` does not name `{given.path}`",
        job.at / "deepspeed",
        f"add `--deepspeed_config {given.path}`, or what the program calls it",
    )
