"""What a platform is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Platform:
    """A platform: its key in ``spec.platform``, and its subjects by name, in the order in which they report.

    The spec of the platform has the sections of these subjects, and the plan what they resolve.
    """

    name: str
    subjects: tuple[str, ...]
