from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.judge.model.gangs import pod_sets
from trainyard.judge.model.sshd import starts_sshd
from trainyard.judge.model.statements import started
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("RUN129", gangs=True, roles=True, severity=Severity.WARNING)
def command_computes_nothing(work: Work) -> Iterator[Finding]:
    """A job with accelerators does nothing but wait: `sleep infinity`, `tail -f /dev/null`.

    It is left of a look at the image, and holds its nodes and its quota until somebody ends it. An honest session to
    look around has a `timeout`.

    ## Fails

        jobs: [{name: llama, command: [sleep, infinity]}]

        jobs: [{name: llama, command: [bash, -c, "nvidia-smi; sleep infinity"]}]

        jobs: [{name: llama, command: [tail, -f, /dev/null]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "sleep 10; torchrun train.py"]}]

        jobs: [{name: llama, timeout: 2h, command: [sleep, infinity]}]
    """
    if not work.is_accelerated or work.deadline is not None:
        return
    if _serves_others(work):
        return
    waits = _last(work.words)
    if waits:
        yield Finding(
            f"{work.title} waits for ever in `{waits}` with its accelerators",
            work.where_said(waits.split()[0]),
            label="holds its nodes until somebody ends it",
            help="write the program to run, or give the job a deadline",
            spec_help="write the program to run, or give `timeout: 2h` for a session to look around",
        )


def _serves_others(work: Work) -> bool:
    """Whether the pods wait for others of their job to log in: those of an MPIJob (RUN196), or any that start sshd
    beside other pods."""
    several = len(pod_sets(work)) > 1
    return several and (work.kind == "MPIJob" or starts_sshd(work.words))


def _last(words: Sequence[str]) -> str:
    """The last command that is run, where it never ends."""
    for name, rest, *_ in started(words)[-1:]:
        if _never_ends(name, rest):
            return " ".join((name, *rest))
    return ""


def _never_ends(name: str, rest: Sequence[str]) -> bool:
    """Whether a command is one that people wait with."""
    if name == "sleep":
        return bool(rest) and rest[0] in ("infinity", "inf")
    return name == "tail" and "/dev/null" in rest and rest[0].startswith("-")
