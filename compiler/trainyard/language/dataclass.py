"""``dataclasses.dataclass`` in a fifth of its import time.

The standard one writes and compiles up to eleven methods for each class (Python 3.11), which for the classes of a
``check`` took a seventh of the run. This one writes ``__init__`` alone, and only where it pays; the other methods are
shared and go by the fields. Type checkers see the standard one; ``dataclasses.fields`` and ``replace`` work on what
either makes.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable
from operator import attrgetter
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen=False, slots=False, kw_only=False, order=False, unsafe_hash=False):
        """Make a class of fields that is compared by them, and shown as a call; a frozen one has a hash."""

        def decorate(cls):
            inherited = {}
            for base in reversed(cls.__mro__[1:]):
                inherited |= vars(base).get("__dataclass_fields__", {})
            fields = inherited | _own_fields(cls, kw_only)
            compared = [name for name, field in fields.items() if field.compare]
            members = dict(_COMPARED)
            if order:
                members |= _ORDERED
            if frozen:
                members |= _FROZEN
            if not frozen and not unsafe_hash:
                members["__hash__"] = None
            members["__match_args__"] = tuple(_positional(fields.values()))
            members |= vars(cls)
            members["__dataclass_fields__"] = fields
            members["__dataclass_params__"] = _LIKE.__dataclass_params__
            members["_compared"] = attrgetter("__class__", *compared)
            made = _with_slots(cls, members) if slots else _with(cls, members)
            made.__init__ = _first_initializer(made, tuple(fields.values()), frozen)
            return made

        return decorate


@dataclasses.dataclass(init=False, repr=False, eq=False)
class _Like:
    """A standard one, to take from it what marks its kind and its fields."""

    value: int


_LIKE: Any = _Like


def _own_fields(cls: Any, kw_only: bool) -> dict[str, Any]:
    """The fields that the text of a class declares, as ``dataclasses`` keeps them; constants of the class are none."""
    fields: dict[str, Any] = {}
    like = _LIKE.__dataclass_fields__["value"]
    members = vars(cls)
    for name, annotation in members.get("__annotations__", {}).items():
        text = str(annotation)
        if "ClassVar" in text:
            continue
        if "InitVar" in text or "KW_ONLY" in text:
            raise TypeError(f"`{name}` is no field: take `field(init=False)` or `kw_only=True`")
        default = members.get(name, dataclasses.MISSING)
        if isinstance(default, dataclasses.Field):
            field: Any = default
        else:
            field = dataclasses.field(default=default)
        if field.hash is not None:
            raise TypeError(f"`{name}` is hashed otherwise than compared: leave `hash` out")
        if field.default.__class__.__hash__ is None:
            raise TypeError(f"`{name}` has a default that may change: use `default_factory`")
        field.name, field.type, field._field_type = name, annotation, like._field_type
        if field.kw_only is dataclasses.MISSING:
            field.kw_only = kw_only
        fields[name] = field
    return fields


def _positional(fields: Iterable[Any]) -> list[str]:
    """The names of the fields that may be given without their names."""
    return [field.name for field in fields if field.init and not field.kw_only]


def _with_slots(cls: Any, members: dict[str, Any]) -> Any:
    """A class again, with other members, and with a slot for each field: those of a class are fixed when it is made."""
    taken = {slot for base in cls.__mro__[1:] for slot in vars(base).get("__slots__", ())}
    fields = members["__dataclass_fields__"]
    for name in (*fields, "__dict__", "__weakref__"):
        members.pop(name, None)
    members["__slots__"] = tuple(name for name in fields if name not in taken)
    members["__qualname__"] = cls.__qualname__
    return type(cls)(cls.__name__, cls.__bases__, members)


def _with(cls: Any, members: dict[str, Any]) -> Any:
    """A class with other members, and the defaults of its fields where the text has `field(...)`."""
    for name, member in members.items():
        if not isinstance(member, dataclasses.Field):
            if vars(cls).get(name) is not member:
                setattr(cls, name, member)
        elif member.default is dataclasses.MISSING:
            delattr(cls, name)
        else:
            setattr(cls, name, member.default)
    return cls


_FEW = 40
_ABSENT = dataclasses.MISSING


def _first_initializer(cls: Any, fields: tuple[Any, ...], frozen: bool) -> Any:
    """``__init__`` without a compilation: most classes of a run have a few objects, and compiling takes as long as 40.

    After a few, and where the arguments are wrong, it gives way to the compiled one.
    """
    positional = _positional(fields)
    completed = getattr(cls, "__post_init__", None)
    left = _FEW

    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal left
        left -= 1
        values = dict(zip(positional, args, strict=False))
        fits = len(args) <= len(positional)
        fits = fits and kwargs.keys().isdisjoint(values)
        values |= kwargs
        filled = left >= 0 and fits and _fill(self, fields, values)
        if not filled:
            cls.__init__ = _initializer(cls, fields, frozen, completed is not None)
            cls.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
            cls.__init__(self, *args, **kwargs)
        elif completed is not None:
            completed(self)

    return initialize


def _fill(instance: Any, fields: tuple[Any, ...], values: dict[str, Any]) -> bool:
    """Set each field to its value or default; whether every field has one, and every value a field."""
    fill = object.__setattr__
    for field in fields:
        name, default = field.name, field.default
        if name in values and field.init:
            fill(instance, name, values.pop(name))
        elif default is not _ABSENT:
            fill(instance, name, default)
        elif field.default_factory is not _ABSENT:
            fill(instance, name, field.default_factory())
        elif field.init:
            return False
    return not values


def _initializer(cls: Any, fields: tuple[Any, ...], frozen: bool, completed: bool) -> Any:
    """``__init__`` with the parameters and defaults that a dataclass of these fields has."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_absent": dataclasses.MISSING}
    parameters, body = ["self"], []
    for field in sorted(fields, key=attrgetter("kw_only")):
        name = value = field.name
        if not field.init:
            if field.default is not dataclasses.MISSING:
                scope[f"_{name}"] = field.default
                body.append(f"    _set(self, {name!r}, _{name})\n")
            continue
        if field.kw_only and "*" not in parameters:
            parameters.append("*")
        if field.default is not dataclasses.MISSING:
            scope[f"_{name}"] = field.default
            parameters.append(f"{name}=_{name}")
        elif field.default_factory is not dataclasses.MISSING:
            scope[f"_{name}"] = field.default_factory
            parameters.append(f"{name}=_absent")
            value = f"_{name}() if {name} is _absent else {name}"
        else:
            parameters.append(name)
        slot = getattr(cls, name, None)
        if frozen and isinstance(slot, MemberDescriptorType):
            # What is frozen has a slot that sets itself, in two thirds of the time.
            scope[f"__set_{name}"] = slot.__set__
            body.append(f"    __set_{name}(self, {value})\n")
        elif frozen:
            body.append(f"    _set(self, {name!r}, {value})\n")
        else:
            body.append(f"    self.{name} = {value}\n")
    if completed:
        body.append("    self.__post_init__()\n")
    head = f"def __init__({', '.join(parameters)}):\n"
    source = head + "".join(body)
    exec(source, scope)  # noqa: S102 - as dataclasses does
    return scope["__init__"]


