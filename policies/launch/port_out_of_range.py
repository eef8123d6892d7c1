from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import placeholder

_OPTIONS = ("master-port", "main-process-port", "ssh-port")
_ENDPOINTS = ("rdzv-endpoint", "coordinator-address")
_VARIABLES = ("MASTER_PORT", "PET_MASTER_PORT")
_LAST = 65535  # RFC 9293, 3.1: 16 bits


@rule("RUN199", pods=True, roles=True)
def port_out_of_range(work: Work) -> Iterator[Finding]:
    """A port at which the nodes of a job are to meet is none.

    A port is a number from 1 to 65535 (RFC 9293, 3.1); 0 is any free one, which the other nodes do not know. The first
    node cannot listen there, and the job ends before its first step, or waits until its rendezvous times out.

    ## Fails

        jobs: [{name: llama, command: [torchrun, --master_port=99999, train.py]}]

        jobs: [{name: llama, command: [torchrun, "--rdzv-endpoint=llama-0.llama:295000", train.py]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, --master_port=29500, train.py]}]

        jobs: [{name: llama, nodes: 1, command: [torchrun, --rdzv-endpoint=localhost:0, train.py]}]
    """
    for said, port, at in _ports(work):
        if placeholder(port) or not port.isdecimal():
            continue
        is_any = int(port) == 0 and (work.nodes or 1) == 1
        if not is_any and not 0 < int(port) <= _LAST:
            yield Finding(
                f"{said} of {work.title} is `{port}`, which is no port",
                at,
                label="nobody listens there",
                help="write a number from 1024 to 65535, like 29500",
            )


def _ports(work: Work) -> Iterator[tuple[str, str, Route]]:
    """The ports of a command and of its variables, what each is called, and where it stands."""
    for name, value in options(work.words):
        if name in _OPTIONS:
            yield f"`--{name}`", value or "", work.where_said(name.partition("-")[2])
        elif name in _ENDPOINTS:
            _, colon, port = (value or "").rpartition(":")
            if colon:
                yield f"the port of `--{name}`", port, work.where_said(name.partition("-")[2])
    for name in _VARIABLES:
        value = work.env.get(name)
        if value is not None:
            yield f"`{name}`", value, work.where_env(name)
