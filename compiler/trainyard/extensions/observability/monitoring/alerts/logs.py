"""Alerts of logs that do not arrive."""

from __future__ import annotations

from trainyard.eks.health.alert import WARNING, Alert

ALERTS = (
    Alert(
        name="LogsNotTaken",
        expr="sum by (node) (increase(loki_write_batch_retries_total[10m])) > 0",
        wait="15m",
        severity=WARNING,
        summary="Loki takes no logs of node {{ $labels.node }}",
        means="Lines wait in the files of the node, and are lost with pods that end meanwhile. On all nodes: Loki does "
        "not run, or cannot write to its bucket.",
        steps=(
            "`kubectl get pods -n logging`, then `kubectl logs -n logging sts/loki`.",
            "`AccessDenied`: the stack `logs` makes its role. Run the bootstrap again, then `kubectl rollout restart "
            "-n logging sts/loki`.",
        ),
    ),
    Alert(
        name="LogsDropped",
        expr="sum by (node, reason) (increase(loki_write_dropped_entries_total[15m])) > 0",
        severity=WARNING,
        summary="logs of node {{ $labels.node }} are dropped: {{ $labels.reason }}",
        means="Loki refused the lines, and they are not sent again: they were too many at once, too long, or too old.",
        steps=(
            "`kubectl logs -n logging daemonset/alloy` has its answer: `final error`.",
            "Have the job write less, or raise `limits_config` by `components: {loki: {values: {loki: …}}}`.",
        ),
    ),
)
