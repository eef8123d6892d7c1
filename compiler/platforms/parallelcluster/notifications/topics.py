"""The topics that a job of Slurm tells of itself: its script publishes to them, by the role of its nodes."""

from __future__ import annotations

from compiler.context import Context
from compiler.core.notifications.uses import notifications_of


def topics_of(context: Context, namespace: str) -> tuple[str, ...]:
    """Those of its team, or of all, and of what is critical: that a job hangs or has failed is."""
    notifications = notifications_of(context)
    if notifications is None:
        return ()
    names = (notifications.teams.get(namespace, notifications.default), notifications.critical)
    by_name = {one.name: one.sns.topic_arn for one in notifications.receivers if one.sns}
    return tuple(dict.fromkeys(by_name[name] for name in names if name in by_name))


def all_topics(context: Context) -> tuple[str, ...]:
    """Those of all receivers."""
    notifications = notifications_of(context)
    if notifications is None:
        return ()
    found = (one.sns.topic_arn for one in notifications.receivers if one.sns is not None)
    return tuple(dict.fromkeys(found))


def keys_of(context: Context) -> tuple[str, ...]:
    """The KMS keys that encrypt them."""
    notifications = notifications_of(context)
    if notifications is None:
        return ()
    found = (one.sns.kms_key for one in notifications.receivers if one.sns is not None)
    return tuple(dict.fromkeys(key for key in found if key is not None))
