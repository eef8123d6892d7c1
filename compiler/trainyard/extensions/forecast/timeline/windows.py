"""When the nodes of each pool exist, in seconds from the beginning of a timeline, and the world at each moment."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from trainyard.core.pools.plan import CapacityWindow
from trainyard.extensions.forecast.simulate.compiled import Cluster
from trainyard.extensions.forecast.simulate.objects import Cell, Limits, Node
from trainyard.extensions.forecast.simulate.state import World
from trainyard.language.dataclass import dataclass
from trainyard.plan import Plan

_NOTHING = Limits(0, 0, 0)


@dataclass(frozen=True, slots=True)
class Window:
    """The nodes of a pool exist from ``opens`` to ``closes``; ``None`` is without an end."""

    pool: str
    opens: int
    closes: int | None

    def is_open(self, moment: int) -> bool:
        """Whether the nodes exist at a moment: at the end they are gone."""
        return self.opens <= moment and (self.closes is None or moment < self.closes)


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a cluster by pool. ``origin``: the second since 1970 at which the timeline begins, where some
    window needs it. ``notes``: what is assumed."""

    of: Mapping[str, Window]
    origin: int | None
    notes: tuple[str, ...] = ()

    def moments(self) -> list[int]:
        """When a pool opens or closes, after the beginning."""
        found = {window.opens for window in self.of.values()}
        found |= {window.closes for window in self.of.values() if window.closes is not None}
        return sorted(moment for moment in found if moment > 0)


def windows(plan: Plan, origin: int | None = None) -> Windows:
    """The windows of a plan. Without a given origin the timeline begins with the first Capacity Block."""
    blocks = plan.of(CapacityWindow)
    starts = [block.starts for block in blocks if block.starts is not None]
    if origin is None:
        origin = min(starts, default=None)
    if origin is None:
        notes = tuple(
            f"when the Capacity Block of `{block.name}` ends is not known from the beginning of the timeline:"
            " `--start` says when that is"
            for block in blocks
        )
        return Windows({}, None, notes)
    return Windows({block.name: _window(block, origin) for block in blocks}, origin)


def _window(block: CapacityWindow, origin: int) -> Window:
    opens = 0 if block.starts is None else block.starts - origin
    closes = None if block.closes is None else block.closes - origin
    return Window(block.name, opens, closes)


class Worlds:
    """The world of a cluster at each moment: closed pools have no nodes, and their flavors no quota.

    In a cluster the quota stays, and pods that Kueue admits to a closed pool wait for nodes until ``waitForPodsReady``
    evicts the job: what runs in the end is the same.
    """

    def __init__(self, cluster: Cluster, windows: Windows) -> None:
        self._cluster = cluster
        self._windows = windows
        self._pools_of = _pools_by_flavor(cluster) if windows.of else {}

    def closed(self, moment: int) -> frozenset[str]:
        """The pools without nodes at a moment."""
        return frozenset(
            window.pool for window in self._windows.of.values() if not window.is_open(moment)
        )

    def is_offered_without_nodes(self, pool: str) -> bool:
        """Whether Kueue admits jobs to a pool by quota alone: with a topology it counts the nodes that are there."""
        flavors = self._cluster.world.flavors
        return any(
            pool in pools and flavors[name].topology is None
            for name, pools in self._pools_of.items()
        )

    def at(self, closed: Collection[str]) -> World:
        """The world while some pools are closed."""
        world = self._cluster.world
        if not closed:
            return world
        gone = {
            node.name for pool in self._cluster.pools if pool.title in closed for node in pool.nodes
        }
        shut = {flavor for flavor, pools in self._pools_of.items() if pools <= set(closed)}
        return replace(
            world,
            nodes=_without(world.nodes, gone),
            queues=tuple(
                replace(queue, quotas=_shut(queue.quotas, shut)) for queue in world.queues
            ),
            cohorts=tuple(
                replace(cohort, quotas=_shut(cohort.quotas or {}, shut)) for cohort in world.cohorts
            ),
        )


def _pools_by_flavor(cluster: Cluster) -> dict[str, set[str]]:
    """The pools whose nodes each flavor selects; flavors without any are left out."""
    found: dict[str, set[str]] = {}
    for flavor in cluster.world.flavors.values():
        selected = {pool.title for pool in cluster.pools if _selects(flavor.labels, pool.nodes)}
        if selected:
            found[flavor.name] = selected
    return found


def _selects(labels: Mapping[str, str], nodes: Sequence[Node]) -> bool:
    return any(
        all(node.labels.get(key) == value for key, value in labels.items()) for node in nodes[:1]
    )


def _without(nodes: Iterable[Node], gone: Collection[str]) -> tuple[Node, ...]:
    return tuple(node for node in nodes if node.name not in gone)


def _shut(quotas: Mapping[Cell, Limits], shut: Collection[str]) -> Mapping[Cell, Limits]:
    return {cell: _NOTHING if cell.flavor in shut else limits for cell, limits in quotas.items()}
