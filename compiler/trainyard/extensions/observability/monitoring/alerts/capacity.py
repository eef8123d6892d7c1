"""What follows from one pool: the price of its nodes, and alerts of its reservations.

A file a pool, so that an edit of one pool changes no other's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from trainyard.catalog.prices import Price, on_demand
from trainyard.core.pools.spec import NodePool
from trainyard.eks.health.alert import CRITICAL, WARNING, Alert
from trainyard.eks.jobs.pod_labels import plain
from trainyard.eks.settings.launcher import launcher_asked
from trainyard.extensions.observability.monitoring.alerts.records import TYPE_DOLLARS
from trainyard.extensions.observability.monitoring.plan import Rule
from trainyard.plan.context import Context
from trainyard.plan.naming import part_name


def price_of_system(context: Context, name: str) -> Iterator[Rule]:
    """What an hour of a node of the system costs, where it is known."""
    price = on_demand(context.catalog, name, context.spec.region)
    if price is not None:
        yield _price(name, "system", price)


def _price(label: str, pool: str, price: Price) -> Rule:
    labels = {"instance_type": label, "pool": pool}
    return Rule(name=TYPE_DOLLARS, expr=f"vector({price.usd:g})", record=True, labels=labels)


def prices_of_pool(context: Context, pool: NodePool) -> Iterator[Rule]:
    """What an hour of each type of a pool costs, by what the labels of its nodes call the type."""
    launcher = launcher_asked(context, pool)
    for name in pool.instance_types:
        price = launcher.price(context.catalog, name, context.spec.region)
        if price is not None:
            yield _price(launcher.type_label(name), pool.name, price)


def alerts(context: Context, pool: NodePool) -> Iterator[Alert]:
    """Of blocks that end, and of reserved nodes that are not there."""
    for capacity in pool.capacity:
        block = capacity.block
        if block is not None and block.ends:
            yield block_ends(pool.name, _seconds(block.ends))
        reserved = sum(each.nodes or 0 for each in capacity.reservations)
        if capacity.reservations and not reserved:
            reserved = pool.nodes.max
        if reserved:
            price = on_demand(context.catalog, pool.instance_types[0], context.spec.region)
            cost = f", ${price.usd:g} an hour each" if price is not None else ""
            severity = CRITICAL if block is not None else WARNING
            there = _nodes_of(context, pool)
            starts = _seconds(block.starts) if block and block.starts else None
            ends = _seconds(block.ends) if block and block.ends else None
            notice = launcher_asked(context, pool).block_notice.seconds
            expr = f"({reserved} - {there}) > 0{while_it_lasts(starts, ends, notice)}"
            yield reservation_unused(pool.name, reserved, expr, cost, severity)


def _seconds(timestamp: str) -> int:
    return int(datetime.fromisoformat(timestamp).timestamp())


def _nodes_of(context: Context, pool: NodePool) -> str:
    """How many nodes a pool has, of which each reservation may have a part."""
    label = plain(launcher_asked(context, pool).part_label)
    ids = [each.id for capacity in pool.capacity for each in capacity.reservations]
    names = "|".join([pool.name, *(part_name(pool.name, one) for one in ids)])
    return f'(count(kube_node_labels{{label_{label}=~"{names}"}}) or vector(0))'


def while_it_lasts(starts: int | None, ends: int | None, notice: int) -> str:
    """The time of a block, in seconds since 1970, until its nodes are drained ``notice`` seconds before the end.

    Nothing is unused before and after that. Empty for other reservations.
    """
    bounds = ""
    if starts is not None:
        bounds += f" and on () vector(time()) > {starts}"
    if ends is not None:
        bounds += f" and on () vector(time()) < {ends - notice}"
    return bounds


def block_ends(pool: str, end: int) -> Alert:
    """The alert of a block that ends; ``end`` in seconds since 1970."""
    return Alert(
        name="BlockEnds",
        expr=f"(vector({end}) - time()) / 3600 > 0 < 24",
        severity=WARNING,
        summary=f"the Capacity Block of pool {pool} ends in {{{{ $value | humanize }}}} hours",
        means="EC2 takes its nodes 30 minutes before the end, and Trainyard drains them 40 minutes before.",
        steps=(
            "See that its jobs have saved, and when they save next.",
            "Extend the block or buy the next one, and write its `ends` into the spec.",
        ),
    )


def reservation_unused(pool: str, reserved: int, expr: str, cost: str, severity: str) -> Alert:
    """The alert of ``reserved`` nodes, some of which are not there; ``cost`` says what that is, if it is known."""
    return Alert(
        name="ReservationUnused",
        expr=expr,
        wait="30m",
        severity=severity,
        summary=f"{{{{ $value }}}} of {reserved} reserved nodes of pool {pool} are not used{cost}",
        means="A reservation is paid whether its nodes run or not.",
        steps=(
            "`kubectl get nodeclaims`: a node that is asked for and does not come has the reason.",
            "No job in the queue: give the quota to another team, or end the reservation.",
        ),
    )
