"""What is known of kinds of jobs, by what objects call them."""

from __future__ import annotations

from compiler.platforms.eks.jobs.kinds import kinds

_READ_ONLY = {"RayCluster": "ray.io/raycluster", "RayService": "ray.io/rayservice"}


def framework_of(kind: str) -> str | None:
    """What Kueue calls a kind in ``integrations.frameworks`` (v0.19.2); ``None`` for one that it does not queue."""
    known = kinds().get(kind)
    return known.framework if known else _READ_ONLY.get(kind)
