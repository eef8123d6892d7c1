"""What the nodes cost, by the on-demand prices of the catalog."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.dataclass import dataclass
from compiler.report.markdown import table
from compiler.report.subject import Subject
from compiler.subjects.cluster.spec import ClusterSection
from compiler.subjects.pools.spec import NodePool, PoolsSection, in_words

_REFERENCE = "us-east-1"
_PAID_BEFORE = "block"
_WORDS = {
    "on-demand": "on demand",
    "spot": "spot, at most",
    "reserved": "reserved: paid whether used or not",
    "block": "Capacity Block: paid when it is bought",
}


@dataclass(frozen=True, slots=True)
class Line:
    """Nodes of one kind: how many are always paid, how many at most, and the price of one in USD an hour.

    ``price`` is ``None`` where none is known; ``exact`` is false where it is that of another Region. ``paid``: once
    for all, before the nodes start, so that they cost nothing by the hour.
    """

    name: str
    instance_type: str
    least: int
    most: int
    price: float | None
    exact: bool
    how: str
    paid: bool = False


def lines(subject: Subject) -> Iterator[Line]:
    """The system nodes, and each pool. How many nodes run the controllers of a cluster with EKS Auto Mode, it says."""
    if ClusterSection.of(subject.spec).auto_mode is None:
        yield _of_the_system(subject)
    for pool in PoolsSection.of(subject.spec).node_pools:
        price, exact = price_of(subject, pool.instance_types)
        how = in_words(pool.capacity_types[0])
        yield Line(
            pool.name,
            ", ".join(pool.instance_types),
            _always(pool),
            pool.nodes.max,
            price,
            exact,
            _WORDS[how],
            paid=how == _PAID_BEFORE,
        )


def _of_the_system(subject: Subject) -> Line:
    system = ClusterSection.of(subject.spec).eks.system_nodes
    price, exact = _price(subject, system.instance_type)
    # One more while the group is updated: an EKS managed node group surges by one.
    return Line(
        "system",
        system.instance_type,
        system.nodes,
        system.nodes + 1,
        price,
        exact,
        _WORDS["on-demand"],
    )


def _always(pool: NodePool) -> int:
    """Nodes that are paid whatever runs: those that are always on, and all of a reservation."""
    if pool.capacity_types == ("reserved",):
        return pool.nodes.max
    return pool.nodes.min


def _price(
    subject: Subject,
    name: str,
) -> tuple[float | None, bool]:
    """USD an hour of an instance on demand; that of us-east-1 where the Region's own is not known."""
    instance = subject.catalog.instance_types.get(name)
    if instance is not None:
        prices = instance.price_usd_hour
    else:
        prices = {}
    own = prices.get(subject.spec.region)
    if own is not None:
        return own, True
    return prices.get(_REFERENCE), False


def price_of(
    subject: Subject,
    names: list[str],
) -> tuple[float | None, bool]:
    """USD an hour on demand of the dearest of several types, known only where all of them are; and whether it is that
    of the Region."""
    prices = [_price(subject, name) for name in names]
    amounts = [price for price, _ in prices]
    known = [price for price in amounts if price is not None]
    if len(known) < len(prices):
        return None, False
    of_region = all(exact for _, exact in prices)
    return max(known), of_region


def section(subject: Subject) -> Iterator[str]:
    """Cost an hour by pool, and in all."""
    every = list(lines(subject))
    hourly = [line for line in every if not line.paid]
    known = [line for line in hourly if line.price is not None]
    exact = all(line.exact for line in known)
    about = "" if exact else "≈ "
    least = 0.0
    most = 0.0
    for line in known:
        price = line.price or 0
        least += line.least * price
        most += line.most * price
    yield from ("## Cost", "")
    at_least = f"{about}{_usd(least)} an hour with no job"
    bounds = f"{at_least}, {about}{_usd(most)} at most"
    yield f"{bounds}; nodes only."
    yield _source(subject, hourly)
    yield ""
    header = (
        "pool",
        "type",
        "nodes:",
        "USD an hour a node:",
        "with no job:",
        "at most:",
        "capacity",
    )
    yield from table(header, map(_row, every))


def _row(line: Line) -> tuple[str, ...]:
    nodes = f"{line.least} to {line.most}"
    if line.least == line.most:
        nodes = str(line.most)
    amounts = _amounts(line)
    return line.name, line.instance_type, nodes, *amounts, line.how


def _amounts(line: Line) -> tuple[str, str, str]:
    """USD an hour of a node, of all nodes that are always paid, and of all that there may be."""
    if line.paid:
        return "–", "–", "–"
    if line.price is None:
        return "?", "?", "?"
    about = "" if line.exact else "≈ "
    least = line.least * line.price
    most = line.most * line.price
    amounts = (
        line.price,
        least,
        most,
    )
    price, at_least, at_most = (f"{about}{amount:,.2f}" for amount in amounts)
    return price, at_least, at_most


def _usd(amount: float) -> str:
    return f"${amount:,.2f}"


def _source(
    subject: Subject,
    every: list[Line],
) -> str:
    sources = subject.catalog.sources
    of_prices = (source for source in sources if "price" in source.name)
    source = next(of_prices, None)
    text = ""
    if source is not None:
        text = f"On-demand list prices of {source.date}."
    if not all(line.exact for line in every):
        text += f" ≈: the price of {_REFERENCE}, since the catalog has none of {subject.spec.region}."
    unpriced = [line for line in every if line.price is None]
    missing = [line.instance_type for line in unpriced]
    if missing:
        text += f" Not counted, since no price is known: {', '.join(missing)}."
    return text
