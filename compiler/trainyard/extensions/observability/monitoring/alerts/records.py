"""Series that alerts share: which job a pod is of, and what its nodes cost."""

from __future__ import annotations

from trainyard.eks.jobs.pod_labels import PodLabels, plain
from trainyard.extensions.observability.monitoring.plan import Rule


def _run(label: str) -> str:
    return f'label_replace(kube_pod_labels{{{label}!=""}}, "run", "$1", "{label}", "(.+)")'


def _named(series: str) -> str:
    """With the job's name in the spec: that of a run without what is its content's (``core/jobs``: five digits, and
    what an operator adds)."""
    whole = f'label_replace({series}, "training_job", "$1", "run", "(.+)")'
    return f'label_replace({whole}, "training_job", "$1", "run", "(.+?)-[0-9a-f]{{5}}(-.+)?")'


POD_JOB = "trainyard:pod_job:info"
GPU_UTIL, GPU_TENSOR = "trainyard:gpu_util:job", "trainyard:gpu_tensor:job"
TYPE_DOLLARS = "trainyard:instance_type:dollars_per_hour"
NODE_DOLLARS, GPU_DOLLARS = "trainyard:node:dollars_per_hour", "trainyard:gpu:dollars_per_hour"
IDLE, IDLE_DOLLARS = "trainyard:gpus_idle:job", "trainyard:gpus_idle:dollars_per_hour"

_JOB = f"* on (namespace, pod) group_left (training_job, run) {POD_JOB}"
_TYPED = (
    'label_replace(kube_node_labels, "instance_type", "$1", '
    '"label_node_kubernetes_io_instance_type", "(.+)")'
)

_IDLE = f"(avg_over_time({GPU_UTIL}[30m]) < bool 5)"


def _pod_job(labels: PodLabels) -> str:
    """Which job a pod is of. Pods of plain Jobs are of none: any chart has some, and their label has other values on
    the pods of a JobSet."""
    run = " or ".join(_run(f"label_{plain(label)}") for label in labels.runs)
    return f"max by (namespace, pod, run, training_job) ({_named(run)})"


def of_nodes(parts: tuple[str, ...]) -> dict[str, str]:
    """What is recorded of nodes. ``parts``: the labels of nodes with the name of what they are of, one for each
    launcher."""
    pooled = _TYPED
    for part in parts:
        pooled = f'label_replace({pooled}, "nodepool", "$1", "label_{plain(part)}", "(.+)")'
    return {
        **_OF_GPUS,
        NODE_DOLLARS: (
            f"max by (node, instance_type, nodepool) ({pooled}) * on (instance_type) group_left () max by "
            f"(instance_type) ({TYPE_DOLLARS})"
        ),
        **_OF_DOLLARS,
    }


_OF_GPUS = {
    GPU_UTIL: f'max by (node, gpu, namespace, pod) (DCGM_FI_DEV_GPU_UTIL{{pod!=""}}) {_JOB}',
    GPU_TENSOR: (
        f'max by (node, gpu, namespace, pod) (DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{{pod!=""}}) {_JOB}'
    ),
}
_OF_DOLLARS = {
    GPU_DOLLARS: (
        f"max by (node) ({NODE_DOLLARS}) / on (node) count by (node) (DCGM_FI_DEV_GPU_UTIL)"
    ),
    IDLE: f"sum by (namespace, training_job) ({_IDLE})",
    IDLE_DOLLARS: (
        f"sum by (namespace, training_job) ({_IDLE} * on (node) group_left () max by (node) ({GPU_DOLLARS}))"
    ),
}


def records(labels: PodLabels, parts: tuple[str, ...]) -> tuple[Rule, ...]:
    """The rules, each after those that it reads. ``labels``: those of the pods of jobs; ``parts``: those of nodes."""
    series = {POD_JOB: _pod_job(labels), **of_nodes(parts)}
    return tuple(Rule(name=name, expr=expr, record=True) for name, expr in series.items())
