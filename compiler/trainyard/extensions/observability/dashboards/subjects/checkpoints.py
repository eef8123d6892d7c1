"""Whether jobs save: what grows where they save to, and what a restart would cost them.

Where a job says how often it saves, an exporter beside it says when a file was last written there. Of others a save is
seen in its traces: its volume grows, and while it lasts the tensor cores of its job do nothing.
"""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import (
    BYTES,
    BYTES_A_SECOND,
    COUNT,
    SECONDS,
    SHARE,
    choice,
    graph,
    rows,
)
from trainyard.extensions.observability.dashboards.plan import Panel
from trainyard.extensions.observability.dashboards.subjects.storage import used
from trainyard.extensions.observability.monitoring.alerts.records import GPU_TENSOR

_VOLUME = '{namespace="$namespace",persistentvolumeclaim=~"$volume"}'
_BY = "max by (persistentvolumeclaim)"
_USED = f"{_BY} ({used(_VOLUME)})"
_FREE = f"{_BY} (kubelet_volume_stats_available_bytes{_VOLUME})"
_GROWTH = (
    f"-min by (persistentvolumeclaim) (deriv(kubelet_volume_stats_available_bytes{_VOLUME}[1h]))"
)
_OF_VOLUME = "{{persistentvolumeclaim}}"

_RESTARTED = 'trainyard_jobset_restarts{namespace="$namespace"}'

_SAVES = [
    graph(
        "Used on the volume",
        BYTES,
        _USED,
        _OF_VOLUME,
        about="A step up is a save, a step down a checkpoint that was deleted.",
    ),
    graph("Growth, over an hour", BYTES_A_SECOND, f"{_GROWTH} > 0", _OF_VOLUME),
    graph(
        "Time until the volume is full",
        SECONDS,
        f"{_FREE} / ({_GROWTH} > 0)",
        _OF_VOLUME,
        about="At the growth of the last hour. A checkpoint that does not fit is lost.",
    ),
]
_RESTARTS = graph(
    "Restarts in two hours",
    COUNT,
    f"max by (jobset) (max_over_time({_RESTARTED}[2h]) - min_over_time({_RESTARTED}[2h])) > 0",
    "{{jobset}}",
    about="Each costs the steps since the last save.",
)
_PAUSES = graph(
    "Cycles with active tensor cores",
    SHARE,
    f'avg by (training_job) ({GPU_TENSOR}{{namespace="$namespace"}})',
    "{{training_job}}",
    about="Regular gaps that fit the steps of the volume are saves for which the job waits.",
)


_IN_NAMESPACE = '{namespace="$namespace"}'
_LAST = f"max by (training_job) (trainyard_checkpoint_last_write_timestamp_seconds{_IN_NAMESPACE})"
_SAVED = [
    graph(
        "Since the last save",
        SECONDS,
        f"time() - ({_LAST} > 0)",
        "{{training_job}}",
        about="Of the newest file where the job saves. It grows to the interval and falls back.",
    ),
    graph(
        "Intervals since the last save",
        COUNT,
        f"(time() - ({_LAST} > 0)) / max by (training_job) (trainyard_checkpoint_interval_seconds{_IN_NAMESPACE})",
        "{{training_job}}",
        about="Above 2 while the job runs is CheckpointOverdue.",
    ),
    graph(
        "Free where jobs save",
        SHARE,
        f"min by (persistentvolumeclaim) (trainyard_checkpoint_storage_free_bytes{_IN_NAMESPACE}"
        f" / trainyard_checkpoint_storage_size_bytes{_IN_NAMESPACE})",
        _OF_VOLUME,
        about="Of the whole file system. A step down is a save, a step up a checkpoint that was deleted.",
    ),
]


def page(*, gpus: bool, saving: bool) -> Page:
    """With the GPUs of jobs, where there are some; ``saving``: with the saves that exporters see."""
    of_jobs: list[Panel] = [*_SAVED, _RESTARTS] if saving else [_RESTARTS]
    if gpus:
        of_jobs.append(_PAUSES)
    claims = 'kubelet_volume_stats_capacity_bytes{namespace="$namespace"}'
    choices = (
        choice("namespace", "kubelet_volume_stats_capacity_bytes"),
        choice("volume", claims, "persistentvolumeclaim", several=True),
    )
    return Page("checkpoints", "Checkpoints", choices, rows({"Volumes": _SAVES, "Jobs": of_jobs}))
