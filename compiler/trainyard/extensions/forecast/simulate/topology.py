"""Where the pods of a set go: few domains for what wants to be near, the fullest hosts for what does not.

From the top: a place for each set of a job, the domains of a topology and what pods there use, and whether pods may run
on a node at all. How many pods each domain has room for is kept (``counts.py``).

Sets with a leader and slices of a set are not modelled. Source: Kueue 0.19.2, pkg/cache/scheduler:
tas_flavor_snapshot.go (findTopologyAssignment, findLevelWithFitDomains, updateCountsToMinimumGeneric),
tas_topology_tree.go, scheduling_simulator_default.go; with the feature gates as they are released: TASProfileMixed on,
TASBalancedPlacement off.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from trainyard.extensions.forecast.simulate.counts import Domain, PodCounts, Ranked, RankedTogether
from trainyard.extensions.forecast.simulate.objects import Amounts, Flavor, Node, PodSet

HOSTNAME = "kubernetes.io/hostname"
PODS = "pods"

Placed = dict[tuple[str, ...], int]
"""Pods by the domain of the lowest level."""


class Unplaced(NamedTuple):
    """Why a set has no place: the level, how many of its pods fit into one domain of it (``preferred`` and
    ``unconstrained``: into all), and how many there are."""

    pod_set: str
    level: str
    fit: int
    asked: int


class Wanted(NamedTuple):
    """A set of pods that wants a place in a flavor. ``implied``: its queue has only flavors with a topology."""

    pods: PodSet
    asked: int
    flavor: str
    implied: bool


def place_all(
    forests: Mapping[str, Forest], wanted: Sequence[Wanted], *, empty: bool = False
) -> tuple[dict[str, Placed], Unplaced | None]:
    """A place for each set, by its name, or the first that has none. ``empty``: as if no job had a place."""
    placed: dict[str, Placed] = {}
    taken: dict[tuple[str, ...], dict[str, int]] = {}
    # Kueue goes by flavor, and within one in the order of the sets.
    for want in sorted(wanted, key=lambda want: want.flavor):
        found = _place_set(forests[want.flavor], want, taken, empty=empty)
        if isinstance(found, Unplaced):
            return placed, found
        placed[want.pods.name] = found
        for id, count in found.items():
            used = taken.setdefault(id, {})
            for resource, amount in ((PODS, 1), *want.pods.requests.items()):
                used[resource] = used.get(resource, 0) + amount * count
    return placed, None


_Taken = Mapping[tuple[str, ...], Mapping[str, int]]
_Shares = list[tuple[Domain, int]]
"""How many pods each domain takes."""


def _place_set(forest: Forest, want: Wanted, taken: _Taken, *, empty: bool) -> Placed | Unplaced:
    placement = want.pods.placement
    anywhere = want.implied or (placement is not None and placement.mode == "unconstrained")
    label = forest.levels[-1]
    if placement is not None and not anywhere:
        label = str(placement.level)
    level = forest.level(label)
    if level is None:
        return Unplaced(want.pods.name, label, 0, want.asked)
    required = placement is not None and placement.mode == "required"
    with _counts_beside(forest, want.pods, taken, empty=empty) as counts:
        if anywhere:
            chosen = _domains_anywhere(counts, level, want.asked)
        else:
            chosen = _domains_near(counts, level, want.asked, required=required)
        if isinstance(chosen, int):
            return Unplaced(want.pods.name, label, chosen, want.asked)
        return _in_lowest_domains(forest, counts, chosen, want.asked, anywhere=anywhere)


@contextmanager
def _counts_beside(
    forest: Forest, pods: PodSet, taken: _Taken, *, empty: bool
) -> Iterator[PodCounts]:
    """The counts of pods beside what other sets of the same job have taken."""
    counts = forest.pod_counts(pods, empty=empty)
    before: dict[Domain, int] = {}
    for id, used in taken.items():
        leaf = forest.leaves.get(id)
        if leaf is not None and leaf in counts.by_domain:
            before[leaf] = counts.by_domain[leaf]
            counts.set_count(leaf, forest.pods(leaf, pods.requests, used, empty=empty))
    yield counts
    for leaf, count in before.items():
        counts.set_count(leaf, count)


def _in_lowest_domains(
    forest: Forest, counts: PodCounts, shares: _Shares, count: int, *, anywhere: bool
) -> Placed:
    """From shares of domains down to the lowest ones."""
    for _ in range(shares[0][0].level, len(forest.levels) - 1):
        below = counts.ranked_below([domain for domain, _ in shares])
        shares, _ = _shared_out(below, count, anywhere=anywhere)
    shares.sort(key=lambda share: share[0].position)
    return {domain.id: pods for domain, pods in shares}


def _domains_anywhere(counts: PodCounts, level: int, count: int) -> _Shares | int:
    """Domains of a level that take all pods, the fullest first, so that whole nodes stay free; or how many would
    fit."""
    ranked = counts.ranked_at(level)
    one = ranked.tightest(count)
    if one is not None:
        return [(one[1], count)]
    if counts.total < count:
        return counts.total
    return _shared_out(ranked, count, anywhere=True)[0]


def _domains_near(counts: PodCounts, level: int, count: int, *, required: bool) -> _Shares | int:
    """One domain of a level that takes all pods, and if it is not required, one of a higher level or the roomiest of
    the highest; or how many would fit."""
    ranked = counts.ranked_at(level)
    one = ranked.tightest(count)
    if one is not None:
        return [(one[1], count)]
    if required:
        return ranked.most()
    if level > 0:
        return _domains_near(counts, level - 1, count, required=False)
    if counts.total < count:
        return counts.total
    return _shared_out(ranked, count, anywhere=False)[0]


def _shared_out(
    ranked: Ranked | RankedTogether, count: int, *, anywhere: bool
) -> tuple[_Shares, int]:
    """How many pods each domain takes, and how many are left: the roomiest domains first, the last of them the
    tightest; for pods that may go anywhere the fullest first."""
    shares: _Shares = []
    taken: set[int] = set()
    left = count
    for room, domain in ranked.fullest() if anywhere else ranked.roomiest():
        if room < left:
            shares.append((domain, room))
            taken.add(domain.position)
            left -= room
            continue
        last = None if anywhere else ranked.tightest(left, taken)
        shares.append((domain if last is None else last[1], left))
        return shares, 0
    return shares, left


# The domains of a topology: which nodes are in which, and what the pods there use.


class Usage:
    """What the pods with a place use, by the domain of the lowest level; ``log`` names each that changed, in order."""

    def __init__(self) -> None:
        self.by_domain: dict[tuple[str, ...], dict[str, int]] = {}
        self.log: list[tuple[str, ...]] = []


class Layout:
    """The nodes with some labels by the levels of a topology: domains, and what is in which."""

    def __init__(
        self, labels: Mapping[str, str], levels: tuple[str, ...], nodes: Iterable[Node]
    ) -> None:
        self.levels = levels
        self.of_hosts = bool(levels) and levels[-1] == HOSTNAME
        self.by_level: list[list[Domain]] = [[] for _ in levels]
        self.leaves: dict[tuple[str, ...], Domain] = {}
        self._index: dict[tuple[str, ...], Domain] = {}
        for node in nodes:
            selected = all(node.labels.get(key) == value for key, value in labels.items())
            if selected and all(level in node.labels for level in levels):
                self._add_node(node)
        for domains in self.by_level:
            # Hosts below one parent differ in the last value alone, so this orders them as Kueue does.
            domains.sort(key=lambda domain: domain.values)
            for position, domain in enumerate(domains):
                domain.position = position

    def _add_node(self, node: Node) -> None:
        values = tuple(node.labels[level] for level in self.levels)
        above: Domain | None = None
        for depth in range(1, len(values) + 1):
            path = values[:depth]
            domain = self._index.get(path)
            if domain is None:
                is_host = self.of_hosts and depth == len(values)
                domain = Domain(path, path[-1:] if is_host else path, depth - 1, above)
                domain.labels, domain.taints = node.labels, node.taints
                self._index[path] = domain
                self.by_level[depth - 1].append(domain)
            above = domain
        if above is None:
            return
        self.leaves[above.id] = above
        for resource, amount in node.allocatable.items():
            above.allocatable[resource] = above.allocatable.get(resource, 0) + amount


class Forest:
    """The nodes of a flavor by the levels of its topology, and what is used of them."""

    def __init__(self, flavor: Flavor, layout: Layout, shared: Usage) -> None:
        self.flavor = flavor
        self.levels = layout.levels
        self.of_hosts = layout.of_hosts
        self.by_level = layout.by_level
        self.leaves = layout.leaves
        # A node that two flavors select is counted once, so hosts share what is used of them.
        self.usage = shared if self.of_hosts else Usage()
        self._by_shape: dict[str, PodCounts] = {}
        self._by_set: dict[tuple[int, bool], tuple[PodSet, PodCounts]] = {}

    def level(self, label: str | None) -> int | None:
        """The place of a level among the levels; ``None`` if the topology does not have it."""
        if label in self.levels:
            return self.levels.index(label)
        return None

    def place(
        self, placed: Mapping[tuple[str, ...], int], requests: Amounts, sign: int = 1
    ) -> None:
        """Count pods as placed, or with ``-1`` as gone."""
        for id, count in placed.items():
            used = self.usage.by_domain.setdefault(id, {})
            self.usage.log.append(id)
            for resource, amount in ((PODS, 1), *requests.items()):
                used[resource] = used.get(resource, 0) + sign * amount * count

    def has_room(self, placed: Mapping[tuple[str, ...], int], requests: Amounts) -> bool:
        """Whether a placement that was found before still fits."""
        for id, count in placed.items():
            leaf = self.leaves.get(id)
            if leaf is None or self.pods(leaf, requests) < count:
                return False
        return True

    def pod_counts(self, pods: PodSet, *, empty: bool) -> PodCounts:
        """How many pods of a set every domain has room for; ``empty`` as if no job had a place.

        The counts of a shape of pods are kept, and counted again where something changed.
        """
        known = self._by_set.get((id(pods), empty))
        if known is None:
            # With the set itself, so that nothing else gets its identity.
            known = pods, self._counts_of_shape(pods, empty=empty)
            self._by_set[id(pods), empty] = known
        counts = known[1]
        log = self.usage.log
        if not empty and counts.seen < len(log):
            for changed in set(log[counts.seen :]):
                leaf = self.leaves.get(changed)
                if leaf is not None and leaf in counts.by_domain:
                    counts.set_count(leaf, self.pods(leaf, pods.requests))
            counts.seen = len(log)
        return counts

    def _counts_of_shape(self, pods: PodSet, *, empty: bool) -> PodCounts:
        shape = repr((pods.requests, pods.selector, pods.terms, pods.tolerations, empty))
        counts = self._by_shape.get(shape)
        if counts is None:
            by_leaf = {
                leaf: self.pods(leaf, pods.requests, empty=empty)
                for leaf in self._matching_leaves(pods)
            }
            counts = PodCounts(self.by_level, by_leaf, len(self.usage.log))
            self._by_shape[shape] = counts
        return counts

    def _matching_leaves(self, pods: PodSet) -> Iterator[Domain]:
        """The lowest domains whose nodes take the pods. Only hosts are asked: what is above them has no taints."""
        tolerations = (*pods.tolerations, *self.flavor.tolerations)
        selector = pods.selector or {}
        for leaf in self.leaves.values():
            if self.of_hosts and untolerated(leaf.taints, tolerations) is not None:
                continue
            if not self.of_hosts or matches(leaf.labels, selector, pods.terms):
                yield leaf

    def pods(
        self,
        leaf: Domain,
        requests: Amounts,
        taken: Mapping[str, int] | None = None,
        *,
        empty: bool = False,
    ) -> int:
        """How many pods a lowest domain has room for, beside what is ``taken`` of it."""
        used = {} if empty else self.usage.by_domain.get(leaf.id, {})
        most: int | None = None
        for resource, amount in ((PODS, 1), *requests.items()):
            if amount == 0:
                continue
            room = leaf.allocatable.get(resource, 0) - used.get(resource, 0)
            if taken:
                room -= taken.get(resource, 0)
            pods = max(0, room // amount)
            most = pods if most is None else min(most, pods)
        return most or 0


# Whether pods may run on nodes: taints and tolerations, selectors and required node affinity.
#
# Source: Kubernetes 1.36, staging/src/k8s.io/component-helpers/scheduling/corev1.


Term = tuple[Mapping[str, Any], ...]
_HARD = frozenset({"NoSchedule", "NoExecute"})


def untolerated(
    taints: Iterable[Mapping[str, Any]], tolerations: Iterable[Mapping[str, Any]]
) -> Mapping[str, Any] | None:
    """The first taint that keeps pods with these tolerations off; ``None`` if there is none."""
    known = tuple(tolerations)
    for taint in taints:
        if taint.get("effect") not in _HARD:
            continue
        if not any(_tolerates_taint(toleration, taint) for toleration in known):
            return taint
    return None


def _tolerates_taint(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    effect = toleration.get("effect") or taint.get("effect")
    if effect != taint.get("effect"):
        return False
    key = toleration.get("key") or ""
    if key and key != taint.get("key"):
        return False
    if toleration.get("operator") == "Exists":
        return True
    same_value = (toleration.get("value") or "") == (taint.get("value") or "")
    return bool(key) and same_value


def matches(
    labels: Mapping[str, str], selector: Mapping[str, str], terms: tuple[Term, ...]
) -> bool:
    """Whether labels have all of a selector, and fulfil one of the terms if there are any."""
    if any(labels.get(key) != value for key, value in selector.items()):
        return False
    return not terms or any(_fulfils_term(labels, term) for term in terms)


def _fulfils_term(labels: Mapping[str, str], term: Term) -> bool:
    # A term without an expression matches nothing.
    return bool(term) and all(_expression_holds(labels, expression) for expression in term)


def _expression_holds(labels: Mapping[str, str], expression: Mapping[str, Any]) -> bool:
    found = labels.get(str(expression.get("key")))
    values = [str(value) for value in expression.get("values") or ()]
    holds = _OPERATORS.get(str(expression.get("operator")))
    return holds is not None and holds(found, values)


def _whole_number(text: str | None) -> int | None:
    try:
        return int(text or "")
    except ValueError:
        return None


def _is_greater(found: str | None, values: list[str]) -> bool:
    one, other = _whole_number(found), _whole_number(values[0] if len(values) == 1 else None)
    return one is not None and other is not None and one > other


def _is_less(found: str | None, values: list[str]) -> bool:
    one, other = _whole_number(found), _whole_number(values[0] if len(values) == 1 else None)
    return one is not None and other is not None and one < other


_OPERATORS: Mapping[str, Callable[[str | None, list[str]], bool]] = {
    "In": lambda found, values: found in values,
    "NotIn": lambda found, values: found not in values,
    "Exists": lambda found, _: found is not None,
    "DoesNotExist": lambda found, _: found is None,
    "Gt": _is_greater,
    "Lt": _is_less,
}


def selects(labels: Mapping[str, str], selector: Mapping[str, Any] | None) -> bool:
    """Whether a LabelSelector selects labels; none selects nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_expression_holds(labels, each) for each in selector.get("matchExpressions") or ())


