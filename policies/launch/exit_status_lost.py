from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.statements import Script, script_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_LAUNCHERS = ("torchrun", "hyperpodrun", "deepspeed", "accelerate", "mpirun", "mpiexec", "tune")
_PYTHONS = ("python", "python3")
_NOTHING = ("true", ":", "echo", "exit")


@rule("RUN127", gangs=True, containers=True, roles=True, severity=Severity.WARNING)
def exit_status_lost(work: Work) -> Iterator[Finding]:
    """A job counts as done although its training failed: the shell that starts it ends with another status.

    A container ends with the status of its shell, and that is the status of the last command (POSIX, XCU 2.8.2): of
    what comes after the training, of `true` behind `||`, of `tee` in a pipe without `pipefail`, and 0 at once for a
    command in the background that nobody waits for. Trainer then says that the job is complete, nothing is tried
    again, and no alert fires.

    ## Fails

        jobs: [{name: llama, command: [bash, -c, "torchrun train.py || true"]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun train.py &"]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun train.py; echo done"]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun train.py 2>&1 | tee /tmp/log"]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "set -e; torchrun train.py; echo done"]}]

        jobs: [{name: llama, command: [bash, -c, "set -o pipefail; torchrun train.py 2>&1 | tee /tmp/log"]}]

        jobs: [{name: llama, command: [bash, -c, "torchrun train.py & wait -n"]}]

        jobs: [{name: llama, command: [bash, -c, "mkdir /tmp/a || true; torchrun train.py && echo done"]}]
    """
    script = script_of(work.words)
    if script is None:
        return
    index = _training(script)
    if index is None:
        return
    fact, help = _lost(script, index)
    if fact:
        started = script.statements[index].program
        yield Finding(
            f"{work.title} counts as done when `{started}` fails: {fact}",
            work.where_said(started),
            label="its status is lost",
            help=help,
        )


def _training(script: Script) -> int | None:
    """The statement that trains: the last that starts ranks, or else a program of Python."""
    for programs in (_LAUNCHERS, _PYTHONS):
        for index in reversed(range(len(script.statements))):
            if script.statements[index].program in programs:
                return index
    return None


def _lost(script: Script, index: int) -> tuple[str, str]:
    """Why the status of a statement is not that of the script, and what to write; nothing where it is."""
    statement = script.statements[index]
    after = script.statements[index + 1 :]
    following = after[0].program if after else ""
    if statement.separator == "&" and "wait" not in [each.program for each in after]:
        return "it runs in the background, and nothing waits for it", "remove the `&`"
    if statement.separator == "||" and following in _NOTHING:
        said = " ".join(after[0].words)
        if following == "exit" and after[0].rest not in ((), ("0",)):
            return "", ""
        return f"`|| {said}` follows", f"remove `|| {said}`"
    if statement.separator in ("|", "|&") and not script.pipes_fail:
        return (
            f"the status of the pipe is that of `{following}`",
            "begin with `set -o pipefail;` (bash), or write the log by the program",
        )
    if statement.separator == ";" and after and not script.stops:
        said = " ".join(after[0].words)
        return f"`{said}` comes after it", "begin with `set -e;`, or write `&&` for `;`"
    return "", ""
