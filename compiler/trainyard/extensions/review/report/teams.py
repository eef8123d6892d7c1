"""Whom a month is paid for: what each team may spend at most, and what teams have together.

What several teams have together is in a line of theirs, and what all have in that of the cluster: who uses how much of
it nothing here says, so it is not divided.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.catalog.prices import MONTH
from trainyard.core.queues.spec import QueuesSection
from trainyard.core.storage.spec import StorageSection
from trainyard.eks.kueue.plan import LocalQueue
from trainyard.extensions.forecast.blocks import Block, Explained, Heading, Text, paragraph, table
from trainyard.extensions.forecast.costs import Item, mounting, storage_items
from trainyard.extensions.forecast.platforms import costs_of
from trainyard.extensions.forecast.sections.cost import number
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.report.queues import shares
from trainyard.language.dataclass import dataclass

Teams = tuple[str, ...]
CLUSTER: Teams = ()
"""All teams of the cluster."""
NODES, STORAGE, SERVICES = "nodes", "storage", "services"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Something that teams pay for: USD of a month at most, ``None`` where no price is known. ``exact``: whether its
    prices are those of the Region."""

    teams: Teams
    kind: str
    name: str
    usd: float | None
    exact: bool


def section(subject: Subject) -> Iterator[Block]:
    """A line for each team, for teams that have something together, and for the cluster."""
    found = list(parts(subject))
    owners = sorted(
        {part.teams for part in found}, key=lambda teams: (not teams, len(teams), teams)
    )
    if not any(owners):
        return
    yield Heading("Cost by team and month")
    lines: list[Text] = [
        "USD, at most: with every node of a quota in use all month, and a Capacity Block for as long as it lasts. A "
        "node that a queue borrows counts for the queue that lends it. What teams have together is not divided, and "
        "nodes that are in no quota are the cluster's."
    ]
    lacking = dict.fromkeys(f"`{part.name}`" for part in found if part.usd is None)
    if lacking:
        lines.insert(0, f"Without {', '.join(lacking)}: no price known.")
    yield paragraph(*lines)
    header = ("team", "has", *(f"{kind}:" for kind in (NODES, STORAGE, SERVICES)), "all:")
    yield table(header, (_row(teams, found) for teams in owners))


def parts(subject: Subject) -> Iterator[Part]:
    """What is paid for in a month at most, each with the teams that it is for."""
    yield from _nodes(subject)
    yield from _storage(subject)
    for item in costs_of(subject):
        if not item.pool:
            yield _part(subject, CLUSTER, SERVICES, item.name, [item], item.most)


def _nodes(subject: Subject) -> Iterator[Part]:
    """The nodes of the queues, with what each node has, and those that are in no queue's quota."""
    costs = list(costs_of(subject))
    left = {pool.name: pool.nodes.max for pool in subject.pools()}
    quotas: dict[tuple[Teams, str], int] = {}
    for share in shares(subject):
        key = _teams(subject, share.queue), share.pool
        quotas[key] = quotas.get(key, 0) + share.quota
        left[share.pool] = left.get(share.pool, 0) - share.quota
    for pool, count in left.items():
        if count > 0:
            quotas[CLUSTER, pool] = quotas.get((CLUSTER, pool), 0) + count
    for (teams, pool), count in quotas.items():
        of_node = [item for item in costs if item.pool == pool]
        yield _part(subject, teams, NODES, f"{count} of {pool}", of_node, count)


def _teams(subject: Subject, queue: str) -> Teams:
    """The namespaces that a queue takes jobs of; those of the whole cluster where the spec has no queues."""
    for each in QueuesSection.of(subject.spec).queues:
        if each.name == queue:
            return tuple(sorted(each.namespaces))
    locals = subject.plan.of(LocalQueue)
    return tuple(sorted({each.namespace for each in locals if each.cluster_queue == queue}))


def _storage(subject: Subject) -> Iterator[Part]:
    """Each storage, for those whose jobs mount it; of volumes that each pod or namespace has, for each its own."""
    for storage in StorageSection.of(subject.spec).storage:
        jobs = mounting(subject, storage)
        users = tuple(sorted({job.namespace for job in jobs}))
        for item in storage_items(subject, storage):
            if storage.disk is None:
                yield _part(subject, users, STORAGE, item.name, [item], item.most)
                continue
            for team in users:
                of_team = [job.nodes or 1 for job in jobs if job.namespace == team]
                volumes = sum(of_team) if storage.disk.each == "pod" else 1
                yield _part(subject, (team,), STORAGE, item.name, [item], volumes)


def _part(
    subject: Subject, teams: Teams, kind: str, name: str, items: Sequence[Item], count: int
) -> Part:
    """So many of what each consists of some items."""
    exact = all(item.is_exact(subject.spec.region) for item in items)
    each = _each(items)
    usd = None if each is None else count * each
    return Part(teams=teams, kind=kind, name=name, usd=usd, exact=exact)


def _each(items: Sequence[Item]) -> float | None:
    """USD of a month, or of the hours of a Capacity Block where it is shorter."""
    hours = min((item.block for item in items if item.block), default=MONTH)
    whole = 0.0
    for item in items:
        if item.usd is None:
            return None
        whole += item.usd * min(hours, MONTH)
    return whole if items else None


def _row(teams: Teams, found: Sequence[Part]) -> tuple[Text, ...]:
    own = [part for part in found if part.teams == teams]
    has = [part.name for part in own if part.kind != SERVICES]
    return (
        ", ".join(teams) if teams else "the cluster",
        ", ".join(dict.fromkeys(has)),
        *(_sum([part for part in own if part.kind == kind]) for kind in (NODES, STORAGE, SERVICES)),
        _sum(own),
    )


def _sum(own: Sequence[Part]) -> Text:
    """The sum of what has a price; ``?`` where nothing has one."""
    if not own:
        return ""
    known = [part.usd for part in own if part.usd is not None]
    why = ", ".join(_why(part) for part in own)
    if not known:
        return Explained("?", why)
    return Explained(number(sum(known), exact=all(part.exact for part in own)), why)


def _why(part: Part) -> str:
    if part.usd is None:
        return f"{part.name}: no price known"
    return f"{part.name}: ${part.usd:,.2f}"
