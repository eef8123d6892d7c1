from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import Gang
from trainyard.core.pods.plan import MISSPELT, Container
from trainyard.eks.jobs.plan import Runtime, patches_of
from trainyard.eks.kueue.plan import ClusterQueue, Flavor
from trainyard.eks.nodes.plan import NodePool
from trainyard.eks.third_party_workloads.plan import Workload
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.plan import Plan
from trainyard.plan.scheduling import Taint, Toleration


@rule("EFA004", aliases=("device-key-misspelt",))
def device_resource_misspelled(plan: Plan) -> Iterator[Finding]:
    """A device is requested, or has quota, under a resource name that no device plugin offers.

    Extended resources have a domain and a name: `nvidia.com/gpu`, `aws.amazon.com/neuron`, `vpc.amazonaws.com/efa`
    (NVIDIA device plugin 0.20.0, Neuron and EFA device plugins). Under any other name no node has any, so pods stay
    Pending, and quota for it admits nothing. Taints and tolerations for a device have its name as key, unless their key
    is a plain word like `gpu`, which anybody may choose.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {resourcesPerNode: {limits: {nvidia.com: 8}, requests: {nvidia.com: 8}}}}

        apiVersion: kubeflow.org/v1
        kind: PyTorchJob
        metadata: {name: evaluate, namespace: team-a}
        spec: {pytorchReplicaSpecs: {Worker: {template: {spec: {containers: [{name: pytorch,
          image: "public.ecr.aws/team/train:1.0", resources: {requests: {cpu: 4, memory: 16Gi},
          limits: {nvidia.com/gpus: 1, cpu: 4, memory: 16Gi}}}]}}}}}

    ## Passes

        jobs: [{name: llama}]
    """
    runtimes = plan.of(Runtime)
    jobs = plan.of(Gang)
    pods = [replicated.pod for runtime in runtimes for replicated in runtime.jobs]
    others = [each.pod for workload in plan.of(Workload) for each in workload.pods]
    askers: list[Gang | Container] = [
        *jobs,
        *(container for pod in (*pods, *others) for container in pod.all_containers),
    ]
    for asker in askers:
        yield from _asked(asker)
    queues = plan.of(ClusterQueue)
    groups = [group for queue in queues for group in queue.groups]
    for group in groups:
        for index, name in enumerate(group.covered):
            yield from _judge(name, group.where("covered") / index)
    patched = [patch.pod for job in jobs for patch in patches_of(job)]
    for pod in (*pods, *patched):
        yield from _keys(pod.tolerations, pod.where("tolerations"))
    for pool in plan.of(NodePool):
        yield from _keys(pool.taints, pool.where("taints"))
    for flavor in plan.of(Flavor):
        yield from _keys(flavor.node_taints, flavor.where("node_taints"))
        yield from _keys(flavor.tolerations, flavor.where("tolerations"))


def _keys(entries: tuple[Taint | Toleration, ...], at: Route) -> Iterator[Finding]:
    for index, entry in enumerate(entries):
        if not entry.key.isalpha():
            yield from _judge(entry.key, at / index / "key")


def _asked(node: Gang | Container) -> Iterator[Finding]:
    """Each name once, at its key."""
    places = {name: node.where(field) / name for field, name in node.misspelt}
    for name, at in places.items():
        yield from _judge(name, at)


def _judge(name: str, at: Route) -> Iterator[Finding]:
    right = MISSPELT.get(name)
    if right is not None:
        yield Finding(f"`{name}` is the name of no device", at, help=f"did you mean `{right}`?")