def _comparison(compare: Callable[[Any, Any], bool]) -> Any:
    """A method that compares objects of one class by their fields; of others it knows nothing (``NotImplemented``)."""

    def method(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compare(self._compared(self), self._compared(other))

    return method


class _Compared:
    """Compared, hashed and shown by fields."""

    __eq__ = _comparison(operator.eq)

    def __hash__(self: Any) -> int:
        return hash(self._compared(self))

    def __repr__(self: Any) -> str:
        shown = []
        for field in dataclasses.fields(self):
            if field.repr:
                value = getattr(self, field.name)
                shown.append(f"{field.name}={value!r}")
        return f"{type(self).__qualname__}({', '.join(shown)})"


class _Ordered:
    """Ordered by fields, among objects of one class."""

    __lt__ = _comparison(operator.lt)
    __le__ = _comparison(operator.le)
    __gt__ = _comparison(operator.gt)
    __ge__ = _comparison(operator.ge)


class _Frozen:
    """Nothing is set after it is made."""

    def __setattr__(self, name: str, _value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        _, values = state
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _methods(of: type) -> dict[str, Any]:
    return {name: method for name, method in vars(of).items() if callable(method)}


_COMPARED, _ORDERED, _FROZEN = _methods(_Compared), _methods(_Ordered), _methods(_Frozen)
