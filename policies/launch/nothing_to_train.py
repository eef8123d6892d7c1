from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_COUNTS = (
    "epochs",
    "num-epochs",
    "num-train-epochs",
    "max-steps",
    "train-iters",
    "batch-size",
    "per-device-train-batch-size",
    "micro-batch-size",
    "global-batch-size",
    "train-batch-size",
)
_RATES = ("lr", "learning-rate")


@rule("RUN143", gangs=True, roles=True, severity=Severity.WARNING)
def nothing_to_train(work: Work) -> Iterator[Finding]:
    """An option tells the program to train for no step, with an empty batch, or by no learning rate.

    The gang starts, loads its model and ends, or goes on without learning.

    ## Fails

        jobs: [{name: llama, command: [torchrun, train.py, --epochs=0]}]

        jobs: [{name: llama, command: [torchrun, train.py, --batch-size, "0"]}]

        jobs: [{name: llama, command: [torchrun, train.py, --learning-rate=nan]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, train.py, --epochs=1, --batch-size=4, --learning-rate=3e-4]}]

        jobs: [{name: llama, command: [torchrun, train.py, --max-steps=-1, --seed=0]}]
    """
    for name, value in options(work.words):
        if value is None or not _is_nothing(name, value):
            continue
        yield Finding(
            f"`--{name}={value}` of {work.title} leaves nothing to train",
            work.where_said(f"--{name}"),
            help="write a value above 0",
        )


def _is_nothing(name: str, value: str) -> bool:
    if name in _COUNTS:
        return value.isdecimal() and int(value[:20]) == 0
    if name in _RATES:
        try:
            rate = float(value[:40])
        except ValueError:
            return False
        return not rate > 0
    return False
