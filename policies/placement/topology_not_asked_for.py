from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import Flavor
from trainyard.judge.model.choices import groups_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World

_ASKED = "kueue.x-k8s.io/podset-"


@rule("PLC063", kubernetes="topologies are of Kueue", pods=True)
def topology_not_asked_for(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for no topology, may only land on flavors that have one, and another flavor of its queue has none.

    Kueue takes pods without a topology annotation for topology-aware ones only where every flavor of the ClusterQueue
    has a `topologyName`; else it passes over those that have one ("Flavor … supports only TopologyAwareScheduling",
    kueue v0.19.2, tas_flavorassigner.go). Nothing is left, and the job is never admitted.
    `kueue.x-k8s.io/podset-unconstrained-topology: "true"` asks for a topology without a level.

    ## Fails

        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: gpu}
        spec: {topologyName: hosts}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: gpu}
        spec: {replicas: 4, limits: {$patch: replace, nodes: "4"}, disruption: null}
        ---
        apiVersion: karpenter.sh/v1
        kind: NodePool
        metadata: {name: spare}
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {networkInterfaces: [
          {networkCardIndex: 0, deviceIndex: 0, interfaceType: interface},
          {networkCardIndex: 0, deviceIndex: 1, interfaceType: efa-only},
          {networkCardIndex: 1, deviceIndex: 0, interfaceType: efa-only},
          {networkCardIndex: 2, deviceIndex: 0, interfaceType: efa-only},
          {networkCardIndex: 3, deviceIndex: 0, interfaceType: efa-only}]}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: spare}
        spec: {nodeLabels: {karpenter.sh/nodepool: spare}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: research}
        spec:
          resourceGroups:
            - flavors:
                - name: gpu
                - name: spare
                  resources:
                    - {name: cpu, nominalQuota: 360}
                    - {name: memory, nominalQuota: 4000Gi}
                    - {name: nvidia.com/gpu, nominalQuota: 32}
                    - {name: vpc.amazonaws.com/efa, nominalQuota: 16}
                    - {name: hugepages-2Mi, nominalQuota: 20Gi}

    ## Passes

        nodePools:
          - {name: gpu, nodes: 4, topology: network}
          - {name: spare, instanceTypes: [g6e.12xlarge], zones: [us-west-2b], nodes: {max: 4}}
        queues: [{name: research, quota: [{pool: gpu}, {pool: spare, nodes: 2}]}]
        jobs: [{name: llama, nodes: 1}]
    """
    if work.queue is None or work.pod is None:
        return
    if not work.choices:
        return
    if any(key.startswith(_ASKED) for key in work.pod.annotations):
        return
    offered = [
        world.plan.named(Flavor, quotas.flavor)
        for group in groups_of(work.queue, work.asks)
        for quotas in group.flavors
    ]
    if all(flavor is None or flavor.topology for flavor in offered):
        return
    reached = [choice.flavor for choice in work.choices]
    placing = [flavor for flavor in reached if flavor is not None and flavor.topology]
    if len(placing) < len(reached):
        return
    names = dict.fromkeys(f"`{flavor.name}`" for flavor in placing)
    yield Finding(
        f"{work.title} asks for no topology, and may land on {', '.join(names)} alone, which place by topology",
        work.at,
        label="the job is never admitted",
        help='add the annotation `kueue.x-k8s.io/podset-unconstrained-topology: "true"` to its pods',
    )
