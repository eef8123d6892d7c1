from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import EFA, HUGEPAGES
from trainyard.core.pools.plan import FixedPool
from trainyard.eks.nodes.plan import NodeOverlay
from trainyard.judge.model.fit import huge_pages
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.plan import Quantity


@rule(
    "EFA008",
    kubernetes="a program of Slurm takes huge pages of its node without asking for them",
    severity=Severity.WARNING,
    pods=True,
)
def huge_pages_missing(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for EFA and for no huge pages.

    libfabric's EFA provider takes its buffers from huge pages, and a container gets none that it did not ask for:
    it falls back to normal pages, or fails to register memory (EKS user guide, node-efa: `hugepages-2Mi: 5120Mi`).
    Karpenter knows of no huge pages and launches nothing for them, unless a NodeOverlay declares them (issue 3315
    of karpenter-provider-aws): on its pools `FI_EFA_USE_HUGE_PAGE: "0"` is the shorter way.

    ## Fails

        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec:
          trainer: {resourcesPerNode: {limits: {hugepages-2Mi: null}, requests: {hugepages-2Mi: null}}}

        jobs: [{name: llama, resources: {hugePages: 0}, env: {FI_EFA_USE_HUGE_PAGE: "1"}}]

    ## Passes

        jobs: [{name: llama}]

        jobs: [{name: llama, resources: {hugePages: 0}, env: {FI_EFA_USE_HUGE_PAGE: "0"}}]

        jobs: [{name: llama, nodes: 1}]
    """
    if not work.efa or work.nodes == 1 or not work.complete:
        return  # EFA of one node is reported as such
    if HUGEPAGES in work.asks or work.env.get(_SWITCH) == "0":
        return
    overlay = ", with a NodeOverlay that declares them" if _blind(work, world) else ""
    usual = Quantity.mib(5120)
    # Smaller nodes have less than the guide asks for.
    pages = min(usual, huge_pages(work, world) or usual)
    yield Finding(
        f"{work.title} asks for EFA and for no `{HUGEPAGES}`",
        _place(work, world),
        help=f"set `{_SWITCH}` to `0`, or ask for `{HUGEPAGES}: {pages}`{overlay}",
        spec_help=f'write `resources: {{hugePages: {pages}}}`, or `env: {{{_SWITCH}: "0"}}`',
    )


_SWITCH = "FI_EFA_USE_HUGE_PAGE"


def _place(work: Work, world: World) -> Route:
    """The variable that says otherwise, or where the pages would be."""
    if _SWITCH in work.env:
        return work.where_env(_SWITCH)
    at = work.place(EFA)
    if world.plan.closed:  # a spec has a key for them
        return Route(at[:-1]) / HUGEPAGES
    return at


def _blind(work: Work, world: World) -> bool:
    """Whether Karpenter launches nodes for a job without a NodeOverlay that declares their huge pages."""
    overlays = world.plan.of(NodeOverlay)
    if any(HUGEPAGES in overlay.capacity for overlay in overlays):
        return False
    pools = [pool for pool in work.pools if not isinstance(pool, FixedPool)]
    return any(pool.replicas is None for pool in pools)
