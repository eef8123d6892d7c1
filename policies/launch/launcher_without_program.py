from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.judge.model.launchers import launched
from trainyard.judge.model.statements import started
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_ENDS = {"-h", "--help", "--version", "-V"}


@rule("RUN128", pods=True, containers=True, roles=True)
def launcher_without_program(work: Work) -> Iterator[Finding]:
    """torchrun or Python is started without a program to run.

    torchrun ends with an error of its arguments; Python reads programs from its input, finds none and ends with
    success, so that the job is complete before it has begun.

    ## Fails

        jobs: [{name: llama, command: [torchrun]}]

        jobs: [{name: llama, command: [torchrun, --nproc-per-node=8, --max-restarts, "3"]}]

        jobs: [{name: llama, nodes: 1, command: [python, -u]}]

        jobs: [{name: llama, command: [bash, -c, "cd /app && torchrun --nproc-per-node=8"]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, --nproc-per-node=8, train.py]}]

        jobs: [{name: llama, command: [torchrun, --nproc-per-node, "8", -m, team.train]}]

        jobs: [{name: llama, nodes: 1, command: [python, -c, "print(1)"]}]

        jobs: [{name: llama, command: [torchrun], args: [train.py]}]
    """
    for name, rest, _, piped in started(work.words):
        # What a pipe begins with may get its program by a file or another pipe.
        if piped or _has_program(name, rest):
            continue
        yield Finding(
            f"{work.title} starts `{name}` without a program",
            work.where_said(name),
            label="nothing is run",
            help=f"write the program behind it, like `{name} train.py`",
        )


def _has_program(name: str, rest: Sequence[str]) -> bool:
    what = launched(name, rest)
    return what is None or bool(what.word) or any(word in _ENDS for word in rest)
