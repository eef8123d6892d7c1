from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.diagnostic import listed
from compiler.policy.choices import groups_of
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("QUE020", aliases=("topology-not-offered",), pods=True)
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

        nodePools: [{name: gpu, topology: network, nodes: {min: 4, max: 4}}]
    """
    if work.pod is None or work.queue is None:
        return
    notes = work.pod.annotations
    level = next((notes[each] for each in _ASKED if each in notes), None)
    flavors = [
        world.plan.flavor(flavor.flavor)
        for group in groups_of(work.queue, work.asks)
        for flavor in group.flavors
    ]
    topologies = {topology.name: topology.levels for topology in world.plan.topologies}
    if (
        level is None
        or not flavors
        or any(
            flavor is None
            or (
                flavor.topology is not None
                and level in topologies.get(flavor.topology, (level,))
            )
            for flavor in flavors
        )
    ):
        return
    named = {flavor.topology or "" for flavor in flavors if flavor is not None}
    known = dict.fromkeys(
        key for name in sorted(named) for key in topologies.get(name, ())
    )
    at = next(
        (
            patch.pod.where("annotations")
            for patch in work.job.patches
            if level in patch.pod.annotations.values()
        ),
        work.pod.where("annotations"),
    )
    yield Finding(
        f"{work.title} asks for topology `{level}`, and no flavor of queue `{work.queue.name}` has that level",
        at / next(each for each in _ASKED if each in notes),
        label="the job is never admitted",
        help=f"write one of {listed(known)}"
        if known
        else "give the flavor a `topologyName`, or remove the annotation",
    )


_ASKED = (
    "kueue.x-k8s.io/podset-required-topology",
    "kueue.x-k8s.io/podset-preferred-topology",
)
