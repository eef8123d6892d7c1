"""What makes places fast to find: counts of pods that are kept, and domains that stay in order.

How many pods of one shape every domain has room for, and the domains in the order in which they are taken, change only
where a domain changes: to look for the best domains costs as much as there are domains to take, not as there are nodes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import Any


class Domain:
    """A domain: its values from the top level down, what it is in, and of a lowest one what its nodes have for pods.

    ``id`` is what a placement names: of nodes the host name alone, else all values. ``position`` is its place among the
    domains of its level, as Kueue orders them. ``labels`` and ``taints`` are those of its first node.
    """

    __slots__ = (
        "above",
        "allocatable",
        "below",
        "id",
        "labels",
        "level",
        "position",
        "taints",
        "values",
    )

    def __init__(
        self, values: tuple[str, ...], id: tuple[str, ...], level: int, above: Domain | None
    ) -> None:
        self.values = values
        self.id = id
        self.level = level
        self.above = above
        self.below: list[Domain] = []
        self.position = 0
        self.labels: Mapping[str, str] = {}
        self.taints: tuple[Mapping[str, Any], ...] = ()
        self.allocatable: dict[str, int] = {}
        if above is not None:
            above.below.append(self)


class Ranked:
    """Domains of one level by the number of pods that they have room for; those without room are left out."""

    def __init__(self, level: Sequence[Domain]) -> None:
        self._level = level
        self._counts: list[int] = []
        self._positions: dict[int, list[int]] = {}

    def enter(self, domain: Domain, count: int) -> None:
        """Add a domain that has room for so many pods."""
        if count <= 0:
            return
        positions = self._positions.get(count)
        if positions is None:
            positions = self._positions[count] = []
            insort(self._counts, count)
        insort(positions, domain.position)

    def leave(self, domain: Domain, count: int) -> None:
        """Remove a domain that had room for so many pods."""
        if count <= 0:
            return
        positions = self._positions[count]
        del positions[bisect_left(positions, domain.position)]
        if not positions:
            del self._positions[count]
            del self._counts[bisect_left(self._counts, count)]

    def most(self) -> int:
        """The pods that the roomiest domain has room for."""
        return self._counts[-1] if self._counts else 0

    def fullest(self) -> Iterator[tuple[int, Domain]]:
        """Domains with their room, those with the least room first."""
        for count in self._counts:
            for position in self._positions[count]:
                yield count, self._level[position]

    def roomiest(self) -> Iterator[tuple[int, Domain]]:
        """Domains with their room, those with the most room first."""
        for count in reversed(self._counts):
            for position in self._positions[count]:
                yield count, self._level[position]

    def tightest(self, needed: int, taken: Container[int] = ()) -> tuple[int, Domain] | None:
        """The domain that has room and the least to spare. ``taken``: positions of those that are no choice."""
        for count in self._counts[bisect_left(self._counts, needed) :]:
            for position in self._positions[count]:
                if position not in taken:
                    return count, self._level[position]
        return None


class RankedTogether:
    """Several ranked sets of domains of one level, as one."""

    def __init__(self, parts: Sequence[Ranked]) -> None:
        self._parts = parts

    def fullest(self) -> Iterator[tuple[int, Domain]]:
        """Domains with their room, those with the least room first."""
        parts = [part.fullest() for part in self._parts]
        return merge(*parts, key=lambda found: (found[0], found[1].position))

    def roomiest(self) -> Iterator[tuple[int, Domain]]:
        """Domains with their room, those with the most room first."""
        parts = [part.roomiest() for part in self._parts]
        return merge(*parts, key=lambda found: (-found[0], found[1].position))

    def tightest(self, needed: int, taken: Container[int] = ()) -> tuple[int, Domain] | None:
        """The domain that has room and the least to spare. ``taken``: positions of those that are no choice."""
        found = [part.tightest(needed, taken) for part in self._parts]
        fitting = [each for each in found if each is not None]
        return min(fitting, key=lambda each: (each[0], each[1].position), default=None)


class PodCounts:
    """The counts of one shape of pods. ``by_domain`` has the lowest domains that take such pods, and all above them;
    ``seen`` is how much of the log of changes it contains."""

    def __init__(
        self, by_level: Sequence[Sequence[Domain]], counts: Mapping[Domain, int], seen: int
    ) -> None:
        self._by_level = by_level
        self.seen = seen
        self.total = sum(counts.values())
        self.by_domain: dict[Domain, int] = dict(counts)
        for leaf, count in counts.items():
            above = leaf.above
            while above is not None:
                self.by_domain[above] = self.by_domain.get(above, 0) + count
                above = above.above
        self._levels: dict[int, Ranked] = {}
        self._below: dict[Domain, Ranked] = {}

    def set_count(self, leaf: Domain, count: int) -> None:
        """Change how many pods a lowest domain has room for."""
        change = count - self.by_domain[leaf]
        if not change:
            return
        self.total += change
        domain: Domain | None = leaf
        while domain is not None:
            before = self.by_domain[domain]
            self.by_domain[domain] = before + change
            for ranked in self._ranks_of(domain):
                ranked.leave(domain, before)
                ranked.enter(domain, before + change)
            domain = domain.above

    def _ranks_of(self, domain: Domain) -> Iterator[Ranked]:
        level = self._levels.get(domain.level)
        if level is not None:
            yield level
        if domain.above in self._below:
            yield self._below[domain.above]

    def ranked_at(self, level: int) -> Ranked:
        """All domains of a level."""
        ranked = self._levels.get(level)
        if ranked is None:
            ranked = self._levels[level] = self._ranked_domains(level, self._by_level[level])
        return ranked

    def ranked_below(self, domains: Sequence[Domain]) -> Ranked | RankedTogether:
        """The domains just below some of one level."""
        parts = []
        for domain in domains:
            ranked = self._below.get(domain)
            if ranked is None:
                ranked = self._below[domain] = self._ranked_domains(domain.level + 1, domain.below)
            parts.append(ranked)
        return parts[0] if len(parts) == 1 else RankedTogether(parts)

    def _ranked_domains(self, level: int, domains: Iterable[Domain]) -> Ranked:
        ranked = Ranked(self._by_level[level])
        for domain in domains:
            ranked.enter(domain, self.by_domain.get(domain, 0))
        return ranked
