"""One job, by the name that it has in the spec, over all of its runs."""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import (
    BYTES,
    BYTES_A_SECOND,
    COUNT,
    DOLLARS,
    PERCENT,
    RATE,
    SHARE,
    choice,
    graph,
    number,
    rows,
)
from trainyard.extensions.observability.dashboards.plan import Panel
from trainyard.extensions.observability.monitoring.alerts.records import (
    GPU_TENSOR,
    GPU_UTIL,
    IDLE,
    IDLE_DOLLARS,
    POD_JOB,
)

_JOB = '{namespace="$namespace",training_job="$job"}'
_IN_NAMESPACE = '{namespace="$namespace"}'
_POD = "{{pod}}"
_OF_JOB = f"* on (namespace, pod) group_left (training_job) {POD_JOB}{_JOB}"
_RUNS = '{namespace="$namespace",jobset=~"${job}-[0-9a-f]{5}.*"}'
"""JobSets of its runs: the job's name, and five digits of its content."""
_THROTTLED = f"container_cpu_cfs_throttled_periods_total{_IN_NAMESPACE}"
_PERIODS = f"container_cpu_cfs_periods_total{_IN_NAMESPACE}"

_GPUS: list[Panel] = [
    number("GPUs", COUNT, f"count({GPU_UTIL}{_JOB})"),
    number("Busy on average", PERCENT, f"avg({GPU_UTIL}{_JOB})"),
    number("GPUs that did nothing for half an hour", COUNT, f"sum({IDLE}{_JOB})"),
    number("What these cost an hour, on demand", DOLLARS, f"sum({IDLE_DOLLARS}{_JOB})"),
    graph(
        "Time in which a kernel ran",
        PERCENT,
        f"avg by (pod) ({GPU_UTIL}{_JOB})",
        _POD,
        about="One pod far below the others: they wait for it. All low: they wait for data or a checkpoint.",
    ),
    graph(
        "Cycles with active tensor cores",
        SHARE,
        f"avg by (pod) ({GPU_TENSOR}{_JOB})",
        _POD,
        about="None while kernels run: the job hangs in a collective.",
    ),
]
_PODS = [
    graph(
        "Pods by phase",
        COUNT,
        f"sum by (phase) (kube_pod_status_phase{_IN_NAMESPACE} {_OF_JOB})",
        "{{phase}}",
    ),
    graph(
        "Restarts of the gang",
        COUNT,
        {
            "{{jobset}}": f"max by (jobset) (trainyard_jobset_restarts{_RUNS})",
            "{{jobset}} at most": f"max by (jobset) (trainyard_jobset_max_restarts{_RUNS})",
        },
    ),
    graph(
        "Alerts that fire",
        COUNT,
        'count by (alertname) (ALERTS{alertstate="firing",owner="$namespace"})',
        "{{alertname}}",
        about="Of all jobs of the namespace: the label `owner` is the team.",
    ),
    graph(
        "Memory of containers",
        BYTES,
        f"sum by (pod) (container_memory_working_set_bytes{_IN_NAMESPACE} {_OF_JOB})",
        _POD,
    ),
    graph(
        "Throttled share of the time",
        SHARE,
        f"sum by (namespace, pod) (rate({_THROTTLED}[{RATE}]))"
        f" / sum by (namespace, pod) (rate({_PERIODS}[{RATE}])) {_OF_JOB}",
        _POD,
        about="The limit of CPU is reached: loaders of data are slowed.",
    ),
]


def _efa(counter: str) -> str:
    rate = f"sum by (node) (rate(node_amazonefa_{counter}[{RATE}]))"
    return f"{rate} and on (node) count by (node) ({GPU_UTIL}{_JOB})"


_NETWORK = [
    graph("EFA: received by its nodes", BYTES_A_SECOND, _efa("rx_bytes"), "{{node}}"),
    graph("EFA: sent by its nodes", BYTES_A_SECOND, _efa("tx_bytes"), "{{node}}"),
    graph("EFA: sent again by its nodes", BYTES_A_SECOND, _efa("retrans_bytes"), "{{node}}"),
]


def page(*, gpus: bool, efa: bool) -> Page:
    """With what the cluster's nodes have."""
    titled = {"Pods": _PODS}
    if gpus:
        titled = {"GPUs": _GPUS, **titled}
    if gpus and efa:
        titled = {**titled, "Network": _NETWORK}
    choices = (
        choice("namespace", POD_JOB),
        choice("job", f"{POD_JOB}{_IN_NAMESPACE}", "training_job"),
    )
    return Page("jobs", "Jobs", choices, rows(titled))
