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
        """Make a class of fields that is frozen, compared and hashed by them, and told as a call."""
        if not (frozen and slots):
            raise TypeError("what may change is made by dataclasses.dataclass")

        def make(cls):
            made = dataclasses.dataclass(
                init=False, repr=False, eq=False, slots=True, kw_only=kw_only
            )(cls)
            fields = dataclasses.fields(made)
            made._compared = attrgetter(
                "__class__", *(each.name for each in fields if each.compare)
            )
            made.__init__ = _initializer(fields)
            made.__init__.__qualname__ = f"{cls.__qualname__}.__init__"
            for name in _SHARED - vars(cls).keys():
                setattr(made, name, getattr(_Frozen, name))
            return made

        return make


def _initializer(fields: tuple[Any, ...]) -> Any:
    """``__init__`` with the parameters and defaults that a dataclass of these fields has."""
    scope: dict[str, Any] = {"_set": object.__setattr__, "_absent": dataclasses.MISSING}
    parameters, body = ["self"], []
    for each in sorted(fields, key=lambda each: bool(each.kw_only)):
        name = value = each.name
        if each.kw_only and "*" not in parameters:
            parameters.append("*")
        if each.default is not dataclasses.MISSING:
            scope[f"_{name}"] = each.default
            parameters.append(f"{name}=_{name}")
        elif each.default_factory is not dataclasses.MISSING:
            scope[f"_{name}"] = each.default_factory
            parameters.append(f"{name}=_absent")
            value = f"_{name}() if {name} is _absent else {name}"
        else:
            parameters.append(name)
        body.append(f"    _set(self, {name!r}, {value})\n")
    exec(f"def __init__({', '.join(parameters)}):\n{''.join(body)}", scope)  # noqa: S102 - as dataclasses does
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
        told = (
            f"{each.name}={getattr(self, each.name)!r}"
            for each in dataclasses.fields(self)
            if each.repr
        )
        return f"{type(self).__qualname__}({', '.join(told)})"

    def __setattr__(self, name: str, _value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            object.__setattr__(self, name, value)


_SHARED = {
    "__eq__",
    "__hash__",
    "__repr__",
    "__setattr__",
    "__delattr__",
    "__setstate__",
}
