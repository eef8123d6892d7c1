"""Who is told: every use names a receiver, and every receiver has a use."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.core.notifications.spec import Notifications, NotificationsSection, Receiver
from trainyard.core.queues.namespaces import namespace_routes
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context, near_help, unique_names

AT = SPEC / "notifications"


def notifications_of(context: Context) -> Notifications | None:
    """What the spec says of them."""
    return NotificationsSection.of(context.spec).notifications


def receivers(context: Context, notifications: Notifications) -> Mapping[str, Receiver]:
    """The receivers by name. Reports uses that name none, teams that are no namespaces, and receivers without a use."""
    known = {receiver.name: receiver for receiver in notifications.receivers}
    names = (receiver.name for receiver in notifications.receivers)
    unique_names(context, "receiver", names, AT / "receivers")
    uses = {key: getattr(notifications, key) for key in ("default", "critical", "watchdog", "flux")}
    used = {AT / key: name for key, name in uses.items() if name is not None}
    teams = context.once(namespace_routes)
    for team, name in notifications.teams.items():
        used[AT / "teams" / team] = name
        if team not in teams:
            context.fault(
                "RES013",
                f"namespace `{team}` is not declared",
                AT / "teams" / team,
                near_help(team, teams, "namespace"),
                key=True,
            )
    for place, name in used.items():
        context.find("RES350", "receiver", name, known, place)
    for index, receiver in enumerate(notifications.receivers):
        if receiver.name not in used.values():
            context.doubt(
                "RES351",
                f"nothing is sent to receiver `{receiver.name}`",
                AT / "receivers" / index / "name",
                "name it under `default`, `critical`, `teams`, `watchdog` or `flux`, or remove it",
            )
    return known


def check_topic(context: Context, topic: str, place: Route) -> None:
    """A fault of a topic that credentials of the cluster do not reach."""
    partition = topic.split(":")[1]
    if partition != context.partition:
        context.fault(
            "RES355",
            f"the topic is in partition `{partition}`, and the cluster in `{context.partition}`",
            place,
            f"take a topic of `{context.partition}`: credentials of one partition are of no use in another one",
            source="IAM user guide, reference_identifiers: partitions",
        )
