"""Third-party jobs as a whole: what all of their pods ask for, and how many nodes they need at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from compiler.core.pods.plan import ACCELERATORS
from compiler.model.amounts import total
from compiler.model.pods import is_judged
from compiler.model.work import PodSet, Work
from compiler.plan.units import Quantity
from compiler.platforms.eks.third_party_workloads.plan import PodSet as Part
from compiler.platforms.eks.third_party_workloads.plan import Workload

Join = Callable[[Workload, Part], Work]


def gang_of(workload: Workload, join: Join) -> Work | None:
    """A workload as one job, that of its largest pods; ``None`` where it is unknown how many pods there are. Its nodes
    are those pods and others with as many accelerators; of an elastic one they are the fewest."""
    if any(part.count is None for part in workload.pods):
        return None
    parts = [part for part in workload.pods if part.count]
    if not parts:
        return None
    largest = max(parts, key=lambda part: (_accelerators(part), part.count))
    if not is_judged(workload, largest.pod):
        return None
    work = join(workload, largest)
    count = sum(part.count or 0 for part in parts if not part.beside)
    missing = 0 if workload.least is None else max(0, count - workload.least)
    sets = {id(part): _pod_set(part, missing) for part in parts}
    nodes = None
    if workload.nodes is not None:
        nodes = sum(sets[id(part)].fewest for part in _alike(largest, parts))
    return replace(work, nodes=nodes, own_sets=tuple(sets.values()))


def nodes_of(workload: Workload, part: Part) -> int | None:
    """How many nodes pods of a part are among: those that ask for as many accelerators, or all where it is alone."""
    if part.beside or workload.nodes is None:
        return 1 if part.beside else None
    alike = sum(each.count or 0 for each in _alike(part, workload.pods) if not each.beside)
    return alike if alike > 1 else workload.nodes


def _alike(part: Part, parts: Iterable[Part]) -> list[Part]:
    most = _accelerators(part)
    return [each for each in parts if _accelerators(each) == most]


def _accelerators(part: Part) -> Quantity:
    asks = total(part.pod)
    return max(asks.get(resource, Quantity(0)) for resource in ACCELERATORS)


def _pod_set(part: Part, missing: int) -> PodSet:
    """The pods of a part, of which so many may be missing."""
    count = part.count or 0
    least = max(0, count - missing) if missing and not part.beside else None
    return PodSet(part.name, count, part.pod, total(part.pod), least)
