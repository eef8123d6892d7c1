from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_OPTIONS = {
    "backend": (("gloo",), "sends gradients over TCP by the CPUs"),
    "dist-backend": (("gloo",), "sends gradients over TCP by the CPUs"),
    "ddp-backend": (("gloo",), "sends gradients over TCP by the CPUs"),
    "device": (("cpu",), "trains on CPUs"),
    "accelerator": (("cpu",), "trains on CPUs"),
}


@rule("RUN142", severity=Severity.WARNING, pods=True, roles=True)
def accelerators_unused(work: Work) -> Iterator[Finding]:
    """A job with accelerators tells its program not to use them.

    `--backend gloo` and `--device cpu` are for tests on a laptop (PyTorch 2.8, torch.distributed, which backend to
    use): on a node of GPUs the program runs, many times slower, and nothing fails.

    ## Fails

        jobs: [{name: llama, command: [torchrun, train.py, --backend=gloo]}]

        jobs: [{name: llama, command: [torchrun, train.py, --device, cpu]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, train.py, --backend=nccl]}]
    """
    if not work.is_accelerated:
        return
    for name, value in options(work.words):
        values, effect = _OPTIONS.get(name, ((), ""))
        if value in values:
            yield Finding(
                f"`--{name}={value}` of {work.title} {effect}",
                work.where_said(f"--{name}"),
                label="the accelerators are idle",
                help="remove it, or take a pool without accelerators",
            )
