"""The configuration of Alertmanager: receivers, and the routes that lead to them.

Alertmanager v0.34.0, docs/configuration.md; kube-prometheus-stack 88.5.3, values.yaml: alertmanager. Values of Secrets
are read from files, which the operator mounts (prometheus-operator v0.93.1, AlertmanagerSpec secrets).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.core.notifications.spec import Notifications, Receiver, SecretValue
from trainyard.extensions.observability.notifications.names import ACCOUNT

_SECRETS = "/etc/alertmanager/secrets"
_NOBODY = "Nobody"
"""A receiver that sends nothing; no name of the spec has a capital letter."""
_STATUS = "{{ .Status | toUpper }} {{ .CommonLabels.alertname }}"
_SUMMARIES = (
    "{{ range .Alerts }}{{ .Annotations.summary }}"
    "{{ with .Labels.severity }} ({{ . }}){{ end }}"
    "\n{{ end }}{{ with .CommonAnnotations.description }}{{ . }}\n{{ end }}"
)
# PagerDuty takes critical, error, warning and info, and refuses others (PagerDuty, Events API v2, payload.severity).
_SEVERITY = (
    '{{ if eq .CommonLabels.severity "critical" "warning" "info" }}{{ .CommonLabels.severity }}'
    "{{ else }}error{{ end }}"
)


def values(cluster: str, notifications: Notifications) -> dict[str, Any]:
    """The values of the chart below ``alertmanager``, without those of ``alertmanagerSpec``."""
    values: dict[str, Any] = {"config": configuration(cluster, notifications)}
    if any(receiver.sns for receiver in routed(notifications)):
        values["serviceAccount"] = {"name": ACCOUNT}
    return values


def mounted(notifications: Notifications) -> list[str]:
    """The Secrets that receivers of alerts read, by name."""
    values = [receiver.value for receiver in routed(notifications)]
    return sorted({value.secret for _, value in filter(None, values)})


def routed(notifications: Notifications) -> tuple[Receiver, ...]:
    """The receivers that alerts are sent to."""
    names = {
        notifications.default,
        notifications.critical,
        notifications.watchdog,
        *notifications.teams.values(),
    }
    return tuple(receiver for receiver in notifications.receivers if receiver.name in names)


def configuration(cluster: str, notifications: Notifications) -> dict[str, Any]:
    """The whole configuration, but for templates, which the chart adds."""
    receivers = [_receiver(cluster, receiver) for receiver in routed(notifications)]
    if notifications.watchdog is None:
        receivers.append({"name": _NOBODY})
    return {
        "route": {
            "receiver": notifications.default,
            "group_by": ["alertname", "owner"],
            "group_wait": "30s",
            "group_interval": "5m",
            "repeat_interval": "12h",
            "routes": list(_routes(notifications)),
        },
        "receivers": receivers,
        # Those of the chart mute an alert of one pool by a worse one of another pool, which has the same name.
        "inhibit_rules": [],
    }


def _routes(notifications: Notifications) -> Iterator[dict[str, Any]]:
    """The routes in the order in which they are tried: an alert takes the first that matches, and goes on to the next
    ones after a route with ``continue``."""
    yield _watchdog(notifications.watchdog)
    critical = _critical(notifications)
    if critical is not None:
        yield critical
    for team, receiver in notifications.teams.items():
        if receiver != notifications.default:
            yield {"receiver": receiver, "matchers": [f'owner = "{team}"']}
    # After a route with `continue` only a route that matches is taken, not the receiver of the whole tree.
    if critical is not None:
        yield {"receiver": notifications.default}


def _watchdog(receiver: str | None) -> dict[str, Any]:
    """The alert that always fires goes to what waits for it, often, and to nobody else."""
    route = {"receiver": receiver or _NOBODY, "matchers": ['alertname = "Watchdog"']}
    if receiver is None:
        return route
    often = {"group_wait": "0s", "group_interval": "1m", "repeat_interval": "5m"}
    return {**route, **often}


def _critical(notifications: Notifications) -> dict[str, Any] | None:
    """Critical alerts go to ``critical`` and to their owner's receiver: once, where both are the same."""
    receiver = notifications.critical
    if receiver is None:
        return None
    matchers = ['severity = "critical"']
    teams = notifications.teams
    if receiver == notifications.default:
        others = [team for team, own in teams.items() if own != receiver]
        if not others:
            return None
        matchers.append(f'owner =~ "{"|".join(others)}"')
    else:
        same = [team for team, own in teams.items() if own == receiver]
        if same:
            matchers.append(f'owner !~ "{"|".join(same)}"')
    return {"receiver": receiver, "matchers": matchers, "continue": True}


def _receiver(cluster: str, receiver: Receiver) -> dict[str, Any]:
    """One receiver, by its kind; each says when an alert is over, too."""
    name = {"name": receiver.name}
    title = f"{cluster}: {_STATUS}"
    if receiver.slack is not None:
        slack = {
            "api_url_file": _file(receiver.slack.api_url),
            "channel": receiver.slack.channel,
            "send_resolved": True,
            "title": title,
            "text": _SUMMARIES,
        }
        return {**name, "slack_configs": [slack]}
    if receiver.pager_duty is not None:
        pager = {
            "routing_key_file": _file(receiver.pager_duty.routing_key),
            "send_resolved": True,
            "description": title,
            "severity": _SEVERITY,
        }
        return {**name, "pagerduty_configs": [pager]}
    if receiver.sns is not None:
        topic = receiver.sns.topic_arn
        sns = {
            "topic_arn": topic,
            "sigv4": {"region": topic.split(":")[3]},
            "send_resolved": True,
            "subject": title,
        }
        return {**name, "sns_configs": [sns]}
    assert receiver.webhook is not None, "a receiver is of one kind"
    webhook = {"url_file": _file(receiver.webhook.url), "send_resolved": True}
    return {**name, "webhook_configs": [webhook]}


def _file(value: SecretValue) -> str:
    return f"{_SECRETS}/{value.secret}/{value.key}"
