from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import launches, named_options
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered


@rule("RUN146", severity=Severity.WARNING, params={"restarts": 20}, gangs=True, roles=True)
def restarts_in_place_without_end(work: Work, world: World) -> Iterator[Finding]:
    """torchrun starts the processes again on the same nodes, many times.

    Each restart in place (PyTorch 2.8, torchrun `--max-restarts`) meets the same node: with a broken GPU, or an error
    in the program, all nodes are paid for while nothing is learnt. Restarts of the whole job get other nodes.
    `restarts` is the most that is accepted.

    ## Fails

        jobs: [{name: llama, maxRestarts: 100}]

        # params: {restarts: 1}
        jobs: [{name: llama, maxRestarts: 3}]

    ## Passes

        # params: {restarts: 200}
        jobs: [{name: llama, maxRestarts: 100}]

        jobs: [{name: llama, maxRestarts: 3}]
    """
    if not work.gang or not launches(work.words):
        return
    most = world.param("restarts")
    said = work.variables
    given = named_options(work.words).get("max-restarts") or said.get(_RESTARTS)
    if given is None or not given.isdecimal() or len(given) > 9 or int(given) <= most:
        return
    place = work.where_env(_RESTARTS) if _RESTARTS in said else work.at
    yield Finding(
        f"{work.title} starts its processes {numbered(int(given), 'time')} in place, on the same nodes",
        place,
        help=f"write at most {most}; restarts of the whole job get other nodes",
        spec_help=f"write `maxRestarts: {most}` at most; `retries` gets other nodes",
    )


_RESTARTS = "PET_MAX_RESTARTS"
