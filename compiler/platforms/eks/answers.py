"""What the core asks of EKS (``compiler/rooms.py``, ``Platform.answers``)."""

from __future__ import annotations

from compiler.context import Context
from compiler.core.jobs.job import Kind
from compiler.core.jobs.spec import Job
from compiler.platforms.eks import addons
from compiler.platforms.eks.nodes.share import node_share
from compiler.platforms.eks.release.release import check_release, settle_versions
from compiler.platforms.eks.release.versions import own_versions

__all__ = ["check_release", "kind_of", "node_share", "own_versions", "settle"]


def kind_of(job: Job) -> Kind:
    """What the object that runs a job decides of it."""
    from compiler.platforms.eks.runs.kinds.kind import kind_of

    return kind_of(job)


def settle(context: Context) -> None:
    """What is recorded once every room has resolved: the versions of what the cluster uses."""
    addons.check_release(context)
    settle_versions(context, addons.used(context))
