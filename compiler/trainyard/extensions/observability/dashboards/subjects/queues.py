"""What waits in queues, for how long, and what their quota is used for."""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import (
    COUNT,
    SECONDS,
    SHARE,
    choice,
    graph,
    number,
    rows,
)

_QUEUE = '{cluster_queue=~"$queue"}'
_PENDING, _ADMITTED = f"kueue_pending_workloads{_QUEUE}", f"kueue_admitted_active_workloads{_QUEUE}"
_BY = "max by (cluster_queue, flavor, resource)"
"""Each of Kueue's replicas says the same."""
_USED = f"{_BY} (kueue_cluster_queue_resource_usage{_QUEUE})"
_QUOTA = f"{_BY} (kueue_cluster_queue_nominal_quota{_QUEUE})"
_OF_QUEUE = "{{cluster_queue}}"
_OF_RESOURCE = "{{cluster_queue}} {{flavor}} {{resource}}"
_WAITED = f"sum by (cluster_queue) (increase(kueue_admission_wait_time_seconds_sum{_QUEUE}[1h]))"
_ADMISSIONS = (
    f"sum by (cluster_queue) (increase(kueue_admission_wait_time_seconds_count{_QUEUE}[1h]))"
)

PAGE = Page(
    "queues",
    "Queues",
    (choice("queue", "kueue_pending_workloads", "cluster_queue", several=True),),
    rows(
        {
            "Jobs": [
                number("Run", COUNT, f"sum(max by (cluster_queue) ({_ADMITTED}))"),
                number("Wait", COUNT, f"sum(max by (cluster_queue, status) ({_PENDING}))"),
                graph(
                    "Jobs that wait",
                    COUNT,
                    f"max by (cluster_queue, status) ({_PENDING})",
                    "{{cluster_queue}} {{status}}",
                    about="`inadmissible`: Kueue tries again only when quota or nodes change.",
                ),
                graph("Jobs that run", COUNT, f"max by (cluster_queue) ({_ADMITTED})", _OF_QUEUE),
                graph(
                    "Wait until admission, on average of an hour",
                    SECONDS,
                    f"{_WAITED} / {_ADMISSIONS}",
                    _OF_QUEUE,
                ),
                graph(
                    "Evictions an hour",
                    COUNT,
                    "sum by (cluster_queue, reason) "
                    f"(increase(kueue_evicted_workloads_total{_QUEUE}[1h])) > 0",
                    "{{cluster_queue}} {{reason}}",
                ),
            ],
            "Quota": [
                graph(
                    "Used share of the quota",
                    SHARE,
                    f"{_USED} / ({_QUOTA} > 0)",
                    _OF_RESOURCE,
                    about="Above 100 %: the queue borrows from its cohort.",
                ),
                graph("Used", COUNT, _USED, _OF_RESOURCE),
            ],
        }
    ),
)
