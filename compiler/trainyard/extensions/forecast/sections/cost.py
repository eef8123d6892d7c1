"""The cost of the cluster: what is always paid, the most it can be, and how an edit changes both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trainyard.catalog.prices import MONTH
from trainyard.extensions.forecast.blocks import (
    Block,
    Explained,
    Heading,
    Strong,
    Text,
    folded,
    listing,
    paragraph,
    table,
)
from trainyard.extensions.forecast.costs import Item, Total, total_costs
from trainyard.extensions.forecast.sections.bill import bill
from trainyard.extensions.forecast.subject import Subject
from trainyard.language.diagnostics.diagnostic import listed

_BY_USE = (
    "Paid by use, and not counted: data that leaves a zone or goes through a gateway, what is in S3 beyond "
    "`expectedSize`, requests, queries, snapshots, backups."
)


def section(subject: Subject) -> Iterator[Block]:
    """The sums, then what they are made of."""
    region = subject.spec.region
    items = bill(subject)
    sums = total_costs(items, region)
    yield Heading("Cost")
    yield paragraph(*_lines(subject, sums, items))
    nodes = [item for item in items if item.node]
    others = [item for item in items if not item.node]
    yield table(_NODES, (_node_row(item, region) for item in nodes))
    yield table(_OTHERS, (_other_row(item, region) for item in others))
    yield folded("Prices, with source and date", [listing(_sources(items))])


def _lines(subject: Subject, sums: Total, items: Sequence[Item]) -> Iterator[Text]:
    """The sums, how an edit changes them, and what they rest on."""
    yield headline(sums, items)
    if subject.before is not None:
        yield before_and_after(subject.before, subject)
    elif subject.without_before:
        yield f"Before and after: {subject.without_before}."
    yield from map(_block, _blocks(items))
    yield from _foreign(items, subject.spec.region)
    yield from _estimated(items)
    yield _BY_USE


def headline(sums: Total, items: Iterable[Item]) -> Text:
    """The sums in one sentence, which names what they lack."""
    items = list(items)
    parts = [_bought(item) for item in _blocks(items)]
    parts.append(f"{an_hour(sums)} while jobs run")
    text = Strong(", ".join(parts))
    lacking = [f"`{item.name}`" for item in items if item.usd is None]
    if not lacking:
        return text, "."
    return text, f", without {', '.join(lacking)}: no price known."


def an_hour(sums: Total) -> str:
    """What is paid always, an hour and a month, and the most that an hour can be."""
    always = usd(sums.always, exact=sums.exact)
    a_month = usd(sums.always * MONTH, exact=sums.exact, cents=False)
    at_most = usd(sums.at_most, exact=sums.exact)
    return f"{always} an hour always ({a_month} a month), {at_most} at most"


def _bought(item: Item) -> str:
    """A Capacity Block or a training plan, whose price is paid whatever runs."""
    if item.bought is None:
        return f"${item.at_most:,.2f} an hour for {item.bought_as} `{item.name}` whatever runs"
    return f"${item.bought:,.0f} for {item.bought_as} `{item.name}` whatever runs"


def before_and_after(before: Subject, after: Subject) -> str:
    """What a change does to the sums, of what both sides have a price for."""
    earlier, later = bill(before), bill(after)
    old = total_costs(earlier, before.spec.region)
    new = total_costs(later, after.spec.region)
    exact = old.exact and new.exact
    always = _change(old.always, new.always, exact=exact)
    at_most = _change(old.at_most, new.at_most, exact=exact)
    text = f"Before and after, an hour: {always} always; {at_most} at most."
    for when, items in (("Before", earlier), ("After", later)):
        lacking = [f"`{item.name}`" for item in items if item.usd is None]
        if lacking:
            text += f" {when}, without {', '.join(lacking)}: no price known."
    return text


def _change(before: float, after: float, *, exact: bool) -> str:
    old = usd(before, exact=exact)
    new = usd(after, exact=exact)
    if old == new:
        return f"{old} → the same"
    more = after - before
    sign = "+" if more > 0 else "−"
    return (
        f"{old} → {new} ({sign}${abs(more):,.2f}, {sign}${abs(more) * MONTH:,.0f} in a whole month)"
    )


def _blocks(items: Iterable[Item]) -> Iterator[Item]:
    for item in items:
        if item.block is not None and item.usd is not None:
            yield item


def _block(item: Item) -> str:
    """What a Capacity Block costs, which is paid whether its nodes work or not."""
    text = (
        f"{item.bought_as} `{item.name}`: ${item.at_most:,.2f} of it an hour, paid when it is bought"
        " and whether a job runs or not"
    )
    if item.bought is None:
        return f"{text}; the spec does not say how long it lasts."
    return f"{text}: ${item.bought:,.0f} for its {item.block:,.0f} hours."


def _foreign(items: Iterable[Item], region: str) -> Iterator[str]:
    """The Region whose prices are used where those of a Region are unknown."""
    named: dict[str, list[str]] = {}
    for item in items:
        for other in sorted({price.region for price in item.prices} - {region}):
            names = named.setdefault(other, [])
            names.append(f"`{item.name}`")
    if not named:
        return
    parts = [f"of {other} for {', '.join(names)}" for other, names in named.items()]
    yield f"≈: no price of {region} is known, so it is that {'; that '.join(parts)}."


def _estimated(items: Iterable[Item]) -> Iterator[str]:
    """What is counted by the price of something else, by which, and how far that may be off."""
    named: dict[str, list[str]] = {}
    for item in items:
        for estimate in dict.fromkeys(price.estimate for price in item.prices if price.estimate):
            named.setdefault(estimate, []).append(item.name)
    for estimate, names in named.items():
        yield f"≈: {listed(names)} by the price of {estimate}."


_NODES = ("pool", "type", "nodes:", "USD an hour a node:", "always:", "at most:", "capacity")
_OTHERS = (
    "other than nodes",
    "what",
    "number:",
    "USD a month each:",
    "always, USD a month:",
    "at most, USD an hour:",
    "paid",
)


def _node_row(item: Item, region: str) -> tuple[Text, ...]:
    amounts = _amounts(item, item.is_exact(region), hours=1)
    return item.name, item.what, _count(item), *amounts, item.how


def _other_row(item: Item, region: str) -> tuple[Text, ...]:
    amounts = _amounts(item, item.is_exact(region), hours=MONTH)
    return item.name, item.what, _count(item), *amounts, item.how


def _amounts(item: Item, exact: bool, *, hours: int) -> tuple[Text, Text, Text]:
    """USD of one, of what is always there, both in so many hours, and of all of it in an hour; each with its reason."""
    if item.usd is None:
        unknown = Explained("?", "no price is known")
        return unknown, unknown, unknown
    price = f"${item.usd:,.4f} an hour each"
    always = f"{item.least} × {price}"
    if item.block is not None:
        always = f"a {item.bought_as} is paid when it is bought, whatever runs"
    elif hours != 1:
        always = f"{always} × {hours} hours"
    return (
        Explained(number(item.usd * hours, exact=exact), _by(item, hours)),
        Explained(number(item.always * hours, exact=exact), always),
        Explained(number(item.at_most, exact=exact), f"{item.most} × {price}"),
    )


def _by(item: Item, hours: int) -> str:
    """The prices that an item is counted by."""
    named = dict.fromkeys(
        f"{price.source.name}, of {price.region}, as on {price.source.date}"
        for price in item.prices
    )
    sources = "; ".join(named) or "nothing that is paid"
    if hours == 1:
        return sources
    return f"{hours} hours; {sources}"


def _count(item: Item) -> str:
    if item.least == item.most:
        return str(item.most)
    return f"{item.least} to {item.most}"


def number(amount: float, *, exact: bool) -> str:
    """USD without its sign, with ≈ where the price is that of another Region."""
    about = "" if exact else "≈ "
    return f"{about}{amount:,.2f}"


def usd(amount: float, *, exact: bool, cents: bool = True) -> str:
    """USD with its sign, and with ≈ where the price is that of another Region."""
    about = "" if exact else "≈ "
    digits = 2 if cents else 0
    return f"{about}${amount:,.{digits}f}"


def _sources(items: Sequence[Item]) -> Iterator[str]:
    """Where each price that was used is from, in the order of the tables."""
    seen: dict[str, str] = {}
    for item in items:
        for price in item.prices:
            source = price.source
            seen[source.name] = (
                f"{source.date}: {source.name} ({source.url_or_package}, {source.version})"
            )
    yield from seen.values()
