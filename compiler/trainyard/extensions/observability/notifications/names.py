"""Whether the spec asks for notifications, of what, and in which namespaces their Secrets are."""

from __future__ import annotations

from trainyard.core.notifications.spec import Notifications
from trainyard.core.notifications.uses import notifications_of
from trainyard.eks.flux.stages import FLUX
from trainyard.extensions.observability.monitoring import names as monitoring
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

ACCOUNT = "prometheus-alertmanager"
"""The service account of Alertmanager (kube-prometheus-stack 88.5.3, alertmanager.serviceAccount.name)."""


def key_route() -> Route:
    """The place of the key in the spec."""
    return SPEC / "notifications"


def alerts_of(context: Context) -> Notifications | None:
    """What the spec says of them, where the cluster's Alertmanager sends some."""
    notifications = notifications_of(context)
    if notifications is None or notifications.default is None or not monitoring.is_wanted(context):
        return None
    if monitoring.is_managed(context):
        return None
    return notifications


def namespaces(context: Context) -> dict[str, Route]:
    """The namespaces of no team in which receivers read Secrets, with the place that asks for them."""
    found = {}
    if alerts_of(context) is not None:
        found[monitoring.namespace(context)] = key_route() / "default"
    notifications = notifications_of(context)
    if notifications is not None and notifications.flux is not None:
        found[FLUX] = key_route() / "flux"
    return found
