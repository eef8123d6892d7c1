from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.auto_mode import families, launches
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import instance_values, place
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.output.manifest import placeholder
from trainyard.plan.scheduling import INSTANCE_TYPE


@rule("PLC075")
def instance_type_not_of_auto_mode(pool: NodePool, world: World) -> Iterator[Finding]:
    """A node pool of EKS Auto Mode names instance types that Auto Mode does not launch.

    Auto Mode launches types of the families that its guide lists, with more than one CPU and no smaller than medium
    (EKS user guide, automode-learn-instances): no UltraServers, no parts of a GPU, no Gaudi. Pods that select such a
    type stay Pending.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          disruption: {budgets: [{nodes: "0", reasons: [Drifted]}]}
          template:
            spec:
              nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
              requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [g7.48xlarge]}]
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        $patch: delete
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        $patch: delete

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          disruption: {budgets: [{nodes: "0", reasons: [Drifted]}]}
          template:
            spec:
              nodeClassRef: {group: eks.amazonaws.com, kind: NodeClass, name: default}
              requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p5.48xlarge, g7.48xlarge]}]
    """
    if not pool.auto:
        return
    names = pool.instance_types or ()
    known = [world.catalog.instance(name) for name in names]
    refused = [known_type for known_type in known if known_type is not None]
    if names and len(refused) == len(names) and not any(map(launches, refused)):
        yield Finding(
            f"`{names[0]}` is a type that EKS Auto Mode does not launch",
            place(pool, INSTANCE_TYPE, names[0]),
            help="take a type of another family, or a pool of Karpenter",
        )
    named = instance_values(pool, "family") or ()
    unknown = [family for family in named if family not in families()]
    if named and unknown == list(named) and not placeholder(named[0]):
        yield Finding(
            f"`{named[0]}` is a family that EKS Auto Mode does not launch",
            place(pool, "eks.amazonaws.com/instance-family", named[0]),
            help="take another family, or a pool of Karpenter",
        )
