from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Container, Pod
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.shell import title_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

# Programs that print something and end, unless an option makes them go on.
_ENDING = frozenset(
    {
        "nvidia-smi",
        "neuron-ls",
        "fi_info",
        "ibv_devinfo",
        "gdscheck",
        "all_reduce_perf",
        "deviceQuery",
        "vectorAdd",
    }
)
_GOING_ON = ("-l", "-lms", "--loop", "dmon", "pmon", "daemon")
_RESTARTED = ("Pod", "Deployment", "StatefulSet", "ReplicaSet", "DaemonSet")


@rule("RUN074", severity=Severity.WARNING)
def finished_command_restarts(workload: Workload) -> Iterator[Finding]:
    """A pod runs a command that ends, and is started again each time.

    A Pod restarts its containers unless it says otherwise: `restartPolicy` is `Always` by default, and a DaemonSet or
    Deployment knows no other (Kubernetes 1.36, pod lifecycle). After `nvidia-smi` has printed its table the pod is in
    CrashLoopBackOff, as if the GPU were broken.

    ## Fails

        apiVersion: v1
        kind: Pod
        metadata: {name: smi, namespace: team-a}
        spec: {containers: [{name: smi, image: "nvidia/cuda:13.0.2-base-ubuntu24.04", command: [nvidia-smi]}]}

        apiVersion: apps/v1
        kind: DaemonSet
        metadata: {name: smi, namespace: team-a}
        spec:
          selector: {matchLabels: {app: smi}}
          template:
            metadata: {labels: {app: smi}}
            spec: {containers: [{name: smi, image: "nvidia/cuda:13.0.2-base-ubuntu24.04",
              command: [bash, -c, "date; nvidia-smi -L"]}]}

    ## Passes

        apiVersion: v1
        kind: Pod
        metadata: {name: smi, namespace: team-a}
        spec:
          restartPolicy: Never
          containers: [{name: smi, image: "nvidia/cuda:13.0.2-base-ubuntu24.04", command: [nvidia-smi]}]

        apiVersion: v1
        kind: Pod
        metadata: {name: smi, namespace: team-a}
        spec: {containers: [{name: smi, image: "nvidia/cuda:13.0.2-base-ubuntu24.04", command: [nvidia-smi, -l, "5"]}]}
    """
    if workload.kind not in _RESTARTED:
        return
    for pods in workload.pods:
        if pods.pod.restart_policy not in (None, "Always"):
            continue
        yield from _ending(workload, pods.pod)


def _ending(workload: Workload, pod: Pod) -> Iterator[Finding]:
    for container in pod.containers:
        program = _last_program(container)
        if program in _ENDING:
            instead = "run it as a Job, or in an init container"
            if workload.kind == "Pod":
                instead = "write `restartPolicy: Never`"
            yield Finding(
                f"`{program}` of {title_of(workload)} ends, and is started again each time",
                container.where("command" if container.command else "args"),
                label="CrashLoopBackOff",
                help=instead,
            )


def _last_program(container: Container) -> str:
    """The program that a container ends with; empty for one that goes on, or where it is not known."""
    words = [*container.command, *container.args]
    lines = [word for word in words if " " in word or "\n" in word]
    if lines:
        words = lines[-1].replace(";", "\n").replace("&&", "\n").strip().splitlines()
        if words:
            words = words[-1].split()
        else:
            words = []
    if not words or any(word in _GOING_ON for word in words):
        return ""
    return words[0].rpartition("/")[2]
