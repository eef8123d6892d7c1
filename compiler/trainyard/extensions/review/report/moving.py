"""A cluster on another platform: the keys that have to go, what is found then, what becomes of jobs and cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.core.jobs.plan import Gang
from trainyard.extensions.forecast.blocks import Block, Heading, code_text, paragraph, table
from trainyard.extensions.forecast.sections.cost import before_and_after
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.report import findings
from trainyard.extensions.review.report.findings import place
from trainyard.extensions.review.report.jobs import asked_for
from trainyard.extensions.review.report.markdown import lines
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.words import numbered
from trainyard.plan.features import Platform


def moving(
    here: Subject,
    platform: Platform,
    refused: Sequence[Diagnostic],
    found: Sequence[Diagnostic],
    there: Subject | None,
) -> str:
    """The report. ``refused``: keys that the platform does not take; ``found``: what is found without them;
    ``here`` and ``there``: the cluster on its own platform, and on the other one, if it has a plan there."""
    blocks = _blocks(here, platform, refused, found, there)
    return "\n".join([f"# {here.name} on {platform.name}", "", *lines(blocks)])


def _blocks(
    here: Subject,
    platform: Platform,
    refused: Sequence[Diagnostic],
    found: Sequence[Diagnostic],
    there: Subject | None,
) -> Iterator[Block]:
    assumed = f"`platform: {{{platform.name}: {{}}}}` is assumed."
    yield paragraph(f"{_counted(refused, found)} {assumed}")
    if refused:
        yield Heading("Keys that it does not take")
        yield table(("place", "key", "instead"), map(_key, refused))
    yield from findings.of(found)
    if there is not None:
        yield from _jobs(here, there)
        yield Heading("Cost")
        yield paragraph(before_and_after(here, there))


def _counted(refused: Sequence[Diagnostic], found: Sequence[Diagnostic]) -> str:
    if not refused and not found:
        return "It compiles as it is."
    keys = f"{numbered(len(refused), 'key')} to change" if refused else "No key to change"
    return f"{keys}, {numbered(len(found), 'finding')} then."


def _key(fault: Diagnostic) -> tuple[str, ...]:
    key = str(fault.at).removeprefix("spec.")
    return place(fault), code_text(key), fault.help


def _jobs(here: Subject, there: Subject) -> Iterator[Block]:
    """What runs each job, and what it asks for, on both."""
    before = {_identity(job): job for job in here.plan.of(Gang)}
    jobs = there.plan.of(Gang)
    if not jobs:
        return
    yield Heading("Jobs")
    header = ("job", here.platform.name, there.platform.name)
    rows = []
    for job in jobs:
        earlier = before.get(_identity(job))
        old = _job(earlier) if earlier is not None else "none"
        rows.append((job.source_name, old, _job(job)))
    yield table(header, rows)


def _identity(job: Gang) -> tuple[str, str]:
    return job.namespace, job.source_name


def _job(job: Gang) -> str:
    nodes = numbered(job.whole_nodes, "node")
    return f"{job.kind}, {nodes} of {job.pool}; a node asks for {asked_for(job)}"
