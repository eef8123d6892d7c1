"""What every plan item has: a place, a place for each of its fields, and an identity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, field, fields, is_dataclass
from typing import Any, ClassVar, NamedTuple

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Route

ROOT = Route()
LATER: Mapping[str, bool] = {"later": True}
"""Metadata of a field that a kind got after names by content were in use: it counts in them only where it is set."""


class Identity(NamedTuple):
    """What a node is, independent of its content: its kind, namespace and name, without a hash."""

    kind: str
    namespace: str
    name: str


def content(value: object) -> str:
    """A value as text, for names by content: its ``repr``, without fields of later versions that are not set."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        items = [content(item) for item in value]
        if len(items) == 1:
            return f"({items[0]},)"
        return f"({', '.join(items)})"
    if not is_dataclass(value):
        return repr(value)
    shown = [field for field in fields(value) if field.repr]
    names = [field.name for field in shown if _is_set(field, value)]
    texts = [f"{name}={content(getattr(value, name))}" for name in names]
    return f"{type(value).__qualname__}({', '.join(texts)})"


def _is_set(field: Field[Any], value: object) -> bool:
    """Whether a field is in the content of a value: one of a later version only if it has a value."""
    if not field.metadata.get("later"):
        return True
    return bool(getattr(value, field.name))


def unknown_field(node: object, name: str) -> AttributeError:
    """What is raised where a place is asked for by a name that no field has."""
    kind = type(node).__name__
    return AttributeError(f"`{kind}` has no field `{name}`", name=name, obj=node)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanItem:
    """A thing that will exist.

    ``at`` is the route of the spec node behind it (or, when lifted, of the manifest); ``origins``
    gives the route of single fields by attribute name. ``unread`` names fields whose value is there and cannot be
    read, like ``${NODES}``: it is unknown, which is not the same as absent. None of these takes part in equality.
    ``carried`` is off for a kind that no manifest carries, so that it cannot be read back; ``single`` is on for a kind
    of which a cluster has one.
    """

    carried: ClassVar[bool] = True
    single: ClassVar[bool] = False

    at: Route = field(default=ROOT, compare=False, repr=False)
    origins: Mapping[str, Route] = field(default_factory=dict, compare=False, repr=False)
    unread: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    def where(self, name: str) -> Route:
        """The place of a field, or of the node where the field has none of its own. A name of no field raises."""
        at = self.origins.get(name)
        if at is not None:
            return at
        if not hasattr(type(self), name.partition(".")[0]):
            raise unknown_field(self, name)
        return self.at

    @property
    def identity(self) -> Identity:
        """What it is; two plans are compared by it."""
        namespace = getattr(self, "namespace", "")
        return Identity(type(self).__name__, namespace, getattr(self, "name", ""))
