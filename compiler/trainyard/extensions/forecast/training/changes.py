"""The smallest change by which a job fits, and the fastest division of the nodes that it has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any, NamedTuple

from trainyard.core.training.shape import Shape
from trainyard.extensions.forecast.training.run import KEYS, Place, Run
from trainyard.extensions.forecast.training.setup import Setup
from trainyard.extensions.forecast.training.states import on_host

# What has to divide evenly for a model to be divided among ranks.


def divides(shape: Shape, setup: Setup) -> bool:
    """Whether heads, layers, sequence, experts and batch divide as the setup says.

    Heads by the tensor degree, those of keys and values unless they are copied, layers by the stages, a sequence by
    twice the context degree (Megatron-LM d98e8a64, megatron/core/transformer/transformer_config.py and
    megatron/training/arguments.py).
    """
    return (
        shape.heads % setup.tensor == 0
        and _kv_heads_divide(shape, setup)
        and shape.layers % (setup.pipeline * setup.chunks) == 0
        and (setup.context == 1 or setup.sequence % (2 * setup.context) == 0)
        and shape.experts % setup.expert == 0
        and setup.ranks // setup.pipeline % setup.expert == 0
        and _batch_divides(setup)
    )


def _kv_heads_divide(shape: Shape, setup: Setup) -> bool:
    return shape.kv_heads % setup.tensor == 0 or setup.tensor % shape.kv_heads == 0


def _batch_divides(setup: Setup) -> bool:
    if setup.global_batch is None:
        return True
    return setup.global_batch % (setup.micro_batch * setup.data) == 0


_MOST_AT_ONCE = 3
_EIGHT_BIT = 6  # an fp32 copy of the weights and two moments of 8 bits
_ORDER: tuple[Any, ...] = ("none", "optimizer", "gradients", "full")
_LEAST_FOR_OFFLOAD = {"optimizer": "optimizer", "parameters": "full"}


class Change(NamedTuple):
    """One key that gets another value, how much of a change that is, and what it is for the arithmetic."""

    key: str
    value: object
    weight: int
    fields: tuple[tuple[str, Any], ...] = ()
    nodes: int | None = None
    place: Place | None = None

    @property
    def text(self) -> str:
        """As the spec has it."""
        shown = str(self.value).lower() if isinstance(self.value, bool) else self.value
        return f"{self.key}: {shown}"


class Proposal(NamedTuple):
    """Changes together, and the job with them."""

    changes: tuple[Change, ...]
    run: Run

    @property
    def text(self) -> str:
        """All keys with their values."""
        return ", ".join(f"`{change.text}`" for change in self.changes)


def smallest_change(run: Run) -> Proposal | None:
    """The smallest change with which the upper end of the estimate fits; ``None`` where three keys do not help."""
    groups = [list(group) for group in _groups(run)]
    candidates: list[tuple[int, int, tuple[Change, ...]]] = []
    for count in range(1, _MOST_AT_ONCE + 1):
        for chosen in combinations(groups, count):
            for changes in product(*chosen):
                weight = sum(change.weight for change in changes)
                candidates.append((weight, len(candidates), changes))
    candidates.sort(key=lambda candidate: candidate[:2])
    for _, _, changes in candidates:
        changed = _with(run, changes)
        if changed is not None and changed.verdict == "fits":
            return Proposal(changes, changed)
    return None


def fastest(run: Run) -> Proposal | None:
    """The fastest division of the same nodes and batch that fits, where it takes 3 % less time; tensor parallelism
    stays within a node."""
    now = run.step()
    if now is None:
        return None
    best: Proposal | None = None
    limit = now.middle / now.tokens * 0.97
    groups = (
        _micro_batches(run),
        _recomputations(run, all_of_them=True),
        _tensors(run),
        _pipelines(run),
    )
    options = [[None, *group] for group in groups]
    for picked in product(*options):
        changes = tuple(change for change in picked if change is not None)
        changed = _with(run, changes) if changes else None
        if changed is None or changed.verdict != "fits":
            continue
        step = changed.step()
        if step is not None and step.middle / step.tokens < limit:
            limit = step.middle / step.tokens
            best = Proposal(changes, changed)
    return best


def _groups(run: Run) -> Iterator[Sequence[Change]]:
    """The values that each key may get, the smallest change first."""
    yield [
        change for change in _micro_batches(run) if int(str(change.value)) < run.setup.micro_batch
    ]
    yield from _of_the_program(run)
    yield _recomputations(run)
    yield _fused(run)
    yield _shardings(run)
    yield _tensors(run)
    yield _nodes(run)
    yield _pipelines(run)
    yield _contexts(run)
    yield _optimizers(run)
    yield _offloads(run)
    yield _places(run)


def _micro_batches(run: Run) -> list[Change]:
    now = run.setup.micro_batch
    sizes = {now * 2, now * 4}
    size = now // 2
    while size:
        sizes.add(size)
        size //= 2
    changes = []
    for size in sorted(sizes, reverse=True):
        halvings = (now // size).bit_length() - 1
        changes.append(
            Change("batch.microBatchSize", size, max(1, halvings), (("micro_batch", size),))
        )
    return changes


def _recomputations(run: Run, *, all_of_them: bool = False) -> list[Change]:
    ways = ("none", "selective", "full")
    now = ways.index(run.setup.recomputation)
    later = ways if all_of_them else ways[now + 1 :]
    return [
        Change("recomputation", way, 2 + weight, (("recomputation", way),))
        for weight, way in enumerate(later)
        if way != run.setup.recomputation
    ]


def _fused(run: Run) -> list[Change]:
    if run.setup.fused_loss:
        return []
    return [Change("fusedLoss", True, 2, (("fused_loss", True),))]


def _of_the_program(run: Run) -> Iterator[Sequence[Change]]:
    """What a program may do already, of which its spec does not speak, or says that it does not."""
    for name, key in KEYS.items():
        if getattr(run.setup, name) is not True and name in run.setup.matters:
            yield [Change(key, True, 1, ((name, True),))]


def _shardings(run: Run) -> list[Change]:
    now = _ORDER.index(run.setup.sharding)
    later = _ORDER[now + 1 :]
    return [
        Change("sharding", way, 2 + weight, (("sharding", way),))
        for weight, way in enumerate(later)
    ]


def _powers(least: int, most: int) -> Iterator[int]:
    degree = least
    while degree <= most:
        yield degree
        degree *= 2


def _degrees(run: Run, name: str, most: int, weight: int) -> list[Change]:
    now = getattr(run.setup, name)
    changes = []
    for degree in _powers(1, most):
        if degree == now:
            continue
        steps = abs((degree // now).bit_length() - 1) if degree > now else 1
        changes.append(Change(f"parallel.{name}", degree, weight + steps, ((name, degree),)))
    return sorted(changes, key=lambda change: change.weight)


def _tensors(run: Run) -> list[Change]:
    return _degrees(run, "tensor", run.place.machine.accelerators, 3)


def _pipelines(run: Run) -> list[Change]:
    return _degrees(run, "pipeline", min(16, run.shape.layers, run.setup.ranks), 5)


def _contexts(run: Run) -> list[Change]:
    return _degrees(run, "context", min(8, run.setup.ranks), 5)


def _nodes(run: Run) -> list[Change]:
    counts = [run.nodes * factor for factor in (2, 4, 8, 16)]
    return [
        Change("nodes", count, 3 + index, nodes=count)
        for index, count in enumerate(counts)
        if count <= run.place.nodes
    ]


def _optimizers(run: Run) -> list[Change]:
    if run.setup.optimizer_bytes != 12:
        return []
    return [Change("optimizer", "adamw8bit", 6, (("optimizer_bytes", _EIGHT_BIT),))]


def _offloads(run: Run) -> list[Change]:
    if run.setup.offload is not None:
        return []
    return [
        Change("offload", what, 6 + index, (("offload", what),))
        for index, what in enumerate(("optimizer", "parameters"))
    ]


def _places(run: Run) -> list[Change]:
    return [Change("pool", place.pool, 7, place=place) for place in run.others]


def _with(run: Run, changes: Sequence[Change]) -> Run | None:
    """The job with some changes; ``None`` where its ranks or its model cannot be divided so."""
    fields: dict[str, Any] = {}
    nodes, place = run.nodes, run.place
    for change in changes:
        fields.update(change.fields)
        nodes = change.nodes or nodes
        place = change.place or place
    if nodes > place.nodes:
        return None
    setup = replace(run.setup, **fields)
    of_model = setup.tensor * setup.pipeline * setup.context
    data, rest = divmod(nodes * place.ranks, of_model)
    if rest or not data:
        return None
    setup = replace(setup, data=data)
    if not _is_possible(run, setup, place):
        return None
    return replace(run, setup=setup, nodes=nodes, place=place)


def _is_possible(run: Run, setup: Setup, place: Place) -> bool:
    if setup.tensor > max(place.machine.accelerators, run.setup.tensor):
        return False
    if setup.offload is not None:
        least = _LEAST_FOR_OFFLOAD[setup.offload]
        if _ORDER.index(setup.sharding) < _ORDER.index(least):
            return False
        if on_host(run.shape, setup) * place.ranks > place.host:
            return False
    return divides(run.shape, setup)
