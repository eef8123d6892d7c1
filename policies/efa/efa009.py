from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog import HUGE_PAGES_MIB
from compiler.plan.jobs import HUGEPAGES
from compiler.policy.fit import over_huge_pages
from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work
from compiler.policy.world import World


@rule("EFA009", pods=True)
def huge_pages_over_node(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more huge pages than a node has.

    The EFA driver allocates 5128 huge pages of 2 MiB when a node boots, 10256Mi, and nobody else does (EKS user
    guide, node-efa): pods that ask for more stay Pending.

    ## Fails

        jobs: [{name: llama, resources: {hugePages: 20Gi}}]

    ## Passes

        jobs: [{name: llama, resources: {hugePages: 10256Mi}}]
    """
    if over_huge_pages(work, world):
        yield Finding(
            f"{work.title} asks for {work.asks[HUGEPAGES]} of `{HUGEPAGES}`, and a node with EFA has "
            f"{HUGE_PAGES_MIB}Mi",
            work.place(HUGEPAGES), label="its pods stay Pending", help="ask for `5120Mi`",
        )
