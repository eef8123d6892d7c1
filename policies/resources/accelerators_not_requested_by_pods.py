from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Container, Pod
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.model.command import launches
from trainyard.judge.model.pods import is_judged
from trainyard.judge.model.shell import title_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan.scheduling import INSTANCE_TYPE

_TRAINING = ("PyTorchJob", "TFJob", "JAXJob", "XGBoostJob", "PaddleJob")
_DEVICES = ("nvidia.com/", "aws.amazon.com/", "vpc.amazonaws.com/")


@rule("LIM030", severity=Severity.WARNING)
def accelerators_not_requested_by_pods(workload: Workload, world: World) -> Iterator[Finding]:
    """Pods that train select nodes with accelerators, and ask for no accelerator.

    A container gets the devices that it asks for (Kubernetes 1.36, device plugins): without `nvidia.com/gpu` in its
    limits the scheduler gives the node to others as well, and the program trains on the CPU or ends. Reported for jobs
    of the training operator, and of pods that start torchrun; TrainJobs are LIM011.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: bert, namespace: team-b}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge},
          containers: [{name: train, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
            resources: {requests: {cpu: 90, memory: 1000Gi}, limits: {cpu: 90, memory: 1000Gi}}}]}}}

    ## Passes

        apiVersion: batch/v1
        kind: Job
        metadata: {name: prepare, namespace: team-b}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge},
          containers: [{name: train, image: "public.ecr.aws/team/train:1.0", command: [python, tokenize.py],
            resources: {requests: {cpu: 90, memory: 1000Gi}, limits: {cpu: 90, memory: 1000Gi}}}]}}}
    """
    if workload.everywhere:
        return
    for part in workload.pods:
        name = part.pod.node_selector.get(INSTANCE_TYPE, "")
        if name:
            instance = world.catalog.instance(name)
        else:
            instance = None
        if instance is None or instance.accelerator_resource is None:
            continue
        if part.name == "Launcher" or is_judged(workload, part.pod):
            continue
        if _trains(workload, part.pod) and not _asks_for_any(part.pod):
            title = title_of(workload)
            yield Finding(
                f"{title} asks for none of the {instance.accelerators} accelerators of `{instance.name}`",
                part.pod.where("node_selector") / INSTANCE_TYPE,
                label="its containers see no device",
                help=f"add `{instance.accelerator_resource}` to the limits, or select nodes without accelerators",
            )


def _trains(workload: Workload, pod: Pod) -> bool:
    if workload.kind in _TRAINING:
        return True
    return any(launches(_words(container)) for container in pod.containers)


def _words(container: Container) -> tuple[str, ...]:
    return (*container.command, *container.args)


def _asks_for_any(pod: Pod) -> bool:
    """Whether a container asks for a device by any name, or for what cannot be read."""
    for container in pod.containers:
        if container.unread:
            return True
        asked = {*container.limits, *container.requests}
        if any(resource.startswith(_DEVICES) for resource in asked):
            return True
    return False
