from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.judge.model.launchers import launched
from trainyard.judge.model.statements import started
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_KINDS = {
    ".sh": "a script of a shell",
    ".bash": "a script of a shell",
    ".ipynb": "a notebook",
    ".json": "no program",
    ".yaml": "no program",
    ".yml": "no program",
    ".toml": "no program",
}


@rule("RUN141", pods=True, roles=True)
def program_of_another_kind(work: Work) -> Iterator[Finding]:
    """torchrun or Python is given a file that is no program of Python, or one below `~`.

    Python reads the file as its own and ends with a SyntaxError on every node. `~` means the home folder to a shell
    alone; without one it is a folder of that name.

    ## Fails

        jobs: [{name: llama, command: [torchrun, train.sh]}]

        jobs: [{name: llama, command: [torchrun, --max-restarts=3, train.ipynb]}]

        jobs: [{name: llama, command: [torchrun, ~/train.py]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, train.py, --config, train.yaml]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun ~/train.py"]}]

        jobs: [{name: llama, command: [torchrun, --no-python, ./train.sh]}]

        jobs: [{name: llama, nodes: 1, command: [torchrun, --standalone, train.py, train.yaml]}]
    """
    for name, rest, in_shell, _ in started(work.words):
        yield from _judged(work, name, rest, expands=in_shell)


def _judged(work: Work, name: str, rest: Sequence[str], *, expands: bool) -> Iterator[Finding]:
    what = launched(name, rest)
    if what is None or not what.is_file:
        return
    file = what.word
    _, dot, ending = file.rpartition(".")
    kind = _KINDS.get(f"{dot}{ending}")
    if kind is not None:
        yield Finding(
            f"`{name}` of {work.title} runs `{file}`, which is {kind}",
            work.where_said(file),
            label="a SyntaxError on every node",
            help="write a program of Python, or start the file by what reads it, like `[bash, train.sh]`",
        )
    elif file.startswith("~/") and not expands:
        yield Finding(
            f"`{name}` of {work.title} runs `{file}`, and no shell says what `~` is",
            work.where_said(file),
            help=f"write the whole path, like `/workspace/{file[2:]}`",
        )
