"""A value of a resource of AWS, by AWS' own name for it, in whatever format a file has it.

What AWS calls by one name CloudFormation writes so (``MetadataOptions``), and another format in its own words
(``metadata_options``). A format has a subclass, which says how it spells a name, and what it knows of a value.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Self

from trainyard.core.cloud.plan import AccessPolicy
from trainyard.core.launch.plan import BootScript
from trainyard.language.places import Key
from trainyard.lift.reader import Reader

_FLAGS = {"true": True, "false": False}
Beside = Mapping[str, Sequence["Property"]]
"""What other resources of a file say of one, by the property of it that they say."""


class Property(Reader, ABC):
    """A value, and the parts of it. ``resource`` is what the file calls the resource that it is of. What a function or
    an expression gives is filled in later, and so are its parts."""

    __slots__ = ("_beside", "_more", "resource")

    def __init__(self, value: Reader, resource: str, beside: Beside | None = None) -> None:
        super().__init__(value.value, value.at)
        self.resource = resource
        self._beside: Beside = beside or {}
        self._more: Sequence[Property] = ()

    def __truediv__(self, name: Key) -> Property:
        """A property of this one, with the blocks of it that stand elsewhere."""
        if self.value is None and self._more:
            return self._more[0] / name
        if self.is_made():
            return self
        own, *more = self._within(str(name))
        more += self._beside.get(str(name), ())
        if not own and len(more) == 1:
            return more[0]
        own._more = more
        return own

    def __bool__(self) -> bool:
        return self.value is not None or bool(self._more)

    def along(self, path: str) -> Property:
        """Several properties down: ``LustreConfiguration/DeploymentType``."""
        found = self
        for name in filter(None, path.split("/")):
            found = found / name
        return found

    def inside(self, *keys: Key) -> Self:
        """What stands below keys that every format writes alike, as those of a policy are."""
        return self.part(self.follow(*keys))

    def blocks(self) -> list[Property]:
        """The entries of a list. What stands alone counts as a list of one."""
        own: list[Property] = []
        if isinstance(self.value, list):
            own = [self.part(item) for item in self.items()]
        elif self.value is not None:
            own = [self]
        return [*own, *self._more]

    def flag(self) -> bool | None:
        """A boolean, which may be a text."""
        return _FLAGS.get(self.word().lower(), super().flag())

    def texts(self) -> tuple[str, ...]:
        """The texts of a list; what is not known is empty, so that indices stay."""
        return tuple(block.text() or "" for block in self.blocks())

    def names(self) -> tuple[str, ...]:
        """The names of a list; what is not known is empty."""
        return tuple(block.name() or "" for block in self.blocks())

    @abstractmethod
    def _within(self, name: str) -> Sequence[Property]:
        """What the resource itself says of a property: its value, and blocks of it that stand elsewhere."""

    @abstractmethod
    def part(self, value: Reader) -> Self:
        """Another value of the same resource."""

    @abstractmethod
    def text(self) -> str | None:
        """A text, as far as it is known."""

    @abstractmethod
    def name(self) -> str | None:
        """A text, or what the file calls the resource that is referred to."""

    @abstractmethod
    def is_made(self) -> bool:
        """Whether all of it is filled in later."""

    @abstractmethod
    def is_filled_in(self) -> bool:
        """Whether it, or a part of it, is filled in later."""

    @abstractmethod
    def known_text(self) -> str:
        """What is certain of a text: without what is put into it."""

    @abstractmethod
    def policy(self, what: str, name: str | None = None) -> AccessPolicy | None:
        """The policy that a document is; ``None`` where it is not known."""

    @abstractmethod
    def script(self) -> BootScript | None:
        """What user data runs."""

    def image(self) -> tuple[str, str]:
        """The SSM parameter and the name by which another part of the file finds an image."""
        return "", ""
