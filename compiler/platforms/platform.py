"""What a platform is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from compiler.dataclass import dataclass


@dataclass(frozen=True)
class Platform:
    """A platform: its key in ``spec.platform``, and its subjects by name, in the order in which they report.

    The spec of the platform has the sections of these subjects, and the plan what they resolve. ``instead``: what to
    write for a key of another platform, by key of ``spec``. ``node_share``: the function that says what jobs can get
    of a node (a ``Share``), as ``module:function``, which is imported when a pool is resolved.
    """

    name: str
    subjects: tuple[str, ...]
    node_share: str
    instead: Mapping[str, str] = field(default_factory=dict, compare=False)
