"""Kinds of objects that run a job of the spec. One file each, with one value ``KIND``; found by being here, or in the
same folder of a platform that stands on EKS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from trainyard.eks.jobs.kind import JobKind
from trainyard.plan.features import members, members_of_platforms

__all__ = [
    "kind_called",
    "kind_name",
    "kind_of_object",
    "kinds",
    "kinds_of_eks",
    "kinds_of_objects",
]


@cache
def kinds() -> Mapping[str, JobKind]:
    """The kinds of all platforms by what a spec calls them; the first is that of a job that names none."""
    return _by_name(members_of_platforms("jobs/kinds", "KIND"))


@cache
def kinds_of_eks() -> Mapping[str, JobKind]:
    """The kinds that any cluster of EKS runs."""
    return _by_name(members(__name__, __path__, "KIND"))


def _by_name(found: Iterable[JobKind]) -> dict[str, JobKind]:
    placed = sorted(found, key=lambda kind: kind.place)
    return {kind.name: kind for kind in placed}


def kind_called(name: str) -> JobKind:
    """The kind of a name. Raises KeyError for one that is not there."""
    return kinds()[name]


@cache
def kinds_of_objects() -> Mapping[tuple[str, str], JobKind]:
    """The kinds by API group and kind of their objects."""
    return {(kind.group, kind.kind): kind for kind in kinds().values()}


def kind_of_object(group: str, kind: str) -> JobKind | None:
    """The kind of an object, by its API group and kind; ``None`` for what runs no job of a spec."""
    return kinds_of_objects().get((group, kind))


def kind_name(group: str, kind: str) -> str:
    """What rules call the kind of an object, of any kind: as a spec does, or its bare kind; with its API group where a
    spec means another kind by that, like ``Job.batch.volcano.sh``."""
    known = kind_of_object(group, kind)
    if known is not None:
        return known.name
    return f"{kind}.{group}" if kind in kinds() else kind
