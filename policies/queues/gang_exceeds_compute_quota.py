from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.eks.kueue.plan import LocalQueue
from trainyard.extensions.hyperpod.governance.plan import DONT_LEND, LEND_AND_BORROW, ComputeQuota
from trainyard.judge.model.fit import exceeds_pool
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule(
    "QUE031",
    kubernetes="compute quotas are of SageMaker HyperPod: QUE005 reads those of Kueue",
    pods=True,
)
def gang_exceeds_compute_quota(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more nodes than the compute quota of its team, and what the team may borrow.

    Task governance admits all nodes of a job together (SageMaker developer guide,
    sagemaker-hyperpod-ray-task-governance-quota; Kueue 0.19.2): beyond the quota and the borrow limit the job waits for
    ever. A team borrows what others of its cluster lend, up to `AbsoluteBorrowLimits`, or 5 times its own at most.

    An elastic job starts with its fewest nodes, and asks for the others later (sagemaker-eks-elastic-training): those
    beyond the quota never come, which is a warning.

    ## Fails

        ClusterArn: arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghij12
        Name: research
        ComputeQuotaTarget: {TeamName: research}
        ComputeQuotaConfig:
          ComputeQuotaResources: [{InstanceType: ml.g5.2xlarge, Count: 2}]
          ResourceSharingConfig: {Strategy: DontLend}
        ---
        ClusterName: lab
        InstanceGroups: [{InstanceGroupName: a10g, InstanceType: ml.g5.2xlarge, InstanceCount: 4,
          ExecutionRole: "arn:aws:iam::111122223333:role/nodes"}]
        ---
        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: train, namespace: hyperpod-ns-research,
          annotations: {sagemaker.amazonaws.com/enable-job-auto-resume: "true",
            sagemaker.amazonaws.com/job-max-retry-count: "2"},
          labels: {kueue.x-k8s.io/queue-name: hyperpod-ns-research-localqueue}}
        spec:
          pytorchReplicaSpecs:
            Worker:
              replicas: 3
              template:
                spec:
                  nodeSelector: {sagemaker.amazonaws.com/node-health-status: Schedulable}
                  containers: [{name: pytorch, image: "public.ecr.aws/team/train:1.0", command: [torchrun, train.py],
                    volumeMounts: [{name: shm, mountPath: /dev/shm}],
                    resources: {requests: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1},
                      limits: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}}]
                  volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 4Gi}}]

    ## Passes

        # as the first that fails, but
        ComputeQuotaConfig: {ComputeQuotaResources: [{Count: 3}]}
    """
    quota = _quota_of(work, world)
    asked = work.whole_nodes
    if quota is None or not quota.whole or asked is None or exceeds_pool(work, world):
        return
    types = {instance.name for pool in work.pools for instance in world.types(pool)}
    room = _room(quota, types, world.plan.of(ComputeQuota))
    if not types:
        return
    if asked <= room:
        yield from _growth(work, quota.team, room)
        return
    yield Finding(
        f"job `{work.name}` asks for {asked} nodes, and team `{quota.team}` gets {room} at most",
        work.where("nodes"),
        label="it waits for ever",
        help=f"make the job smaller, or raise the quota of team `{quota.team}`",
        spec_help=f"lower `nodes` of the job, or raise those of `quota` in queue `{quota.team}`",
    )


def _growth(work: Work, team: str, room: int) -> Iterator[Finding]:
    """The nodes to which an elastic job may grow, and its team never gets."""
    most = work.most_nodes
    if most is None or most <= room:
        return
    yield Finding(
        f"job `{work.name}` may grow to {most} nodes, and team `{team}` gets {room} at most",
        work.where("nodes"),
        label="the others are never admitted",
        help=f"lower its most nodes to {room}, or raise the quota of team `{team}`",
        spec_help=f"write `nodes: {room}`, or raise those of `quota` in queue `{team}`",
        severity=Severity.WARNING,
    )


def _quota_of(work: Work, world: World) -> ComputeQuota | None:
    local = world.plan.named(LocalQueue, work.queue_name, work.namespace)
    if local is None:
        return None
    teams: Mapping[str, ComputeQuota] = {each.team: each for each in world.plan.of(ComputeQuota)}
    return teams.get(local.cluster_queue)


def _room(quota: ComputeQuota, types: set[str], quotas: tuple[ComputeQuota, ...]) -> int:
    """The nodes of some types that a team has and may borrow, in one flavor: of the type with most."""
    rooms = [quota.nodes.get(name, 0) + _borrowed(quota, name, quotas) for name in types]
    return max(rooms, default=0)


def _borrowed(quota: ComputeQuota, name: str, quotas: tuple[ComputeQuota, ...]) -> int:
    if quota.sharing != LEND_AND_BORROW:
        return 0
    lent = sum(
        other.nodes.get(name, 0)
        for other in quotas
        if other.team != quota.team and other.sharing != DONT_LEND
    )
    most = quota.borrowed.get(name, 5 * quota.nodes.get(name, 0))
    return min(lent, most)
