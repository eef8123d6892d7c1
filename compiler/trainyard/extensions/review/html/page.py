"""The whole page: every cluster with its tiles, its topology, its verdicts and its sections."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from types import ModuleType
from typing import Any, NamedTuple

from trainyard import __version__
from trainyard.extensions.forecast.blocks import (
    Block,
    Explained,
    Heading,
    Strong,
    Text,
    paragraph,
    table,
)
from trainyard.extensions.forecast.costs import Item, beforehand, total_costs
from trainyard.extensions.forecast.sections import admission, cost, spending, timeline
from trainyard.extensions.forecast.sections.bill import bill
from trainyard.extensions.forecast.sections.cost import usd
from trainyard.extensions.forecast.simulate.verdict import (
    Forecast,
    Kind,
    Verdict,
    helps,
    places,
    why,
)
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.consequences.shown import counted, is_new
from trainyard.extensions.review.html.bars import (
    Chart,
    cost_of_items,
    cost_of_jobs,
    courses,
    quotas,
)
from trainyard.extensions.review.html.topology import Topology, topology
from trainyard.extensions.review.report import (
    FIRST,
    UNTITLED,
    findings,
    overview,
    queues,
    rest,
    where,
)
from trainyard.extensions.review.report.amounts import amounts, cost_change
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.output.lowering.text import rendered

# What a cluster comes to, in a few numbers: cost, jobs, findings, and what the merge does.


class Tile(NamedTuple):
    """A few words under a title. ``mood``: ``good``, ``bad``, or empty where it is neither."""

    title: str
    words: str
    more: tuple[str, ...] = ()
    mood: str = ""


def tiles(subject: Subject, items: Sequence[Item], forecast: Forecast | None) -> Iterator[Tile]:
    """The tiles, those that a reviewer must act on first."""
    yield _findings(subject)
    yield _merge(subject)
    yield _cost(subject, items)
    if forecast is not None and forecast.verdicts:
        yield _jobs(forecast)


def _findings(subject: Subject) -> Tile:
    counts = Counter(finding.severity for finding in subject.findings)
    if not counts:
        return Tile("Findings", "none", mood="good")
    words = [numbered(counts[each], str(each)) for each in sorted(counts, reverse=True)]
    mood = "bad" if Severity.ERROR in counts else ""
    return Tile("Findings", words[0], tuple(words[1:]), mood)


def _merge(subject: Subject) -> Tile:
    files = len(subject.added) + len(subject.changed) + len(subject.removed)
    if not files:
        return Tile("The merge", "changes nothing", mood="good")
    if not subject.merge:
        return Tile("The merge", f"changes {numbered(files, 'file')}")
    if is_new(subject.merge):
        return Tile("The merge", "adds the cluster", (numbered(files, "file"),))
    words = [
        f"{each}: {numbered(count, 'object')}" for each, count in counted(subject.merge).items()
    ]
    return Tile("The merge", words[0], tuple(words[1:]))


def _cost(subject: Subject, items: Sequence[Item]) -> Tile:
    sums = total_costs(items, subject.spec.region)
    always = f"{usd(sums.always, exact=sums.exact)} an hour always"
    more = [f"{usd(sums.at_most, exact=sums.exact)} an hour at most, while jobs run"]
    bought = beforehand(
        sum(item.bought or 0.0 for item in items), sum(item.lasting or 0.0 for item in items)
    )
    if bought:
        more.insert(0, always)
        always = bought
    if subject.before is not None:
        change = cost_change(amounts(subject.before, subject, new=False))
        more.append(f"by the merge: {change.removeprefix('cost: ')}" if change else "as before")
    lacking = [item.name for item in items if item.usd is None]
    if lacking:
        more.append(f"without {', '.join(lacking)}: no price known")
    return Tile("Cost", always, tuple(more))


_VERDICTS = {
    Kind.NEVER: "never fits",
    Kind.WAITS: "waits for others",
    Kind.ONLY_IF: "fits on a condition",
    Kind.UNKNOWN: "not simulated",
}


def _jobs(forecast: Forecast) -> Tile:
    """How many jobs fit if all are submitted at once, and how many have each other verdict, the worst first."""
    counts = Counter(verdict.kind for verdict in forecast.verdicts)
    jobs = numbered(len(forecast.verdicts), "job")
    others = [f"{word}: {counts[kind]}" for kind, word in _VERDICTS.items() if kind in counts]
    bad = Kind.NEVER in counts or Kind.WAITS in counts
    mood = "bad" if bad else ""
    if not others:
        mood = "good"
    return Tile("Jobs at once", f"{counts[Kind.FITS]} of {jobs} fit", tuple(others), mood)


# The verdicts on all jobs, where the Markdown has only those that are not certainly admitted.


def verdicts(forecast: Forecast) -> Iterator[Block]:
    """A line for each job, and what the simulation assumes."""
    if not forecast.verdicts:
        return
    yield Heading("Admission")
    yield paragraph("If all jobs are submitted at once, as Kueue decides.")
    header = ("job", "queue", "verdict", "nodes", "because of", "helps")
    yield table(header, map(_row, forecast.verdicts))
    if forecast.notes:
        yield paragraph(*(f"Assumed: {note}." for note in forecast.notes))


def _row(verdict: Verdict) -> tuple[Text, ...]:
    kind: Text = str(verdict.kind)
    if verdict.kind is not Kind.FITS:
        kind = Strong(str(verdict.kind))
    return verdict.job, verdict.queue, kind, places(verdict), why(verdict), helps(verdict)


# A text of the report as spans: code between backticks (CommonMark 0.31, code spans), and the rest.

_TICK = "`"


class Span(NamedTuple):
    """Some words, and what they are: an element of HTML, or nothing."""

    element: str
    text: str


def spans(text: Text) -> Iterator[Span]:
    """The spans of a text."""
    if isinstance(text, tuple):
        for part in text:
            yield from spans(part)
    elif isinstance(text, Strong):
        yield Span("strong", text.text)
    elif isinstance(text, Explained):
        yield from _spans(text.text)
    else:
        yield from _spans(text)


def _spans(text: str) -> Iterator[Span]:
    """Code is between two runs of as many backticks; a run without its like is a text."""
    rest = text
    while rest:
        before, tick, _ = rest.partition(_TICK)
        if before:
            yield Span("", before)
        if not tick:
            return
        rest = rest[len(before) :]
        run = rest[: len(rest) - len(rest.lstrip(_TICK))]
        end = _end(rest, run)
        if end < 0:
            yield Span("", run)
            rest = rest[len(run) :]
            continue
        yield Span("code", _inner(rest[len(run) : end]))
        rest = rest[end + len(run) :]


def _end(text: str, run: str) -> int:
    """Where the next run of the same length starts; -1 where there is none."""
    at = len(run)
    while (at := text.find(run, at)) >= 0:
        after = text[at:]
        length = len(after) - len(after.lstrip(_TICK))
        if length == len(run):
            return at
        at += length
    return -1


def _inner(text: str) -> str:
    """Code without the one space on either side that keeps its backticks from the marks."""
    if text.startswith(" ") and text.endswith(" ") and text.strip():
        return text[1:-1]
    return text


_ROOM = "trainyard.extensions.review.html"


@dataclass(frozen=True, slots=True)
class Part:
    """A section: its id in the page, its title, a chart that stands before its blocks, and these."""

    id: str
    title: str
    blocks: tuple[Block, ...]
    chart: Chart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A cluster as the page has it. One without a plan has its findings alone."""

    id: str
    name: str
    where: str = ""
    tiles: tuple[Tile, ...] = ()
    topology: Topology | None = None
    parts: tuple[Part, ...]
    changed: bool = True


