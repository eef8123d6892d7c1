from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.pods.plan import Container
from trainyard.judge.model.amounts import is_sidecar
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_FOREVER = (
    r"\bsleep\s+(?:inf(?:inity)?\b|\d{5,}s?\b|\d+d\b|\d{2,}h\b)|\btail\s+-\w*[fF]\w*\s+\S+"
    r"|\bwhile\s+(?:true|:)\s*;?\s*do\s+sleep\s+\S+\s*;?\s*done"
)


@rule(
    "RUN131",
    kubernetes="a batch script has no init containers: its lines run one after another, and end",
    pods=True,
    roles=True,
)
def init_container_never_ends(work: Work) -> Iterator[Finding]:
    """An init container waits for ever, or for hours, so the containers after it never start.

    The kubelet starts a container when all init containers before it have ended with success (Kubernetes, init
    containers); one with `restartPolicy: Always` is a sidecar and may go on. Kueue evicts the job when its pods are not
    ready in time, again and again, on nodes that are paid for.

    ## Fails

        jobs: [{name: llama, initContainers: [{name: wait, image: "busybox:1.36", command: [sleep, infinity]}]}]

        jobs: [{name: llama, initContainers: [{name: wait, image: "busybox:1.36",
          command: [sh, -c, "while true; do sleep 5; done"]}]}]

        jobs: [{name: llama, initContainers: [{name: wait, image: "busybox:1.36", command: [sleep, "36000"]}]}]

    ## Passes

        jobs: [{name: llama, initContainers: [{name: wait, image: "busybox:1.36",
          command: [sh, -c, "until nslookup hub.example.com; do sleep 5; done"]}]}]

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {spec: {initContainers: [
          {name: logs, image: "busybox:1.36", restartPolicy: Always, command: [tail, -F, /logs/train]}]}}}}}]}}}
    """
    if work.pod is None:
        return
    for container in work.pod.init_containers:
        found = re.search(_FOREVER, _line(container))
        if found is None or is_sidecar(container):
            continue
        yield Finding(
            f"init container `{container.name}` of {work.title} never ends: `{found[0]}`",
            container.where("command"),
            label="no container after it starts",
            help="let it end, or make what has to go on a container of its own",
        )


def _line(container: Container) -> str:
    return " ".join((*container.command, *container.args))
