"""A section of the spec: the keys that one feature adds to it."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Self

from trainyard.language.models.base import SpecModel


class Section(SpecModel):
    """Keys of ``spec`` that belong to one feature. The spec of a platform is all sections of its features.

    ``elsewhere``: what to write instead of them on platforms without the feature that have no words of their own for
    them (``Platform.instead``).
    """

    elsewhere: ClassVar[str] = ""

    @classmethod
    def of(cls, spec: SpecModel) -> Self:
        """The keys of this section in a spec; their defaults where the platform has no such feature."""
        if isinstance(spec, cls):
            return spec
        unsaid: Self = _unsaid(cls)
        return unsaid


@cache
def _unsaid(section: type[SpecModel]) -> Any:
    """A section with defaults only. Raises ``ValidationError`` if it has a required key."""
    return section.model_validate({})
