"""A section of the spec: the keys that one subject adds to it."""

from __future__ import annotations

from typing import Self

from compiler.spec.base import SpecModel


class Section(SpecModel):
    """Keys of ``spec`` that belong to one subject. The spec of a platform is all sections of its subjects."""

    @classmethod
    def of(cls, spec: SpecModel) -> Self:
        """The keys of this section in a spec; a platform whose subjects need it has it."""
        assert isinstance(spec, cls), f"{cls.__name__} is no part of this platform"
        return spec
