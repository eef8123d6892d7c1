from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("RUN130", pods=True, containers=True, roles=True, params={"bytes": 131_071})
def argument_too_long(work: Work, world: World) -> Iterator[Finding]:
    """A single argument or environment variable is longer than Linux gives to a program.

    One string of a command or an environment may have 131,072 bytes with the zero at its end (execve(2),
    MAX_ARG_STRLEN: 32 pages of 4 KiB); beyond that no container starts: `argument list too long`. Long texts go to
    files, or into the image. `bytes` is what a string may have.

    ## Fails

        # params: {bytes: 16}
        jobs: [{name: llama, command: [torchrun, train.py, "--names=a,b,c,d,e"]}]

        # params: {bytes: 16}
        jobs: [{name: llama, env: {CONFIG: "a, b, c, d, e"}, command: [torchrun, train.py]}]

    ## Passes

        # params: {bytes: 4096}
        jobs: [{name: llama, command: [torchrun, train.py, "--names=a,b,c,d,e"]}]

        jobs: [{name: llama, command: [torchrun, train.py, "--names=a,b,c,d,e"]}]
    """
    most = world.param("bytes")
    said = [(word, work.where_said(word[:40])) for word in work.words if len(word) * 4 > most]
    for word, at in said:
        size = len(word.encode())
        if size > most:
            yield Finding(
                f"an argument of {work.title} has {size:,} bytes, and Linux takes {most:,}",
                at,
                label="no container starts",
                help="write it to a file that the program reads",
            )
    for name, value in work.env.items():
        if (len(name) + len(value or "")) * 4 < most:
            continue  # a character has four bytes at most
        size = len(f"{name}={value or ''}".encode())
        if size > most:
            yield Finding(
                f"`{name}` of {work.title} has {size:,} bytes with its name, and Linux takes {most:,}",
                work.where_env(name),
                label="no container starts",
                help="write it to a file that the program reads",
            )
