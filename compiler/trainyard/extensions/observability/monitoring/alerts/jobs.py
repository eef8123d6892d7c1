"""Alerts of jobs: what holds them up, what they waste, what ends them."""

from __future__ import annotations

from trainyard.eks.health.alert import CRITICAL, INFO, TEAM, WARNING, Alert
from trainyard.extensions.observability.monitoring.alerts.records import (
    GPU_TENSOR,
    GPU_UTIL,
    IDLE,
    IDLE_DOLLARS,
    POD_JOB,
)

_JOB = "Job {{ $labels.training_job }} of {{ $labels.namespace }}"
_BY = "by (namespace, training_job)"
_ON = "on (namespace, training_job)"
_A_POD = f"avg by (namespace, training_job, pod) ({GPU_UTIL})"
_LOGS = "`kubectl logs -n NAMESPACE POD`, of rank 0 first; NCCL's own lines begin with `NCCL INFO`."
_COST = (
    f"{{{{ with printf `{IDLE_DOLLARS}{{namespace=%q,training_job=%q}}` $labels.namespace $labels.training_job"
    " | query }}: ${{ . | first | value | humanize }} an hour{{ end }}"
)
_OF_JOB = f"* on (namespace, pod) group_left (training_job) {POD_JOB}"


def alerts(utilization: int, missing: str) -> tuple[Alert, ...]:
    """``utilization``: the percentage that the GPUs of a job must reach; ``missing``: the step that says why a node
    does not come."""
    return (
        Alert(
            name="GangHung",
            expr=(
                f"avg {_BY} ({GPU_UTIL}) > 90 and {_ON} max {_BY} (max_over_time({GPU_TENSOR}[10m])) < 0.005"
            ),
            wait="15m",
            severity=CRITICAL,
            owner=TEAM,
            summary=f"{_JOB} hangs in a collective: its GPUs are busy and compute nothing",
            means="NCCL waits in a kernel that keeps the GPU busy, while the tensor cores do nothing on any "
            "rank. A job that computes in fp32 without tensor cores looks the same.",
            steps=(
                _LOGS,
                "With `flightRecorder: {}` of the job, PyTorch writes the last collectives of each rank to the job's "
                "storage once one does not end, and `torchfrtrace` names the ranks that are missing "
                "(docs/operate.md).",
                "Restart the job by deleting one of its pods: all start again from the last checkpoint.",
            ),
        ),
        Alert(
            name="GangRankBehind",
            expr=f"{_A_POD} < 10 and {_ON} max {_BY} ({_A_POD}) > 90",
            wait="10m",
            severity=CRITICAL,
            owner=TEAM,
            summary=f"{_JOB} waits for {{{{ $labels.pod }}}}: its GPUs do nothing, and those of the others wait",
            means="The other ranks spin in a collective. This one is not there: its program waits for data, "
            "for a lock, or is gone while the pod still runs.",
            steps=(
                "`kubectl exec` into the pod and look at its stack: `py-spy dump --pid 1`, if the image has it.",
                "See whether its node is short of CPU or memory: "
                "`1 - avg by (node) (rate(node_cpu_seconds_total[5m]))` and "
                "`node_memory_MemAvailable_bytes / node_memory_MemTotal_bytes` in Prometheus.",
                "See whether its storage answers: `kubectl exec` into the pod, then `ls` of each mount.",
            ),
        ),
        Alert(
            name="JobNotComputing",
            expr=(
                f"(time() - min {_BY} (kube_pod_start_time {_OF_JOB})) > 1800"
                f" and {_ON} max {_BY} (max_over_time({GPU_UTIL}[30m])) < 1"
            ),
            wait="5m",
            severity=CRITICAL,
            owner=TEAM,
            summary=f"{_JOB} has run for half an hour and its GPUs never worked",
            means="It has not come to its first collective: ranks miss at the rendezvous, data is copied, or "
            "a model is loaded.",
            steps=(
                _LOGS,
                "Count the pods: a rank whose pod is not ready keeps all others at the rendezvous.",
            ),
        ),
        Alert(
            name="GpusIdle",
            expr=f"{IDLE} > 0",
            wait="10m",
            severity=WARNING,
            owner=TEAM,
            summary=f"{_JOB} has {{{{ $value }}}} GPUs that did nothing for half an hour{_COST}",
            means="The GPUs are allocated to its pods and less than 5 % busy. The price is that on demand of "
            "their share of the node, where it is known.",
            steps=(
                "End the job if nobody needs it: `completed: true` in its entry of the spec.",
                "See in its log what it waits for: pods, data, a checkpoint.",
            ),
        ),
        Alert(
            name="JobUtilizationLow",
            expr=f"avg {_BY} (avg_over_time({GPU_UTIL}[1h])) < {utilization}",
            wait="30m",
            severity=WARNING,
            owner=TEAM,
            summary=f"{_JOB} used its GPUs to {{{{ $value | humanize }}}} % in the last hour",
            means="Less than `monitoring.gpuUtilization`. Usual causes are loading of data, checkpoints that "
            "block, and evaluation on one rank.",
            steps=(
                "Look at `trainyard:gpu_util:job` in Prometheus: all GPUs low at once are waiting for data or "
                "a checkpoint, one low GPU is a slow rank.",
                "See how long a step waits for data in the job's own log; JobCpuThrottled names jobs whose "
                "loaders lack CPU.",
            ),
        ),
        Alert(
            name="JobPodsPending",
            expr=f'count {_BY} ((kube_pod_status_phase{{phase="Pending"}} == 1) {_OF_JOB}) > 0',
            wait="30m",
            severity=WARNING,
            owner=TEAM,
            summary=f"{_JOB} waits for {{{{ $value }}}} of its pods",
            means="Kueue admitted it, and pods have no node, or a node that is not ready for them.",
            steps=("`kubectl describe pod`: its events say what no node has.", missing),
        ),
        Alert(
            name="ImagePullFails",
            expr=(
                "max by (namespace, pod, container, reason) (kube_pod_container_status_waiting_reason"
                '{reason=~"ErrImagePull|ImagePullBackOff|InvalidImageName"}) > 0'
            ),
            wait="10m",
            severity=CRITICAL,
            owner=TEAM,
            summary="{{ $labels.pod }} of {{ $labels.namespace }} cannot pull its image ({{ $labels.reason }})",
            means="The registry does not have the image, or does not give it: the whole gang waits.",
            steps=(
                "`kubectl describe pod`: the event has the registry's answer.",
                "`not found`: the digest or tag is wrong. `denied`: the node's role, or the Secret of "
                "`imagePullSecrets`.",
            ),
        ),
        Alert(
            name="JobRestartsRepeat",
            expr=(
                "max by (namespace, jobset) (max_over_time(trainyard_jobset_restarts[2h])"
                " - min_over_time(trainyard_jobset_restarts[2h])) >= 3"
            ),
            severity=WARNING,
            owner=TEAM,
            summary="{{ $labels.jobset }} of {{ $labels.namespace }} restarted {{ $value }} times in two hours",
            means="A fault that comes back: each restart costs the steps since the last checkpoint.",
            steps=(
                "`kubectl logs --previous` of the rank that ended first.",
                "The same node each time: cordon it. Different nodes: the program.",
            ),
        ),
        Alert(
            name="JobNearLastRetry",
            expr=(
                "max by (namespace, jobset) (trainyard_jobset_max_restarts - trainyard_jobset_restarts) <= 1"
                " and on (namespace, jobset) max by (namespace, jobset) (trainyard_jobset_restarts) > 0"
            ),
            severity=WARNING,
            owner=TEAM,
            summary="{{ $labels.jobset }} of {{ $labels.namespace }} fails for good after {{ $value }} more restarts",
            means="JobSet restarts a gang as often as `maxRestarts` says, and then the job has failed.",
            steps=(
                "Find the cause before the last try, or rerun the job: `rerun` in its entry of the spec "
                "continues from the last checkpoint.",
            ),
        ),
        Alert(
            name="JobCpuThrottled",
            expr=(
                f"max {_BY} (sum by (namespace, pod) (rate(container_cpu_cfs_throttled_periods_total[5m]))"
                f" / sum by (namespace, pod) (rate(container_cpu_cfs_periods_total[5m])) {_OF_JOB}) > 0.25"
            ),
            wait="15m",
            severity=WARNING,
            owner=TEAM,
            summary=f"{_JOB} is throttled in {{{{ $value | humanizePercentage }}}} of the time: it reached "
            f"its limit of CPU",
            means="Loaders of data wait for CPU, and GPUs for them.",
            steps=(
                "Raise `resources.cpu` of the job, or start fewer workers in its loaders of data.",
            ),
        ),
    )


