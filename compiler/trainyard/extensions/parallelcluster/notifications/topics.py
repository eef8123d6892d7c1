"""The topics that jobs of Slurm tell of themselves: their scripts publish to them, by the role of their nodes."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.core.notifications.spec import Sns
from trainyard.core.notifications.uses import notifications_of
from trainyard.plan.context import Context


def topics_of(context: Context, namespace: str) -> tuple[str, ...]:
    """Those of its team, or of all, and of what is critical: that a job hangs or has failed is."""
    notifications = notifications_of(context)
    if notifications is None:
        return ()
    names = (notifications.teams.get(namespace, notifications.default), notifications.critical)
    topics = context.once(by_receiver)
    found = (topics[name].topic_arn for name in names if name is not None and name in topics)
    return tuple(dict.fromkeys(found))


def by_receiver(context: Context) -> Mapping[str, Sns]:
    """The topics of all receivers, by their names."""
    notifications = notifications_of(context)
    if notifications is None:
        return {}
    return {one.name: one.sns for one in notifications.receivers if one.sns is not None}
