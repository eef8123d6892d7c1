"""What becomes of a job after one kind of failure."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from trainyard.extensions.forecast.failures.footing import Footing, From, Repeated
from trainyard.extensions.forecast.failures.parts import Part, Span, added
from trainyard.language.dataclass import dataclass


class Failure(StrEnum):
    """The kinds of failures, in the order in which they are shown."""

    NODE = "a node is lost"
    PROGRAM = "Xid of the program"
    RESET = "Xid: the GPU must be reset"
    REPLACE = "Xid: the node must be replaced"
    ZONE = "its zone is lost"
    BLOCK = "its Capacity Block ends"
    LEAVES = "it leaves the spec"
    CONTROLLER = "the head node is lost"
    UPGRADE = "upgrade"

    @property
    def key(self) -> str:
        """What programs call it."""
        return self.name.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Who ``notices`` a failure, who ``acts``, and what the job goes on from.

    ``of``: what fails of several, like the Xids. ``needs``: what must be there before it goes on. ``parts``: the time
    until its first new step; () is none, or never. ``repeated``: work that is done again; ``None`` where that is not
    known. ``holds``: it keeps nodes meanwhile, which are paid. ``source``: of what is said in words.
    """

    failure: Failure
    job: Footing
    notices: str
    acts: str
    resumes: From = From.NOTHING
    of: str = ""
    needs: str = ""
    parts: tuple[Part, ...] = ()
    repeated: Repeated | None = None
    holds: bool = True
    source: str = ""

    @property
    def title(self) -> str:
        """The failure, and of what."""
        return f"{self.failure}: {self.of}" if self.of else str(self.failure)

    @property
    def is_harmless(self) -> bool:
        """Whether the job runs on as if nothing had happened."""
        return self.resumes is From.RUNS_ON

    @property
    def span(self) -> Span | None:
        """The time until the first new step; ``None`` where the job does not stop, or does not go on."""
        if not self.parts or self.resumes is From.NOTHING:
            return None
        return added(self.parts)

    @property
    def node_hours(self) -> tuple[float, float] | None:
        """What the nodes that stop lose, as far as it is known: the work that is repeated as a rule, with the shortest
        and the longest time until the first new step; without nodes meanwhile the work alone, up to the most. ``None``
        where it is not known what is repeated."""
        if self.is_harmless:
            return 0.0, 0.0
        if self.repeated is None:
            return None
        usual, most = self.repeated
        span = self.span
        if self.holds and span is not None:
            usual, most = span.least + usual, span.most + usual
        return self.job.stopped * usual / 3600, self.job.stopped * most / 3600


def restarted(outcome: Outcome, *, in_place: bool = False) -> Outcome:
    """The outcome of a failure that ends a job, which is then started again as often as its retries say; ``in_place``:
    torchrun may do that by itself. ``parts`` of what is given are those until its program runs."""
    job = outcome.job
    if job.retries == 0 and not (in_place and job.in_place):
        needs = "`retries` above 0: nothing starts it again"
        return replace(outcome, needs=needs, parts=(), repeated=job.repeated)
    parts = (*outcome.parts, *job.reading())
    return replace(outcome, resumes=job.base, parts=parts, repeated=job.repeated)


def runs_on(
    failure: Failure, job: Footing, acts: str, *, of: str = "", source: str = ""
) -> Outcome:
    """The outcome of what no pod of a job feels."""
    return Outcome(
        failure=failure,
        job=job,
        notices="nobody has to",
        acts=acts,
        resumes=From.RUNS_ON,
        of=of,
        source=source,
    )
