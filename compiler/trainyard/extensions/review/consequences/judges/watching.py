"""Monitors, rules, and who is sent what: nothing of a job, a node or a queue depends on them.

Sources: prometheus-operator v0.93.1 (Prometheus reloads its configuration); Flux notification-controller v1.9.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.output.fields import Steps

_OPERATOR = "prometheus-operator v0.93.1, API of monitoring.coreos.com"
_NOTIFICATIONS = "notification-controller v1.9.3, docs/spec"


def _watching(edit: Edit, steps: Steps) -> Effect | None:
    return Effect(Consequence.HARMLESS, "Prometheus loads it again; nothing restarts", _OPERATOR)


def _sending(edit: Edit, steps: Steps) -> Effect | None:
    return Effect(
        Consequence.HARMLESS, "only who hears what Flux applied or failed to apply", _NOTIFICATIONS
    )


_MONITORING = ("ServiceMonitor", "PodMonitor", "PrometheusRule", "AlertmanagerConfig")
KINDS: Mapping[str, Judge] = {
    **{f"{kind}.monitoring.coreos.com": _watching for kind in _MONITORING},
    "Alert.notification.toolkit.fluxcd.io": _sending,
    "Provider.notification.toolkit.fluxcd.io": _sending,
}
