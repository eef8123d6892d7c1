"""What an edit changes in numbers: USD an hour, devices a pool, nodes of quota a queue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.catalog.prices import MONTH
from trainyard.core.pools.spec import NodePool
from trainyard.core.queues.spec import QueuesSection
from trainyard.core.storage.spec import Storage, StorageSection
from trainyard.extensions.forecast.blocks import Block, Heading, listing
from trainyard.extensions.forecast.costs import Item, Total, storage_items, total_costs
from trainyard.extensions.forecast.sections.bill import bill
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.review.consequences.shown import is_new
from trainyard.language.dataclass import dataclass


class Amount(NamedTuple):
    """A number before and after, and of what it is."""

    name: str
    unit: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """The sums before (``None`` where they are not known) and after, what has no price, and the amounts that differ;
    none where those before are not known. ``staying``: storage that leaves the spec, which nobody deletes by that: it
    is in both sums."""

    before: Total | None
    after: Total
    without_price: tuple[str, ...]
    devices: tuple[Amount, ...]
    quota: tuple[Amount, ...]
    staying: tuple[str, ...] = ()


def amounts(before: Subject | None, after: Subject, *, new: bool) -> Amounts:
    """What differs between two subjects; of a ``new`` cluster all of it. An earlier one that is ``None`` is unknown."""
    staying = () if before is None else tuple(_staying(before, after))
    items = bill(after)
    if before is not None:
        items += [item for storage in staying for item in storage_items(before, storage)]
    earlier = [] if before is None else bill(before)
    known = new or before is not None
    return Amounts(
        before=total_costs(earlier, after.spec.region) if known else None,
        after=total_costs(items, after.spec.region),
        without_price=tuple(_without_price([*earlier, *items])),
        devices=_differing(_devices(before), _devices(after)) if known else (),
        quota=_differing(_quota(before), _quota(after)) if known else (),
        staying=tuple(storage.name for storage in staying),
    )


def _staying(before: Subject, after: Subject) -> Iterator[Storage]:
    """Storage that leaves the spec: what exists is not ours to delete, and what was made is retained. Volumes that the
    driver makes go with their claims."""
    kept = {_identity(storage) for storage in StorageSection.of(after.spec).storage}
    for storage in StorageSection.of(before.spec).storage:
        if storage.disk is None and _identity(storage) not in kept:
            yield storage


def _identity(storage: Storage) -> str:
    """A storage that exists may get another name."""
    lustre, volume = storage.existing_lustre, storage.existing_disk
    if lustre is not None:
        return lustre.id
    return volume.id if volume is not None else storage.name


def section(subject: Subject) -> Iterator[Block]:
    """A line each for cost, devices and quota, where the edit changes them."""
    if not subject.merge:
        return
    found = list(lines(amounts(subject.before, subject, new=is_new(subject.merge))))
    if found:
        yield Heading("Cost and quota")
        yield listing(found)


def _without_price(items: Sequence[Item]) -> Iterator[str]:
    names = {item.name for item in items if item.usd is None}
    yield from sorted(names)


_Counts = dict[tuple[str, str], int]


def _differing(before: _Counts, after: _Counts) -> tuple[Amount, ...]:
    keys = dict.fromkeys((*after, *before))
    both = [Amount(*key, before.get(key, 0), after.get(key, 0)) for key in keys]
    return tuple(amount for amount in both if amount.before != amount.after)


def _devices(subject: Subject | None) -> _Counts:
    """Accelerators that a pool has at most; nodes, where it has none."""
    counts: _Counts = {}
    for pool in subject.pools() if subject is not None else ():
        assert subject is not None
        unit, each = _accelerator(subject, pool) or (f"{pool.instance_types[0]} nodes", 1)
        counts[pool.name, unit] = pool.nodes.max * each
    return counts


def accelerators(subject: Subject) -> dict[str, int]:
    """The accelerators that all pools have at most, by kind."""
    found: dict[str, int] = {}
    for pool in subject.pools():
        accelerator = _accelerator(subject, pool)
        if accelerator is not None:
            kind, each = accelerator
            found[kind] = found.get(kind, 0) + pool.nodes.max * each
    return found


def _accelerator(subject: Subject, pool: NodePool) -> tuple[str, int] | None:
    """The kind of accelerator of a node, and how many it has. Of several types the first counts."""
    instance = subject.catalog.instance(pool.instance_types[0])
    if instance is None or not instance.accelerators or not instance.accelerator:
        return None
    return instance.accelerator, instance.accelerators


def _quota(subject: Subject | None) -> _Counts:
    """Nodes of each pool that a queue has for itself."""
    counts: _Counts = {}
    if subject is None:
        return counts
    for queue in QueuesSection.of(subject.spec).queues:
        for quota in queue.quota:
            counts[queue.name, f"nodes of {quota.pool}"] = quota.nodes
    return counts


def lines(found: Amounts) -> Iterator[str]:
    """A line each for cost, devices and quota, of what differs."""
    cost = cost_change(found)
    if cost:
        yield cost
    if found.devices:
        yield f"devices: {', '.join(map(_device, found.devices))}"
    if found.quota:
        yield f"quota: {', '.join(map(_share, found.quota))}"
    if found.staying:
        names = ", ".join(f"`{name}`" for name in found.staying)
        yield f"paid for until somebody deletes it, which the merge does not: {names}"


def cost_change(found: Amounts) -> str:
    """What becomes of the cost; empty where it stays, or is not known for the earlier one."""
    old = found.before
    if old is None:
        return ""
    always = _change(old.always, found.after.always)
    at_most = _change(old.at_most, found.after.at_most)
    if not always and not at_most:
        return ""
    parts = [f"{text} {when}" for text, when in ((always, "always"), (at_most, "at most")) if text]
    about = "" if found.after.exact and old.exact else " (≈: prices of another Region)"
    lacking = f", without {', '.join(found.without_price)}" if found.without_price else ""
    return f"cost: {'; '.join(parts)}{about}{lacking}"


def _change(before: float, after: float) -> str:
    more = after - before
    if not round(more, 2):
        return ""
    sign = "+" if more > 0 else "−"
    return f"{sign}${abs(more):,.2f} an hour ({sign}${abs(more) * MONTH:,.0f} a month)"


def _device(amount: Amount) -> str:
    return f"{_signed(amount)} {amount.unit} in pool {amount.name}"


def _share(amount: Amount) -> str:
    return f"{_signed(amount)} {amount.unit} for queue {amount.name}"


def _signed(amount: Amount) -> str:
    return f"{amount.after - amount.before:+,d}".replace("-", "−")
