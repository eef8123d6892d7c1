"""A section of the spec: the keys that one room adds to it."""

from __future__ import annotations

from functools import cache
from typing import Self, TypeVar

from compiler.spec.base import SpecModel

Model = TypeVar("Model", bound=SpecModel)


class Section(SpecModel):
    """Keys of ``spec`` that belong to one room. The spec of a platform is all sections of its rooms."""

    @classmethod
    def of(cls, spec: SpecModel) -> Self:
        """The keys of this section in a spec; their defaults where the platform has no such room."""
        if isinstance(spec, cls):
            return spec
        return _unsaid(cls)


@cache
def _unsaid(section: type[Model]) -> Model:
    """A section of which nothing is said. Raises ``ValidationError`` for one with a key that must be."""
    return section.model_validate({})