# What is found once and kept: the domains of the same nodes, and places in a cluster without jobs.


class Layouts:
    """Layouts of the same nodes, each made once: worlds that differ in something else share them."""

    def __init__(self) -> None:
        self._nodes: tuple[Node, ...] = ()
        self._known: dict[Hashable, Layout] = {}

    def layout(
        self, labels: Mapping[str, str], levels: tuple[str, ...], nodes: tuple[Node, ...]
    ) -> Layout:
        """The layout of the nodes with some labels."""
        if nodes is not self._nodes:
            self._nodes = nodes
            self._known.clear()
        key = tuple(sorted(labels.items())), levels
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = Layout(labels, levels, nodes)
        return found


class Empty:
    """Places in a cluster where no job has one: they are found once for the same sets."""

    def __init__(self, forests_of: Mapping[str, Mapping[str, Forest]]) -> None:
        self._forests_of = forests_of
        # With the sets themselves, so that nothing else gets their identities.
        self._known: dict[Any, tuple[list[PodSet], tuple[dict[str, Placed], Unplaced | None]]] = {}

    def place(
        self, queue: str, wanted: Sequence[Wanted]
    ) -> tuple[dict[str, Placed], Unplaced | None]:
        """A place for each set of a job of a queue, by its name, or the first that has none."""
        key = (queue, *((id(want.pods), want.asked, want.flavor) for want in wanted))
        known = self._known.get(key)
        if known is None:
            found = place_all(self._forests_of[queue], wanted, empty=True)
            known = self._known[key] = [want.pods for want in wanted], found
        return known[1]
