"""What a cluster is made of: its pools, their nodes, and the jobs that the simulation places on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import NamedTuple

from trainyard.core.jobs.plan import Gang
from trainyard.core.pools.spec import NodePool
from trainyard.core.storage.spec import StorageSection
from trainyard.extensions.forecast.blocks import Explained, Text
from trainyard.extensions.forecast.costs import Item
from trainyard.extensions.forecast.simulate.verdict import Forecast, Verdict
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.report.jobs import landing
from trainyard.extensions.review.report.storage import described
from trainyard.language.dataclass import dataclass
from trainyard.plan import Derived

# Nodes as squares of an SVG: those of one job are one path.

COLUMNS = 32
MOST = 256
"""Squares that are drawn at most; of a larger pool each stands for several nodes."""
SIDE, STEP = 9, 11
FREE = "free"


class Path(NamedTuple):
    """Squares of one kind: the class of the path, and its outline as SVG has it."""

    kind: str
    outline: str


class Squares(NamedTuple):
    """A drawing, of so many units, and how many nodes a square of it stands for."""

    width: int
    height: int
    each: int
    paths: tuple[Path, ...]


def squares(taken: Sequence[tuple[int, str]], most: int) -> Squares:
    """The nodes of a pool of ``most``: first so many of each kind, then those that are free."""
    nodes = max(most, sum(count for count, _ in taken), 1)
    each = -(-nodes // MOST)
    kinds = list(_kinds(taken, nodes, each))
    columns = min(COLUMNS, len(kinds))
    rows = -(-len(kinds) // columns)
    gap = STEP - SIDE
    outlines: dict[str, list[str]] = {}
    for number, kind in enumerate(kinds):
        row, column = divmod(number, columns)
        outlines.setdefault(kind, []).append(_square(column * STEP, row * STEP))
    paths = tuple(Path(kind, "".join(outline)) for kind, outline in outlines.items())
    return Squares(columns * STEP - gap, rows * STEP - gap, each, paths)


def _kinds(taken: Iterable[tuple[int, str]], nodes: int, each: int) -> Iterator[str]:
    """The kind of each square. One that stands for several nodes has that of the first."""
    all_kinds = [kind for count, kind in taken for kind in repeat(kind, count)]
    all_kinds += repeat(FREE, nodes - len(all_kinds))
    yield from all_kinds[::each]


def _square(x: int, y: int) -> str:
    return f"M{x} {y}h{SIDE}v{SIDE}h-{SIDE}z"


SHADES = 8
"""Jobs are told apart by so many colours; the ninth has that of the first. Their names stand beside them."""


class Placed(NamedTuple):
    """Nodes of a pool with a job on them, by domain of the topology or by zone; ``shade``: the colour of the job."""

    job: str
    nodes: int
    where: str
    shade: int


class Fact(NamedTuple):
    """Something that holds of every node of a pool."""

    name: str
    value: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolBox:
    """A pool: its facts, how many nodes there always are and at most, the jobs on them, and those with no place.

    ``free``: nodes of the most that no job is placed on; jobs may share some, so it may be more.
    """

    name: str
    facts: tuple[Fact, ...]
    least: int
    most: int
    placed: tuple[Placed, ...]
    free: int
    asking: tuple[str, ...]
    drawn: Squares


@dataclass(frozen=True, slots=True)
class Topology:
    """A cluster: nodes that run no jobs, pools, and storage with name, kind, size and the jobs that mount it."""

    others: tuple[Item, ...]
    pools: tuple[PoolBox, ...]
    storage: tuple[tuple[str, str, str, str], ...]


def topology(subject: Subject, items: Sequence[Item], forecast: Forecast | None) -> Topology:
    """What a cluster is made of. ``items``: its bill; ``forecast``: where jobs land, if it is known."""
    verdicts = forecast.verdicts if forecast is not None else ()
    shades = {verdict.job: number % SHADES for number, verdict in enumerate(verdicts)}
    efa = {value.object: value for value in subject.plan.derived if value.field == "efa"}
    names = {pool.name for pool in subject.pools()}
    storages = StorageSection.of(subject.spec).storage
    return Topology(
        others=tuple(item for item in items if item.node and item.name not in names),
        pools=tuple(_pool(subject, pool, verdicts, shades, efa) for pool in subject.pools()),
        storage=tuple(described(subject, storage) for storage in storages),
    )


def _pool(
    subject: Subject,
    pool: NodePool,
    verdicts: Sequence[Verdict],
    shades: Mapping[str, int],
    efa: Mapping[str, Derived],
) -> PoolBox:
    placed = tuple(_placed(pool.name, verdicts, shades))
    taken = sum(each.nodes for each in placed)
    most = pool.nodes.max
    jobs = {each.job for each in placed}
    return PoolBox(
        name=pool.name,
        facts=tuple(_facts(subject, pool, efa.get(f"pool/{pool.name}"))),
        least=pool.nodes.min,
        most=most,
        placed=placed,
        free=max(0, most - taken),
        asking=tuple(_asking(subject.plan.of(Gang), pool.name, jobs)),
        drawn=squares([(each.nodes, f"shade-{each.shade}") for each in placed], most),
    )


def _placed(pool: str, verdicts: Sequence[Verdict], shades: Mapping[str, int]) -> Iterator[Placed]:
    for verdict in verdicts:
        for where in verdict.where:
            if where.pool == pool:
                yield Placed(
                    verdict.job, where.nodes, where.domain or where.zone, shades[verdict.job]
                )


def _asking(gangs: Sequence[Gang], pool: str, placed: set[str]) -> Iterator[str]:
    """The jobs that would land on a pool, and are placed nowhere on it."""
    for gang in gangs:
        if gang.pool == pool and gang.source_name not in placed:
            yield f"{gang.source_name} ({gang.whole_nodes})"


def _facts(subject: Subject, pool: NodePool, efa: Derived | None) -> Iterator[Fact]:
    found = landing(subject, pool)
    yield Fact("type", found.types)
    if found.zones:
        yield Fact("zone", found.zones)
    yield Fact("capacity", found.capacity)
    yield from _accelerators(subject, pool)
    if efa is not None:
        yield Fact("EFA devices", Explained(efa.value, efa.reason))
    if found.placement:
        yield Fact("placement", "; ".join(found.placement))


def _accelerators(subject: Subject, pool: NodePool) -> Iterator[Fact]:
    """Accelerators of a node, by the catalog."""
    instance = subject.catalog.instance(pool.instance_types[0])
    if instance is not None and instance.accelerators:
        text = f"{instance.accelerators} × {instance.accelerator or instance.accelerator_resource}"
        yield Fact("a node has", Explained(text, f"{instance.name} by the catalog"))
