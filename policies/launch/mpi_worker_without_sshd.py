from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.command import program
from trainyard.judge.model.gangs import pod_sets
from trainyard.judge.model.sshd import starts_sshd
from trainyard.judge.model.statements import started
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_OTHERS = frozenset(
    {
        *(
            "sleep",
            "tail",
            "cat",
            "echo",
            "true",
            "wait",
            "export",
            "set",
            "cd",
            "nvidia-smi",
            "hostname",
        ),
        *("python", "python3", "torchrun", "mpirun", "mpiexec", "accelerate", "deepspeed"),
    }
)
"""Programs that certainly are no sshd, and start none."""
_WORKER = "Worker"


@rule("RUN196", gangs=True, kubernetes="MPIJobs are of Kubernetes")
def mpi_worker_without_sshd(work: Work) -> Iterator[Finding]:
    """The workers of an MPIJob run a command that is no sshd, so that the launcher cannot reach them.

    The launcher's mpirun logs in to each worker by SSH; a worker without a command runs `/usr/sbin/sshd -De`, which
    the operator fills in (mpi-operator v0.8.2, newWorker), and ends when the operator deletes it (`cleanPodPolicy`).
    A command in its place runs instead of it. One that is a script of the image may start sshd, and is left alone.

    ## Fails

        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {name: tune, namespace: team-a}
        spec:
          runPolicy: {cleanPodPolicy: Running}
          slotsPerWorker: 8
          mpiReplicaSpecs:
            Launcher: {template: {spec: {containers: [{name: launcher, image: "registry.example/tune:1.0",
              command: [mpirun, ./tune],
              resources: {requests: {cpu: 1, memory: 1Gi}, limits: {cpu: 1, memory: 1Gi}}}]}}}
            Worker:
              replicas: 2
              template:
                spec:
                  nodeSelector: {karpenter.sh/nodepool: gpu}
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
                  containers:
                  - name: worker
                    image: "registry.example/tune:1.0"
                    command: [sleep, infinity]
                    volumeMounts: [{name: shm, mountPath: /dev/shm}]
                    resources:
                      requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                        vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}
                      limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                        vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}

    ## Passes

        # as the first that fails, but
        kind: MPIJob
        spec:
          mpiReplicaSpecs:
            Worker:
              template:
                spec:
                  containers: [{name: worker, command: [bash, -c, /usr/sbin/sshd -p 2222; sleep infinity]}]
    """
    if work.kind != "MPIJob":
        return
    for pods in pod_sets(work):
        if pods.name != _WORKER or pods.pod is None:
            continue
        for container in pods.pod.containers[:1]:
            words = (*container.command, *container.args)
            if not container.command or starts_sshd(words) or not _is_known(words):
                continue
            yield Finding(
                f"the workers of {work.title} run `{program(container.command)}`, and no sshd",
                container.where("command"),
                label="the launcher cannot log in to them",
                help="remove `command` and `args` of the worker: the operator runs sshd there",
            )


def _is_known(words: tuple[str, ...]) -> bool:
    programs = [each.program for each in started(words)]
    return bool(programs) and all(name in _OTHERS for name in programs)
