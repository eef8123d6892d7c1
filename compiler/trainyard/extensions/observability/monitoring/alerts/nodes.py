"""Alerts of nodes and disks."""

from __future__ import annotations

from trainyard.eks.health.alert import CRITICAL, WARNING, Alert
from trainyard.eks.health.watch import NodeWatch

FILE_SYSTEMS = 'mountpoint!~"/run.*|/var/lib/kubelet.*"'
"""The file systems of a node itself, without those of pods."""
_CLAIM = "by (namespace, persistentvolumeclaim)"
_VOLUME = "volume {{ $labels.persistentvolumeclaim }} of {{ $labels.namespace }}"
_GROW = (
    "Delete old checkpoints, or make the storage larger: `size` of an EBS or FSx storage in the spec.",
    "A checkpoint that does not fit is a checkpoint that is lost: jobs that save there stop.",
)


def alerts(*watches: NodeWatch) -> tuple[Alert, ...]:
    """Those of any node, and of what watches them."""
    return (_not_ready(watches[0]), *(each for of in watches for each in of.alerts), *_OF_ANY)


def _not_ready(watch: NodeWatch) -> Alert:
    return Alert(
        name="NodeNotReady",
        expr='max by (node) (kube_node_status_condition{condition="Ready",status="true"}) == 0',
        wait="10m",
        severity=CRITICAL,
        summary="{{ $labels.node }} is not ready",
        means=f"The kubelet does not answer. {watch.silent}",
        steps=(
            "`kubectl describe node`: its conditions and events.",
            "Its gang restarts without it where the pool has another node.",
        ),
    )


_OF_ANY = (
    Alert(
        name="NodeOutOfMemory",
        expr="max by (node) (increase(node_vmstat_oom_kill[15m])) > 0",
        severity=WARNING,
        summary="the kernel of {{ $labels.node }} killed programs for memory",
        means="A container went over its limit, or the node ran out of memory. A rank that is killed ends its gang.",
        steps=(
            "`kubectl get events -A --field-selector reason=OOMKilling` names the process.",
            '`sum by (namespace, pod) (container_memory_working_set_bytes{node="NODE"})` in Prometheus says which '
            "pods had the memory.",
            "Fewer workers of loaders of data, or more `resources.memory`.",
        ),
    ),
    Alert(
        name="NodeDiskFilling",
        expr=(
            f"min by (node, mountpoint) (node_filesystem_avail_bytes{{{FILE_SYSTEMS}}}"
            f" / node_filesystem_size_bytes{{{FILE_SYSTEMS}}}) < 0.12"
        ),
        wait="10m",
        severity=WARNING,
        summary="{{ $labels.mountpoint }} of {{ $labels.node }} is {{ $value | humanizePercentage }} free",
        means="The kubelet removes images at 15 %, and evicts pods at 10 % (Kubernetes, node-pressure eviction; "
        "imageGCHighThresholdPercent).",
        steps=(
            "See what is written there: `kubectl debug node/NODE`, then `du`.",
            "A larger `rootVolume` of the pool, or `localStorage` for scratch.",
        ),
    ),
    Alert(
        name="VolumeFilling",
        expr=(
            f"min {_CLAIM} (kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes) < 0.1"
        ),
        wait="10m",
        severity=WARNING,
        summary=f"{_VOLUME} is {{{{ $value | humanizePercentage }}}} free",
        means="A file system or disk that jobs mount is nearly full.",
        steps=_GROW,
    ),
    Alert(
        name="VolumeFullSoon",
        expr=(
            f"min {_CLAIM} (predict_linear(kubelet_volume_stats_available_bytes[6h], 86400)) < 0"
            f" and on (namespace, persistentvolumeclaim) min {_CLAIM}"
            " (kubelet_volume_stats_available_bytes / kubelet_volume_stats_capacity_bytes) < 0.4"
        ),
        wait="1h",
        severity=WARNING,
        summary=f"{_VOLUME} is full within a day if it goes on like this",
        means="What was written in the last six hours fills it within a day.",
        steps=_GROW,
    ),
)
