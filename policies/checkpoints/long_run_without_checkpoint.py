from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.judge.model.kinds import counts_pods, says_restarts
from trainyard.judge.model.saves import has_place_to_save
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.language.places import Route
from trainyard.language.units import Duration


@rule(
    "RUN041", severity=Severity.WARNING, params={"hours": 24, "restarts": 9, "nodes": 2}, gangs=True
)
def long_run_without_checkpoint(work: Work, world: World) -> Iterator[Finding]:
    """A job may run for days or restart many times, and has nowhere to save.

    No storage is mounted and no bucket named, so that a restart begins at step 0: of 16,384 GPUs one failed every three
    hours in the training of Llama 3 (arXiv:2407.21783, section 3.3.4), and a restart after 71 hours repeats 71 hours.
    Ten retries of a gang may repeat the whole run ten times. A job that ends after `hours` at most is accepted, and one
    of at least `nodes` with at most `restarts`; fewer nodes may have twenty. Where a spec does not say it, such a gang
    is retried three times. The training operator counts the restarts of single pods: as many as the job has nodes are
    one of the gang.

    ## Fails

        jobs: [{name: long, nodes: 2, retries: 10, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]

        jobs: [{name: long, nodes: 2, timeout: 72h, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]

        jobs: [{name: long, nodes: 1, retries: 50, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]

        # params: {hours: 8}
        jobs: [{name: long, nodes: 2, timeout: 12h, retries: 2, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]

        # params: {restarts: 5, nodes: 4}
        jobs: [{name: long, nodes: 4, retries: 6, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]
        nodePools: [{name: gpu, nodes: {max: 8}}]
        queues: [{name: research, namespaces: [team-a], quota: [{pool: gpu, nodes: 8}]}]

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: bert, namespace: team-b}
        spec:
          runPolicy: {backoffLimit: 30}
          pytorchReplicaSpecs:
            Worker:
              replicas: 2
              restartPolicy: OnFailure
              template:
                spec:
                  tolerations: [{key: nvidia.com/gpu, operator: Exists}]
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0",
                    command: [bash, -c, "torchrun --nnodes=$PET_NNODES train.py"],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {requests: &all {cpu: 90, memory: 900Gi, nvidia.com/gpu: 8, vpc.amazonaws.com/efa: 4,
                      hugepages-2Mi: 5Gi}, limits: *all}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]

    ## Passes

        jobs: [{name: long, nodes: 2, timeout: 12h, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]

        jobs: [{name: long, nodes: 2, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py]}]

        jobs: [{name: long, nodes: 2, retries: 9, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]

        # params: {hours: 72, restarts: 9, nodes: 3}
        jobs: [{name: long, nodes: 2, retries: 10, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]

        # params: {hours: 72, restarts: 50}
        jobs: [{name: long, nodes: 2, timeout: 72h, retries: 50, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py]}]

        jobs: [{name: long, nodes: 2, timeout: 72h, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py], env: {SAVE_TO: "s3://team-runs/llama"}}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, mountName: abcdefgh, size: 4800Gi,
          version: "2.15"}}}]
        jobs: [{name: long, nodes: 2, timeout: 72h, image: "public.ecr.aws/team/train:1.0",
          command: [torchrun, train.py], mounts: [{storage: data, path: /data}]}]
    """
    if not work.folders or has_place_to_save(work):
        return
    tries = _tries(work, world)
    if tries is None:
        return
    help = "mount a volume and save there, or name a bucket that the program saves to"
    spec_help = (
        "mount a storage and save there (`checkpoint:`), or name a bucket that the program saves to"
    )
    longest = world.param("hours") * 3600
    is_gang = work.gang and (work.nodes or 0) >= world.param("nodes")
    most = world.param("restarts") if is_gang else _OF_FEW
    if tries.deadline > longest:
        yield Finding(
            f"job `{work.name}` may take {Duration(tries.deadline)}, and has nowhere to save",
            work.where("deadline"),
            label="a restart begins at step 0",
            help=help,
            spec_help=spec_help,
        )
    elif not tries.deadline and tries.of_all(work) > most:
        yield Finding(
            f"job `{work.name}` may restart {numbered(tries.restarts, 'time')}, and has nowhere to save",
            tries.at,
            label="each restart begins at step 0",
            help=f"{help}, or end it after some hours",
            spec_help=f"{spec_help}, or write `timeout:` if it is short",
        )


_OF_FEW = 20
"""The restarts of fewer nodes that are accepted: they fail as often as their own devices, and repeat less."""


class _Tries(NamedTuple):
    """How often a job is started again, the place of that, and its deadline in seconds; 0 is none."""

    restarts: int
    at: Route
    deadline: int

    def of_all(self, work: Work) -> int:
        """How often all pods are started again at least, where each of them fails."""
        if counts_pods(work.kind):
            return self.restarts // (work.nodes or 1)
        return self.restarts


def _tries(work: Work, world: World) -> _Tries | None:
    """``None`` where that is unknown."""
    runtime = work.runtime
    if not work.has_pods:
        return _Tries(work.retries or 0, work.where("retries"), work.deadline or 0)
    if runtime is not None:
        return _Tries(runtime.max_restarts or 0, runtime.where("max_restarts"), work.deadline or 0)
    workload = world.workload_of(work)
    if workload is None:
        return None
    restarts = workload.max_restarts if says_restarts(work.kind) else None
    if restarts is None and work.deadline is None:
        return None
    return _Tries(restarts or 0, workload.where("max_restarts"), work.deadline or 0)
