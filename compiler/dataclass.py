"""``dataclass(frozen=True, slots=True)`` for a third of its time at import.

The standard one writes and compiles six methods for each class (Python 3.11), which for the hundred classes of a
``check`` took a seventh of the run. This one writes ``__init__`` alone; the other methods are shared and go by the
fields. Type checkers see the standard one; ``dataclasses.fields`` and ``replace`` work on what either makes.
"""

from __future__ import annotations

import dataclasses
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen, slots, kw_only=False):
        """Make a class of fields that is frozen, compared and hashed by them, and shown as a call."""
        if not (frozen and slots):
            raise TypeError("what may change is made by dataclasses.dataclass")

        def decorate(cls):
            annotations = vars(cls).get("__annotations__", {})
            if not any(_is_special(text) for text in annotations.values()):
                # The standard one searches each text three times for what is no field.
                cls.__annotations__ = dict.fromkeys(annotations, object)
            cls_with_slots = dataclasses.dataclass(
                init=False, repr=False, eq=False, slots=True, kw_only=kw_only
            )(cls)
            cls_with_slots.__annotations__ = annotations
            fields = dataclasses.fields(cls_with_slots)
            for field in fields:
                field.type = annotations.get(field.name, field.type)
            compared = [field.name for field in fields if field.compare]
            cls_with_slots._compared = attrgetter("__class__", *compared)
            cls_with_slots.__init__ = _first_initializer(cls_with_slots, fields)
            for name in _SHARED - vars(cls).keys():
                setattr(cls_with_slots, name, getattr(_Frozen, name))
            return cls_with_slots

        return decorate


def _is_special(annotation: Any) -> bool:
    """Whether an annotation may be of what is no field, or no plain one."""
    text = str(annotation)
    return "ClassVar" in text or "InitVar" in text or "KW_ONLY" in text


_FEW = 32


def _first_initializer(cls: Any, fields: tuple[Any, ...]) -> Any:
    """``__init__`` without a compilation: most classes of a run have a few objects, and compiling takes as long as 40.

    After a few, and where the arguments are wrong, it gives way to the compiled one.
    """
    positional = [field.name for field in fields if not field.kw_only]
    left = _FEW

    def initialize(self: Any, *args: Any, **kwargs: Any) -> None:
        nonlocal left
        left -= 1
        values = dict(zip(positional, args, strict=False))
        fits = len(args) <= len(positional) and kwargs.keys().isdisjoint(values)
        values |= kwargs
        if left < 0 or not fits or not _fill(self, fields, values):
            cls.__init__ = _initializer(fields)
            cls.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
            cls.__init__(self, *args, **kwargs)

    return initialize


def _fill(instance: Any, fields: tuple[Any, ...], values: dict[str, Any]) -> bool:
    """Set each field to its value or default; whether every field has one, and every value a field."""
    for field in fields:
        if field.name in values:
            value = values.pop(field.name)
        elif field.default is not dataclasses.MISSING:
            value = field.default
        elif field.default_factory is not dataclasses.MISSING:
            value = field.default_factory()
        else:
            return False
        object.__setattr__(instance, field.name, value)
    return not values


def _initializer(fields: tuple[Any, ...]) -> Any:
    """``__init__`` with the parameters and defaults that a dataclass of these fields has."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_absent": dataclasses.MISSING}
    parameters, body = ["self"], []
    for field in sorted(fields, key=attrgetter("kw_only")):
        name = value = field.name
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
        body.append(f"    _set(self, {name!r}, {value})\n")
    source = f"def __init__({', '.join(parameters)}):\n{''.join(body)}"
    exec(source, scope)  # noqa: S102 - as dataclasses does
    return scope["__init__"]


class _Frozen:
    """The methods that all share, but where a class has its own."""

    def __eq__(self: Any, other: Any) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return self._compared(self) == self._compared(other)

    def __hash__(self: Any) -> int:
        return hash(self._compared(self))

    def __repr__(self: Any) -> str:
        fields = [field.name for field in dataclasses.fields(self) if field.repr]
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields)
        return f"{type(self).__qualname__}({shown})"

    def __setattr__(self, name: str, _value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        _, values = state
        for name, value in values.items():
            object.__setattr__(self, name, value)


_SHARED = {
    "__eq__",
    "__hash__",
    "__repr__",
    "__setattr__",
    "__delattr__",
    "__setstate__",
}
