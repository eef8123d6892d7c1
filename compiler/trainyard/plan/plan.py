"""The plan: everything that will exist, bound and typed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route
from trainyard.plan.base import PlanItem

Item = TypeVar("Item", bound=PlanItem)
Read = TypeVar("Read")


@dataclass(frozen=True, slots=True)
class Derived:
    """A derived value: its object and field, the reason, and the source of the rule.

    ``at`` is the place in the spec of one that the spec sets instead, or of the value that it follows from.
    """

    object: str
    field: str
    value: str
    reason: str
    source: str = ""
    at: Route | None = None

    @property
    def origin(self) -> str:
        """Where the rule comes from, or the value; a rule without either is our own."""
        if self.source:
            return self.source
        if self.at:
            return str(self.at)
        return "default of Trainyard"


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """Everything that will exist: items of any kind, in the order in which they are written.

    ``closed``: our own output. Nothing else exists than what is here and in ``external`` (apiVersion, kind, namespace
    and name of external objects that must exist); an open plan was lifted from third-party files, and what is missing
    from it may live elsewhere. ``release`` is the name of the set of versions. ``waiting``: items of what cannot be
    written yet, and is judged already.

    Two plans are equal if they have the same items of each kind in the same order, of the kinds that manifests carry.
    """

    items: tuple[PlanItem, ...] = ()
    derived: tuple[Derived, ...] = dataclasses.field(default=(), repr=False)
    external: frozenset[tuple[str, str, str, str]] = frozenset()
    release: str = ""
    closed: bool = True
    waiting: tuple[PlanItem, ...] = dataclasses.field(default=(), repr=False)

    def of(self, kind: type[Item]) -> tuple[Item, ...]:
        """The items of a kind, those of its subclasses too: of a platform, what is one of the core."""
        known = self._by_class.get(kind)
        if known is None:
            known = self._collected(kind)
            self._by_class[kind] = known
        return known

    def _collected(self, kind: type[Item]) -> tuple[Item, ...]:
        found = [each for each in self._by_kind if issubclass(each, kind)]
        if len(found) == 1:
            return self._by_kind[found[0]]
        return tuple(item for item in self.items if isinstance(item, kind)) if found else ()

    @cached_property
    def _by_class(self) -> dict[type[PlanItem], tuple[Any, ...]]:
        return {}

    def once(self, read: Callable[[Plan], Read]) -> Read:
        """What a function reads of the plan, which it does once."""
        if read not in self._read:
            self._read[read] = read(self)
        known: Read = self._read[read]
        return known

    @cached_property
    def _read(self) -> dict[object, Any]:
        return {}

    def one(self, kind: type[Item]) -> Item | None:
        """The only item of a kind, or the last of several."""
        items = self.of(kind)
        if items:
            return items[-1]
        return None

    def named(self, kind: type[Item], name: str | None, namespace: str = "") -> Item | None:
        """The item of a kind, or else of one that is one as well, and a name."""
        key = (kind, namespace, name or "")
        item: Item | None = self._by_name.get(key)
        return item

    def with_items(self, kind: type[Item], items: Iterable[Item]) -> Plan:
        """The same plan with these items of a kind instead of its own."""
        others = [item for item in self.items if not isinstance(item, kind)]
        return dataclasses.replace(self, items=(*others, *items))

    def apart(self) -> tuple[PlanItem, ...]:
        """The items that no manifest carries."""
        return tuple(item for item in self.items if not item.carried)

    @cached_property
    def _by_kind(self) -> dict[type[PlanItem], tuple[Any, ...]]:
        lists: dict[type[PlanItem], list[PlanItem]] = {}
        for item in self.items:
            kind = type(item)
            lists.setdefault(kind, []).append(item)
        return {kind: tuple(items) for kind, items in lists.items()}

    @cached_property
    def _by_name(self) -> dict[tuple[type[PlanItem], str, str], Any]:
        by_name: dict[tuple[type[PlanItem], str, str], Any] = {}
        for kind, items in self._by_kind.items():
            bases = [base for base in kind.__mro__[1:-1] if base is not PlanItem]
            for item in items:
                namespace = getattr(item, "namespace", "")
                name = getattr(item, "name", "")
                if not name:
                    continue
                by_name[kind, namespace, name] = item  # also over one of a kind below
                for base in bases:
                    by_name.setdefault((base, namespace, name), item)
        return by_name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Plan):
            return NotImplemented
        return self._carried() == other._carried()

    def _carried(self) -> dict[type[PlanItem], tuple[PlanItem, ...]]:
        kinds = self._by_kind.items()
        return {kind: items for kind, items in kinds if kind.carried}
