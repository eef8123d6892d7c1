from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.observability.exporters import asked
from trainyard.extensions.observability.promql import selectors
from trainyard.extensions.observability.released_exporters import metrics
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.near import name_meant
from trainyard.plan import Plan


@rule("HLT059")
def label_of_no_metric(plan: Plan) -> Iterator[Finding]:
    """An alert or a panel selects by a label that its metric does not have.

    No series matches: the alert never fires, and the panel stays empty. Exporters rename labels: dcgm-exporter's
    `Hostname` is `hostname` (NVIDIA/dcgm-exporter #655), `pod_name` of containers is `pod` since Kubernetes 1.16.
    Metrics of Trainyard's own monitoring are judged in a spec, with what it includes; in third-party manifests only
    `pod_name` and `container_name` are, since relabelling may add any other label.

    ## Fails

        apiVersion: monitoring.coreos.com/v1
        kind: PrometheusRule
        metadata: {name: pods, namespace: monitoring}
        spec:
          groups:
            - name: pods
              rules: [{alert: Full, expr: 'container_memory_working_set_bytes{pod_name="a"} > 1e9'}]

        # a whole cluster
        apiVersion: monitoring.coreos.com/v1
        kind: PrometheusRule
        metadata: {name: gpus, namespace: monitoring}
        spec:
          groups:
            - name: gpus
              rules: [{alert: Hot, expr: 'DCGM_FI_DEV_GPU_TEMP{machine="a"} > 85'}]

    ## Passes

        # a whole cluster
        apiVersion: monitoring.coreos.com/v1
        kind: PrometheusRule
        metadata: {name: pods, namespace: monitoring}
        spec:
          groups:
            - name: pods
              rules:
                - {alert: Full, expr: 'container_memory_working_set_bytes{pod="a",machine=""} > 1e9'}
    """
    for each in asked(plan):
        for selector in selectors(each.query):
            metric = metrics().get(selector.metric)
            if metric is None:
                continue
            for label in sorted(selector.labels - metric.labels):
                now = _RENAMED.get((metric.exporter, label))
                if now is None and not plan.closed:
                    continue
                yield Finding(
                    f"{each.by} selects `{metric.name}` by `{label}`, which it does not have",
                    each.at,
                    label="no series matches",
                    help=f"write `{now}`"
                    if now
                    else name_meant(label, sorted(metric.labels))
                    or "its labels are " + ", ".join(map("`{}`".format, sorted(metric.labels))),
                )


_RENAMED = {("cadvisor", "pod_name"): "pod", ("cadvisor", "container_name"): "container"}
"""Labels that every version of today has by another name (Kubernetes 1.16 release notes)."""
