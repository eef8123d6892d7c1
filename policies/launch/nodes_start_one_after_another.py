from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.bodies import held_back
from trainyard.judge.model.command import launches, named_options
from trainyard.judge.model.meeting import meeting
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("RUN195", pods=True, kubernetes="`parallelism` is of a Job of Kubernetes")
def nodes_start_one_after_another(work: Work, world: World) -> Iterator[Finding]:
    """The nodes of a job wait for each other, and `parallelism` lets fewer of them run at once.

    An Indexed Job starts at most `parallelism` of its `completions` at a time, 1 where it says none (batch/v1,
    JobSpec): the others start when one has ended, and that one waits for the others. Judged are jobs that start
    torchrun for several nodes, that ask for EFA, or that name a host at which they meet.

    ## Fails

        apiVersion: batch/v1
        kind: Job
        metadata: {name: tune, namespace: team-a}
        spec:
          completions: 2
          parallelism: 1
          completionMode: Indexed
          template:
            spec:
              restartPolicy: Never
              subdomain: tune
              nodeSelector: {karpenter.sh/nodepool: gpu}
              tolerations: [{key: nvidia.com/gpu, operator: Exists}]
              volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 64Gi}}]
              containers:
              - name: tune
                image: "registry.example/tune:1.0"
                command: [torchrun, --nnodes=2, --master-addr=tune-0.tune, tune.py]
                volumeMounts: [{name: shm, mountPath: /dev/shm}]
                resources:
                  requests: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                    vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}
                  limits: {cpu: 90, memory: 1000Gi, nvidia.com/gpu: 8,
                    vpc.amazonaws.com/efa: 4, hugepages-2Mi: 5Gi}

        # as the first that fails, but
        kind: Job
        spec:
          template: {spec: {containers: [{name: tune, command: [./tune.sh]}], subdomain: null}}
          parallelism: null

    ## Passes

        # as the first that fails, but
        kind: Job
        spec: {parallelism: 2}

        apiVersion: batch/v1
        kind: Job
        metadata: {name: shards, namespace: team-a}
        spec:
          completions: 20
          parallelism: 4
          completionMode: Indexed
          template:
            spec:
              restartPolicy: Never
              nodeSelector: {karpenter.sh/nodepool: gpu}
              containers: [{name: shards, image: "registry.example/tune:1.0", command: [python, shard.py],
                resources: {limits: {nvidia.com/gpu: 1}}}]
    """
    held = held_back(work, world)
    if held is None or not _wait_for_each_other(work, held.at_once):
        return
    yield Finding(
        f"{work.title} has {held.all} pods that wait for each other, and {held.at_once} run at once",
        held.at,
        label="the others start when these have ended",
        help=f"write `parallelism: {held.all}`",
    )


def _wait_for_each_other(work: Work, at_once: int) -> bool:
    if work.efa:
        return True
    if launches(work.words):
        least = (named_options(work.words).get("nnodes") or "").partition(":")[0]
        return least.isdecimal() and int(least) > at_once
    return any(said.host and "$" not in said.host for said in meeting(work))
