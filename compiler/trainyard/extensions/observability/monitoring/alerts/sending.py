"""Alerts of a Prometheus that sends its samples to AWS."""

from __future__ import annotations

from trainyard.eks.health.alert import CRITICAL, WARNING, Alert

ALERTS = (
    Alert(
        name="SamplesStayAway",
        expr="absent(up)",
        wait="10m",
        severity=CRITICAL,
        summary="Amazon Managed Service for Prometheus gets no samples of the cluster",
        means="No other alert can fire. Prometheus does not run, has no rights, or cannot reach the workspace.",
        steps=(
            "`kubectl get pods -n monitoring`, then `kubectl logs -n monitoring sts/prom-agent-prometheus-prometheus`.",
            "403 in them: the stack of monitoring makes its role. Run the bootstrap again, then restart its pod.",
            "The ConfigMap `trainyard-monitoring` of `flux-system` has the id of the workspace: the bootstrap writes "
            "it.",
        ),
    ),
    Alert(
        name="SamplesRefused",
        expr=(
            "sum(increase(prometheus_remote_storage_samples_failed_total[15m]))"
            " + sum(increase(prometheus_remote_storage_samples_dropped_total[15m])) > 0"
        ),
        severity=WARNING,
        summary="Amazon Managed Service for Prometheus refuses samples",
        means="They are not sent again, so alerts and dashboards lack them: they were too many, too old, or broke a "
        "quota of the workspace.",
        steps=(
            "`kubectl logs -n monitoring sts/prom-agent-prometheus-prometheus`: the answer of AWS.",
            "429 there: the quotas of the workspace are in the console of Service Quotas.",
        ),
    ),
)