def of_queues(missing: str) -> tuple[Alert, ...]:
    """Alerts over what Kueue says of its queues."""
    return (
        Alert(
            name="QueueBlocked",
            expr='sum by (cluster_queue) (kueue_pending_workloads{status="inadmissible"}) > 0',
            wait="2h",
            severity=INFO,
            summary="{{ $value }} jobs of queue {{ $labels.cluster_queue }} cannot be admitted since two hours",
            means="Kueue tried, and tries again only when quota or nodes change.",
            steps=(
                "`kubectl describe workload -n NAMESPACE`: its condition QuotaReserved has Kueue's reason.",
                "See who uses the quota: `kubectl get clusterqueue NAME -o yaml`, under `status.flavorsUsage`.",
            ),
        ),
        Alert(
            name="QueueEvictsUnready",
            expr=(
                'sum by (cluster_queue) (increase(kueue_evicted_workloads_total{reason="PodsReadyTimeout"}[2h])) >= 2'
            ),
            severity=WARNING,
            summary="queue {{ $labels.cluster_queue }} gave up {{ $value | humanize }} jobs whose pods did "
            "not come in time",
            means="Nodes or images take longer than `kueue.waitForPodsReady.timeout`, or a node never comes.",
            steps=(
                missing,
                "Raise the timeout where images of 20 GB and more are pulled to many nodes at once.",
            ),
        ),
    )
