from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.observability.exporters import asked, made
from trainyard.extensions.observability.promql import selectors
from trainyard.extensions.observability.released_exporters import exporter_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.near import name_meant
from trainyard.plan import Plan


@rule("HLT058")
def metric_of_no_exporter(plan: Plan) -> Iterator[Finding]:
    """An alert or a panel asks for a metric that its exporter does not have.

    Prometheus answers with nothing: the alert never fires, the panel stays empty, and neither says why. Judged are
    metrics of exporters whose list is known: dcgm-exporter has the counters of `customMetrics`, or those of its chart
    (dcgm-exporter 3.1.4 to 4.8.2, metrics-configmap.yaml), and of others Prometheus keeps what `metricRelabelings`
    list. Of an exporter that the manifests do not have, and of a query that cannot be read, nothing is said.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dcgm-exporter, namespace: flux-system}
        spec:
          chart: {spec: {chart: dcgm-exporter, version: 4.8.2}}
          values: {tolerations: [{operator: Exists}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: PrometheusRule
        metadata: {name: gpus, namespace: monitoring}
        spec:
          groups:
            - name: gpus
              rules: [{alert: Throttled, expr: DCGM_FI_DEV_CLOCK_THROTTLE_REASONS > 0}]

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dcgm-exporter, namespace: flux-system}
        spec:
          chart: {spec: {chart: dcgm-exporter, version: 3.5.0}}
          values: {tolerations: [{operator: Exists}]}
        ---
        apiVersion: monitoring.coreos.com/v1
        kind: PrometheusRule
        metadata: {name: gpus, namespace: monitoring}
        spec: {groups: [{name: gpus, rules: [{alert: Slow, expr: DCGM_FI_DEV_CLOCK_THROTTLE_REASONS > 0}]}]}

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: dcgm-exporter, namespace: flux-system}
        spec:
          chart: {spec: {chart: dcgm-exporter, version: 4.7.1}}
          values:
            customMetrics: DCGM_FI_DEV_GPU_TEMP, gauge, temperature
            tolerations: [{operator: Exists}]
        ---
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: gpus, namespace: monitoring, labels: {grafana_dashboard: "1"}}
        data:
          gpus.json: |
            {"title": "GPUs", "panels": [{"type": "timeseries", "title": "Power", "datasource": {"type": "prometheus"},
             "targets": [{"expr": "sum(rate(DCGM_FI_DEV_POWER_USAGE[$__rate_interval]))"}]}]}

    ## Passes

        # as the first that fails, but
        kind: PrometheusRule
        spec:
          groups:
            - name: gpus
              rules:
                - {alert: Hot, expr: DCGM_FI_DEV_GPU_TEMP > 85}
                - {alert: Slow, expr: train_step_seconds > 5}
    """
    known = made(plan)
    for each in asked(plan):
        for selector in selectors(each.query):
            exporter = exporter_of(selector.metric)
            if exporter is None or exporter.name not in known:
                continue
            names = known[exporter.name]
            if selector.metric not in names:
                yield Finding(
                    f"{each.by} asks for `{selector.metric}`, which `{exporter.name}` does not have here",
                    each.at,
                    label="no series has this name",
                    help=name_meant(selector.metric, sorted(names))
                    or "have the exporter say it, and Prometheus keep it, or ask for another metric",
                    notes=(f"source: {exporter.source}",),
                )
