from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.statements import started
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_ELSEWHERE = {
    "srun": "there is no Slurm; write what it starts, and Trainer starts it on every node",
    "sbatch": "there is no Slurm; write what the script starts",
    "docker": "there is no Docker; the image of the job is what it would run",
    "podman": "there is no Podman; the image of the job is what it would run",
    "sudo": "images have none, and no right is gained by it; remove it",
    "systemctl": "no systemd runs in a container; write the program itself",
    "modprobe": "modules are loaded by the node; write them into its image",
    "ssh": "pods have no SSH; Trainer starts the command on every node",
    "kubectl": "pods of jobs have no token for the API; run it from where you apply manifests",
}
_IN_A_BATCH_SCRIPT = {
    "srun": "the image has no Slurm; remove it: the batch script itself starts the program on every node",
    "sbatch": "the image has no Slurm; write what the script starts",
    "ssh": "the batch script itself starts the program on every node; remove it",
    "kubectl": "there is no Kubernetes; remove it",
}


@rule("RUN140", gangs=True, containers=True, roles=True, severity=Severity.WARNING)
def program_not_for_pods(work: Work) -> Iterator[Finding]:
    """A job starts a program that does not work in containers: one of Slurm, of Docker, or of a host.

    The command of a job runs in a container of its image, on every node, without a token and without a system around
    it. What is copied from a batch script or a shell of a host ends there with `command not found`. In a batch script
    this is so of what `srun --container-image` starts (NVIDIA pyxis); a program without an image has all of its node.

    ## Fails

        jobs: [{name: llama, command: [srun, torchrun, train.py]}]

        jobs: [{name: llama, command: [bash, -c, "sudo torchrun train.py"]}]

    ## Passes

        jobs: [{name: llama, command: [torchrun, train.py]}]

        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        metadata: {name: ring, namespace: team-a}
        spec:
          slotsPerWorker: 8
          runPolicy: {cleanPodPolicy: Running}
          mpiReplicaSpecs:
            Launcher: {template: {spec: {containers: [{name: l, image: "r:1", command: [bash, -c,
              "until ssh ring-worker-1.ring true; do sleep 2; done; mpirun -np 16 ring"]}]}}}
            Worker: {replicas: 2, template: {spec: {containers: [{name: w, image: "r:1"}]}}}
    """
    helps = _ELSEWHERE
    if not work.has_pods:
        if work.image is None:
            return
        helps = {**_ELSEWHERE, **_IN_A_BATCH_SCRIPT}
    for name, *_ in started(work.words):
        if name == "ssh" and work.kind == "MPIJob":
            continue  # its operator gives all pods keys of SSH, and mpirun reaches the workers by it
        if name in helps:
            yield Finding(
                f"{work.title} starts `{name}` in its containers",
                work.where_said(name),
                help=helps[name],
            )
