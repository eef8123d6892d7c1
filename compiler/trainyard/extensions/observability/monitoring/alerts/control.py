"""Alerts of what keeps the cluster going: Flux, controllers, webhooks, and monitoring itself."""

from __future__ import annotations

from trainyard.eks.health.alert import CRITICAL, INFO, WARNING, Alert

_OBJECT = "{{ $labels.kind }} {{ $labels.name }}"


def alerts(namespaces: tuple[str, ...]) -> tuple[Alert, ...]:
    """``namespaces``: those of the controllers."""
    of_ours = f'{{namespace=~"{"|".join(namespaces)}"}}'
    by = "(namespace, deployment)"
    return (
        Alert(
            name="FluxNotReady",
            expr='max by (kind, name, exported_namespace) (gotk_resource_info{ready="False"}) > 0',
            wait="15m",
            severity=CRITICAL,
            summary=f"Flux cannot apply {_OBJECT}",
            means="What is in git is not in the cluster. Jobs that run go on; new ones and changes do not arrive.",
            steps=("`flux get all -A --status-selector ready=false`: the message has the reason.",),
        ),
        Alert(
            name="FluxSuspended",
            expr='max by (kind, name, exported_namespace) (gotk_resource_info{suspended="true"}) > 0',
            wait="24h",
            severity=INFO,
            summary=f"{_OBJECT} is suspended since a day",
            means="Somebody stopped it by `flux suspend`: nothing of it arrives.",
            steps=("`flux resume` it when the reason is gone.",),
        ),
        Alert(
            name="WebhookFails",
            expr=(
                "sum by (name) (increase(apiserver_admission_webhook_rejection_count"
                '{error_type="calling_webhook_error"}[10m])) > 0'
            ),
            wait="5m",
            severity=CRITICAL,
            summary="the API server cannot call webhook {{ $labels.name }}",
            means="Its pods do not run, its certificate is over, or the network is closed. Objects that it "
            "judges are refused: no job starts.",
            steps=(
                "`kubectl get pods` in its namespace.",
                "`certificate has expired` in Flux' message: delete its Secret of certificates, and restart "
                "its pods.",
            ),
        ),
        Alert(
            name="ControllerDown",
            expr=(
                f"max by {by} (kube_deployment_status_replicas_available{of_ours}) == 0"
                f" and on {by} max by {by} (kube_deployment_spec_replicas{of_ours}) > 0"
            ),
            wait="5m",
            severity=CRITICAL,
            summary="{{ $labels.deployment }} of {{ $labels.namespace }} has no pod that is available",
            means="A controller of the cluster does not run. Kueue, JobSet and Trainer answer the API server: "
            "without them no job starts.",
            steps=("`kubectl describe deployment` and `kubectl logs --previous` of its pods.",),
        ),
        Alert(
            name="ControllerFails",
            expr=(
                'sum by (job, controller) (rate(controller_runtime_reconcile_total{result="error"}[15m]))'
                " / sum by (job, controller) (rate(controller_runtime_reconcile_total[15m])) > 0.5"
            ),
            wait="15m",
            severity=WARNING,
            summary="controller {{ $labels.controller }} ({{ $labels.job }}) fails in {{ $value | "
            "humanizePercentage }} of its tries",
            means="It tries the same again and again: a right is missing, an object is refused, AWS throttles it.",
            steps=("`kubectl logs` of the controller: the error repeats there.",),
        ),
        Alert(
            name="TargetDown",
            expr="max by (job, instance) (up == bool 0) > 0",
            wait="15m",
            severity=WARNING,
            summary="Prometheus cannot scrape {{ $labels.instance }} of {{ $labels.job }}",
            means="What the target would report is missing, and no alert over it can fire.",
            steps=("Prometheus' page Targets has the error.",),
        ),
    )


def of_server(capacity: int) -> tuple[Alert, ...]:
    """A Prometheus that keeps its samples itself; ``capacity``: the series that it has memory for."""
    return (
        Alert(
            name="PrometheusTooManySeries",
            expr=f"max(prometheus_tsdb_head_series) > {capacity}",
            wait="30m",
            severity=WARNING,
            summary="Prometheus has {{ $value | humanize }} series, more than it has memory for",
            means="Its memory is derived from the series of the cluster. Monitors that were added bring more.",
            steps=(
                "Prometheus' page TSDB status lists the metrics with the most series.",
                "Drop what nobody asks for (`metricRelabelings`), or raise the memory by `components: "
                "{kube-prometheus-stack: {values: …}}`.",
            ),
        ),
        Alert(
            name="PrometheusRuleFails",
            expr="sum by (rule_group) (increase(prometheus_rule_evaluation_failures_total[15m])) > 0",
            severity=WARNING,
            summary="rules of {{ $labels.rule_group }} fail",
            means="An expression finds several series where it needs one, or times out: its alerts do not fire.",
            steps=("Prometheus' page Rules has the error.",),
        ),
        Alert(
            name="PrometheusAlertsLost",
            expr="max(increase(prometheus_notifications_dropped_total[15m])) > 0",
            severity=CRITICAL,
            summary="Prometheus cannot hand its alerts to Alertmanager",
            means="Alerts fire, and nobody is notified.",
            steps=("`kubectl get pods -n monitoring`: whether Alertmanager runs.",),
        ),
        Alert(
            name="AlertmanagerFails",
            expr="sum by (integration) (increase(alertmanager_notifications_failed_total[15m])) > 0",
            severity=CRITICAL,
            summary="Alertmanager cannot notify by {{ $labels.integration }}",
            means="The receiver refuses its messages, or cannot be reached.",
            steps=("`kubectl logs` of Alertmanager: the answer of the receiver.",),
        ),
    )


WATCHDOG = Alert(
    name="Watchdog",
    expr="vector(1)",
    severity=INFO,
    summary="alerts are evaluated and sent; this one always fires",
    means="A receiver that expects it raises an alarm when it stays away: then Prometheus or "
    "Alertmanager is down.",
    steps=("Route it to a service that waits for it, and nowhere else.",),
)
