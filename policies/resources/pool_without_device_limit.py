from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import ACCELERATORS, GPU
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed


@rule("LIM009", severity=Severity.WARNING)
def pool_without_device_limit(pool: NodePool, world: World) -> Iterator[Finding]:
    """A pool of accelerated nodes has no limit in accelerators or nodes.

    Nothing bounds what Karpenter may launch, or CPUs do: `cpu: 1000` is 10 nodes of p4d and 5 of p5, whatever the
    quota says (karpenter.sh/v1 NodePool `limits`). Without any limit a pool of reserved capacity alone is
    bounded by its reservation.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {limits: {cpu: 1000, nvidia.com/gpu: null}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec: {limits: {nvidia.com/gpu: 32}}
    """
    only_reserved = pool.capacity_types == ("reserved",)
    bounded = only_reserved and not pool.limits
    if pool.replicas is not None or bounded:
        return
    if pool.unread or not world.accelerated(pool):
        return
    types = world.types(pool)
    resources = set(ACCELERATORS)
    if types:
        offered = {instance.accelerator_resource or "" for instance in types}
        resources = offered - {""}
    limited = set(pool.limits)
    if "nodes" not in limited and not resources & limited:
        has = listed(pool.limits) or "none"
        if GPU in resources:
            name = GPU
        else:
            name = min(resources, default=GPU)
        yield Finding(
            f"pool `{pool.title}` has no limit in `{name}`: it has {has}",
            pool.where("limits"),
            help=f"write `limits: {{{name}: …}}`, equal to the quota of its queues",
        )