class Ids:
    """Ids of the page, of which none is given twice."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def __call__(self, *words: str) -> str:
        text = "-".join(words).lower()
        kept = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in text)
        id = kept
        numbers = count(2)
        while id in self._given:
            id = f"{kept}-{next(numbers)}"
        self._given.add(id)
        return id


def page(clusters: Sequence[Cluster], rows: Sequence[overview.Row] = ()) -> str:
    """The HTML of some clusters, of several with an overview before them: those with something to look at first, the
    others folded to a line. It loads nothing, and its policy allows no style and no script but its own."""
    several = len(rows) > 1
    if several:
        clusters = sorted(clusters, key=lambda cluster: not cluster.changed)
    style = rendered(_ROOM, "style.css")
    script = rendered(_ROOM, "script.js")
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    return rendered(
        _ROOM,
        "page.html",
        clusters=clusters,
        overview=list(overview.blocks(rows)) if several else [],
        policy=policy,
        style=style,
        script=script,
        version=__version__,
        spans=spans,
        kind=_kind,
        why=_why,
    )


def _hash(text: str) -> str:
    """How a policy names an inline style or script (CSP Level 3, hash-source)."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _kind(block: Block) -> str:
    return type(block).__name__


def _why(text: Any) -> str:
    return text.why if isinstance(text, Explained) else ""


def unfinished(name: str, diagnostics: Sequence[Diagnostic], ids: Ids) -> Cluster:
    """A cluster without a plan, or what belongs to none: what is wrong."""
    id = ids("cluster", name)
    parts = _parts(findings.of(diagnostics), UNTITLED[findings], id, ids)
    return Cluster(id=id, name=name, parts=tuple(parts))


def cluster(subject: Subject, ids: Ids, *, changed: bool = True) -> Cluster:
    """A cluster with everything that there is to say about it."""
    id = ids("cluster", subject.name)
    items = bill(subject)
    forecast = admission.simulated(subject)
    charts: Mapping[ModuleType, Callable[[], Chart]] = {
        cost: lambda: cost_of_items(items, subject.spec.region),
        spending: lambda: cost_of_jobs(list(spending.by_job(subject))),
        queues: lambda: quotas(list(queues.shares(subject))),
        timeline: lambda: _courses(subject),
    }
    parts = []
    for module in (*FIRST, *rest(subject)):
        blocks = module.section(subject)
        if module is admission and forecast is not None:
            blocks = verdicts(forecast)
        found = list(_parts(blocks, UNTITLED.get(module, ""), id, ids))
        if found and module in charts:
            found[0] = _with_chart(found[0], charts[module]())
        parts += found
    return Cluster(
        id=id,
        name=subject.name,
        where=where(subject),
        tiles=tuple(tiles(subject, items, forecast)),
        topology=topology(subject, items, forecast),
        parts=tuple(parts),
        changed=changed,
    )


def _courses(subject: Subject) -> Chart:
    found = timeline.simulated(subject)
    assert found is not None, "it has a section"
    return courses(found)


def _with_chart(part: Part, chart: Chart) -> Part:
    if not chart.bars:
        return part
    return Part(part.id, part.title, part.blocks, chart)


def _parts(blocks: Iterable[Block], title: str, cluster: str, ids: Ids) -> Iterator[Part]:
    """Blocks by their headings; those before the first one have a title of their own."""
    held: list[Block] = []
    for block in blocks:
        if not isinstance(block, Heading):
            held.append(block)
            continue
        if held:
            yield Part(ids(cluster, title), title, tuple(held))
        title, held = block.title, []
    if held:
        yield Part(ids(cluster, title), title, tuple(held))
