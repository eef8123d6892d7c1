from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.command import program, runs_shell
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_ONE_WORD = re.compile(r"(?P<option>--?[A-Za-z][\w.-]*)[ \t]+(?P<value>[^\s'\"]+)")
_PROGRAMS = re.compile(r"python[0-9.]*|torchrun|accelerate|deepspeed|tune")


@rule("RUN123", pods=True, containers=True, roles=True)
def option_and_value_in_one_word(work: Work) -> Iterator[Finding]:
    """An option and its value are one word of a command that no shell reads.

    Each item of `command` and `args` is one argument (Kubernetes, define a command and arguments): a program gets
    `--lr 3e-4` as the name of an option with a blank in it. argparse ends with "unrecognized arguments", and a program
    that ignores what it does not know trains with its default.

    ## Fails

        jobs: [{name: llama, command: [torchrun, train.py, "--lr 3e-4"]}]

        jobs: [{name: llama, command: [torchrun, train.py], args: ["--epochs 3", "--batch-size 8"]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, train.py, --config, large.yaml, --lr=3e-4]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun train.py --lr 3e-4"]}]

        jobs: [{name: llama, command: [torchrun, train.py, --prompt, "- a list", "--name=a run"]}]
    """
    said = "".join(work.words)
    if " " not in said and "\t" not in said:
        return
    if not _PROGRAMS.fullmatch(program(work.words)):
        return
    for word in work.words[1:]:
        if runs_shell((word,)):
            return
        found = _ONE_WORD.fullmatch(word)
        if found is None:
            continue
        yield Finding(
            f"`{word}` is one word in the command of {work.title}",
            work.where_said(word),
            label="an option of this name is not known",
            help=f"write two items, `{found['option']}` and `{found['value']}`, "
            f"or `{found['option']}={found['value']}`",
        )
