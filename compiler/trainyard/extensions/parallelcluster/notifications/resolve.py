"""Notifications: receivers are there and of use, and nodes reach their topics."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.notifications.uses import AT, check_topic, notifications_of, receivers
from trainyard.plan import PlanItem
from trainyard.plan.context import Context


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing of its own: the scripts of jobs send, and the policy of nodes lets them."""
    notifications = notifications_of(context)
    if notifications is not None:
        receivers(context, notifications)
        for index, receiver in enumerate(notifications.receivers):
            if receiver.sns is not None:
                place = AT / "receivers" / index / "sns" / "topicArn"
                check_topic(context, receiver.sns.topic_arn, place)
    yield from ()
