from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.third_party_workloads.plan import is_job
from trainyard.judge.model.spelling import spec_key
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.plan.scheduling import INSTANCE_TYPE


@rule("LIM016", severity=Severity.WARNING, pods=True)
def accelerators_left_idle(work: Work, world: World) -> Iterator[Finding]:
    """A job takes a few accelerators of a large node, and no other job can use the rest.

    Types with EFA are bought whole: a job with one GPU of a p4d.24xlarge pays for eight. Nothing is reported where
    its own pods, or other jobs of the same pool, take the other parts. Third-party manifests do not show all jobs:
    there it is a note, of jobs that select such a type themselves.

    ## Fails

        jobs: [{name: llama, nodes: 1, resources: {accelerators: 1}}]

        apiVersion: batch/v1
        kind: Job
        metadata: {name: bert, namespace: team-b}
        spec: {template: {spec: {restartPolicy: Never, nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge},
          tolerations: [{key: nvidia.com/gpu, operator: Exists}],
          containers: [{name: train, image: "public.ecr.aws/team/train:1.0", command: [python, train.py],
            resources: {requests: {cpu: 10, memory: 100Gi, nvidia.com/gpu: 1},
              limits: {cpu: 10, memory: 100Gi, nvidia.com/gpu: 1}}}]}}}

    ## Passes

        jobs: [{name: llama, nodes: 1, resources: {accelerators: 8}}]

        jobs:
          - {name: llama, nodes: 1, resources: {accelerators: 4}}
          - {name: mixtral, queue: research, pool: gpu, nodes: 1, image: "public.ecr.aws/team/train:1.0",
              command: [torchrun, train.py], resources: {accelerators: 4}}

        jobs: [{name: llama, kind: Job, nodes: 8, resources: {accelerators: 1}, command: [python, eval.py]}]
    """
    if work.accelerator is None or work.gang or not work.types:
        return
    selects = is_job(work.kind) and work.pod is not None and INSTANCE_TYPE in work.pod.node_selector
    if not world.plan.closed and not selects:
        return
    resource, count = work.accelerator
    smallest = min(work.types, key=lambda instance: instance.accelerators)
    node = smallest.accelerators
    if count >= node:
        return
    if not all(instance.efa_interfaces for instance in work.types):
        return
    jobs = (*world.works, *world.pods)
    shared = sum(_part(other, work, node) for other in jobs)
    if shared < node:
        key = spec_key(resource)
        yield Finding(
            f"{work.title} takes {count} of the {node} accelerators of `{smallest.name}`, and no job the rest",
            work.place(resource),
            label="paid for, and idle",
            help=f"ask for {node}, or take a smaller type",
            spec_help=f"write `resources: {{{key}: {node}}}`, or take a smaller type",
            severity=None if world.plan.closed else Severity.NOTE,
        )


def _part(other: Work, work: Work, node: int) -> int:
    """The accelerators of a node that a job takes and shares it with another; 0 where it takes whole nodes or other
    pools."""
    if other.accelerator is None or other.gang:
        return 0
    count = other.accelerator[1]
    if count >= node:
        return 0
    pools = {pool.name for pool in work.pools}
    if not pools:
        pools = {work.types[0].name}
    beside = any(pool.name in pools for pool, _ in other.offers)
    if not beside:
        return 0
    pods = other.nodes or 1
    return count * pods
