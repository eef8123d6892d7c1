"""Kinds of objects that run jobs, as far as their objects are verified: the records of all platforms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Protocol

from trainyard.plan.features import members_of_platforms


class JobObject(Protocol):
    """The record of a kind (``jobs/kinds`` of a platform). ``pods``: where its objects have specs of pods; ``crd``: the
    project and release of its definition."""

    @property
    def group(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def crd(self) -> str: ...
    @property
    def pods(self) -> tuple[tuple[str, ...], ...]: ...
    @property
    def name_syntax(self) -> str: ...
    @property
    def name_limit(self) -> tuple[int, str] | None: ...


@cache
def job_objects() -> Mapping[tuple[str, str], JobObject]:
    """The kinds by the API group and kind of their objects."""
    found: Sequence[JobObject] = members_of_platforms("jobs/kinds", "KIND")
    return {(kind.group, kind.kind): kind for kind in found}
