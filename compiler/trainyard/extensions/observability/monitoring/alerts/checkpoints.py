"""Alerts of checkpoints: jobs that run and do not save, saves that nobody sees, file systems that fill."""

from __future__ import annotations

from trainyard.eks.health.alert import CRITICAL, INFO, TEAM, WARNING, Alert
from trainyard.extensions.observability.monitoring.alerts.records import POD_JOB

_JOB = "Job {{ $labels.training_job }} of {{ $labels.namespace }}"
_BY = "by (namespace, training_job)"
_CLAIM = "by (namespace, persistentvolumeclaim)"
_TIMES = 2
"""Intervals without a save: one that is late by as long as it takes to write is none."""
_LAST = f"max {_BY} (trainyard_checkpoint_last_write_timestamp_seconds)"
_EVERY = f"max {_BY} (trainyard_checkpoint_interval_seconds)"
_RUNNING = 'kube_pod_start_time and on (namespace, pod) kube_pod_status_phase{phase="Running"} == 1'
_STARTED = f"min {_BY} (({_RUNNING}) * on (namespace, pod) group_left (training_job) {POD_JOB})"
_AVAILABLE = 'kube_deployment_status_replicas_available{deployment=~"checkpoint-exporter-.+"}'
_OF_JOB = (
    f'label_replace({_AVAILABLE}, "training_job", "$1", "deployment", "checkpoint-exporter-(.+)")'
)

ALERTS = (
    Alert(
        name="CheckpointOverdue",
        # Since its last save or, where that is older, since its pods started.
        expr=f"time() - (({_LAST} > {_STARTED}) or {_STARTED}) > {_TIMES} * {_EVERY}",
        wait="5m",
        severity=WARNING,
        owner=TEAM,
        summary=f"{_JOB} has saved nothing for {{{{ $value | humanizeDuration }}}}",
        means=f"No file below `checkpoint.path` was written for {_TIMES} times as long as `checkpoint.every` says, "
        "while the job runs: a failure now costs all of it. Other files that a program writes there hide that.",
        steps=(
            "`kubectl logs` of rank 0: whether it saves at all, and whether a save fails.",
            "GangHung fires too: no rank comes to the next save.",
            "The program saves by steps and not by time: set `checkpoint.every` to what its steps take, or have it "
            "read `CHECKPOINT_EVERY_SECONDS`.",
        ),
    ),
    Alert(
        name="CheckpointUnseen",
        expr=(f"max {_BY} (trainyard_checkpoint_readable) == 0 or max {_BY} ({_OF_JOB}) == 0"),
        wait="30m",
        severity=INFO,
        owner=TEAM,
        summary=f"nobody sees whether {_JOB[0].lower()}{_JOB[1:]} saves",
        means="The exporter beside the job cannot read the folder of its checkpoints, or does not run: "
        "CheckpointOverdue cannot fire.",
        steps=(
            "`kubectl logs -n NAMESPACE deployment/checkpoint-exporter-JOB`: a folder that others may not read (it "
            "runs as user 65532) needs the mode 0755.",
            "`kubectl describe pod -n NAMESPACE -l app.kubernetes.io/name=checkpoint-exporter`: a pod that waits has "
            "no node of the system in the zone of the file system.",
        ),
    ),
    Alert(
        name="FileSystemFilling",
        expr=(
            f"min {_CLAIM} (trainyard_checkpoint_storage_free_bytes / trainyard_checkpoint_storage_size_bytes) < 0.1"
        ),
        wait="10m",
        severity=CRITICAL,
        owner=TEAM,
        summary="the file system of {{ $labels.persistentvolumeclaim }} of {{ $labels.namespace }} is {{ $value | "
        "humanizePercentage }} free",
        means="A save that does not fit is lost, and the job with it at the next failure. The kubelet knows nothing of "
        "Lustre (VolumeFilling is of EBS), so the exporter beside the job asks the file system.",
        steps=(
            "See what is there: `kubectl exec` into a pod of the job, then `lfs df -h` and `du`; one full target of "
            "storage (OST) is enough to stop writes.",
            "Keep fewer checkpoints (`checkpoint.keep`), or delete old runs.",
            "A larger `size` of the file system: FSx grows it while jobs run.",
        ),
    ),
    Alert(
        name="FileSystemFullSoon",
        expr=(
            f"min {_CLAIM} (predict_linear(trainyard_checkpoint_storage_free_bytes[6h], 86400)) < 0"
            f" and on (namespace, persistentvolumeclaim) min {_CLAIM}"
            " (trainyard_checkpoint_storage_free_bytes / trainyard_checkpoint_storage_size_bytes) < 0.4"
        ),
        wait="1h",
        severity=WARNING,
        owner=TEAM,
        summary="the file system of {{ $labels.persistentvolumeclaim }} of {{ $labels.namespace }} is full within a "
        "day if it goes on like this",
        means="What was written in the last six hours fills it within a day.",
        steps=(
            "Keep fewer checkpoints (`checkpoint.keep`), or delete old runs.",
            "A larger `size` of the file system: FSx grows it while jobs run.",
        ),
    ),
)
