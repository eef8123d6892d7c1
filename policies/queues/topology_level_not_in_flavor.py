from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.kueue.plan import Flavor, Topology
from trainyard.judge.model.choices import groups_of
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed


@rule("QUE020", kubernetes="topologies are of Kueue", aliases=("topology-not-offered",), pods=True)
def topology_level_not_in_flavor(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for a topology level that no flavor of its queue has.

    The annotations `kueue.x-k8s.io/podset-required-topology` and `…-preferred-topology` name a level of the flavor's
    Topology; a flavor without it is passed over ("does not contain the requested level", "does not support
    TopologyAwareScheduling", kueue v0.19.2): the job is never admitted.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: ClusterTrainingRuntime
        spec: {template: {spec: {replicatedJobs: [{name: node, template: {spec: {template: {metadata: {
          annotations: {kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname}}}}}}]}}}

    ## Passes

        nodePools: [{name: gpu, topology: network, nodes: 4}]
    """
    if work.pod is None or work.queue is None:
        return
    annotations = work.pod.annotations
    asked = [name for name in _ANNOTATIONS if name in annotations]
    if not asked:
        return
    key = asked[0]
    level = annotations[key]
    flavors = [
        world.plan.named(Flavor, quotas.flavor)
        for group in groups_of(work.queue, work.asks)
        for quotas in group.flavors
    ]
    topologies = {}
    for topology in world.plan.of(Topology):
        topologies[topology.name] = topology.levels
    named: set[str] = set()
    for flavor in flavors:
        if flavor is None:
            return
        named.add(flavor.topology or "")
    # A topology that is not in the set may have any level; a flavor without one has none.
    if not named:
        return
    any_level = (level,)
    for name in named - {""}:
        if level in topologies.get(name, any_level):
            return
    known: dict[str, None] = {}
    for name in sorted(named):
        known.update(dict.fromkeys(topologies.get(name, ())))
    pods = [patch.pod for patch in work.patches]
    patched = (pod for pod in pods if level in pod.annotations.values())
    at = next(patched, work.pod).where("annotations")
    help = "give the flavor a `topologyName`, or remove the annotation"
    if known:
        help = f"write one of {listed(known)}"
    queue = work.queue.name
    yield Finding(
        f"{work.title} asks for topology `{level}`, and no flavor of queue `{queue}` has that level",
        at / key,
        label="the job is never admitted",
        help=help,
    )


_ANNOTATIONS = (
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
)
