from __future__ import annotations

from collections.abc import Iterator
from math import prod

from compiler.model.command import options
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule

_DEGREES = (
    "tensor-model-parallel-size",
    "pipeline-model-parallel-size",
    "context-parallel-size",
)


@rule("RUN082")
def parallel_degrees_do_not_divide(work: Work) -> Iterator[Finding]:
    """The ranks of a job cannot be divided as its options for Megatron say.

    Megatron's data parallel degree is what is left: all ranks by tensor × pipeline × context. Where that is no whole
    number it ends with "world size (…) is not divisible by total_model_size" (Megatron-LM,
    megatron/training/arguments.py). What `model.parallel` of a spec says is RES064.

    ## Fails

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size, "8",
          --pipeline-model-parallel-size, "3"]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, pretrain.py, --tensor-model-parallel-size, "8",
          --pipeline-model-parallel-size=4]}]
    """
    if work.nodes is None or work.accelerator is None:
        return
    given = dict(options(work.words))
    degrees = [given.get(name, "1") or "" for name in _DEGREES]
    if not any(name in given for name in _DEGREES) or not all(
        map(str.isdigit, degrees)
    ):
        return
    each = _processes(work, given.get("nproc-per-node"))
    if not each:
        return
    ranks, model = work.nodes * each, prod(map(int, degrees))
    if model and ranks % model:
        said = " × ".join(degrees)
        yield Finding(
            f"job `{work.name}` has {ranks} ranks ({work.nodes} nodes of {each}), "
            f"and its model is divided by {said} = {model}",
            work.where_said(next(name for name in _DEGREES if name in given)),
            label="not a whole number of replicas",
            help=f"write degrees whose product divides {ranks}",
        )


def _processes(work: Work, said: str | None) -> int:
    """The processes of a node; 0 where they are not known."""
    if said is not None and said != "gpu":
        return int(said) if said.isdigit() else 0
    if isinstance(work.processes, int):
        return work.processes
    if work.processes not in (None, "auto", "gpu"):
        return 0
    return work.accelerator[1] if work.accelerator is not None else 0
