from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import GUIDE_HUGE_PAGES_MIB, huge_pages_mib
from trainyard.core.pods.plan import HUGEPAGES
from trainyard.judge.model.fit import certainly_exceeds_huge_pages, exceeds_huge_pages, huge_pages
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("EFA009", aliases=("huge-pages-over-node",), pods=True)
def huge_pages_exceed_node(work: Work, world: World) -> Iterator[Finding]:
    """A job asks for more huge pages than a node has.

    A node with EFA sets its huge pages aside when it boots, and nothing adds more: pods that ask for more stay Pending,
    and where a NodeOverlay promises them, Karpenter launches node after node.

    How many there are depends on the size. The script of EFA's package `efa-config`, which the AL2023 AMI installs
    (amazon-eks-ami v20260714), takes (110 × vCPU + 1) pages of 2 MiB (quoted in bottlerocket-core-kit pull request
    141). Nodes show just that: 21122Mi on p4de.24xlarge and p3dn.24xlarge, 42242Mi on p5.48xlarge. For other types no
    measurement is public, and the EKS user guide (node-efa) says 5128 pages, 10256Mi, for all. So an error is what is
    above both numbers. On types below 47 vCPUs, where the guide promises more than the script sets aside, what lies
    between them is a warning.

    ## Fails

        jobs: [{name: llama, resources: {hugePages: 21Gi}}]

        nodePools: [{name: gpu, instanceTypes: [g6.8xlarge], zones: [us-west-2a]}]
        jobs: [{name: llama, resources: {accelerators: 1, efa: 1, cpu: 16, memory: 64Gi, hugePages: 8Gi}}]

    ## Passes

        jobs: [{name: llama, resources: {hugePages: 20Gi}}]

        nodePools: [{name: gpu, instanceTypes: [g6.8xlarge], zones: [us-west-2a]}]
        jobs: [{name: llama, resources: {accelerators: 1, efa: 1, cpu: 16, memory: 64Gi}}]
    """
    if not exceeds_huge_pages(work, world):
        return
    asked = work.asks[HUGEPAGES]
    most = huge_pages(work, world)
    largest = max(work.types, key=huge_pages_mib)
    label, severity = "its pods stay Pending", Severity.ERROR
    notes: tuple[str, ...] = ()
    if not certainly_exceeds_huge_pages(work, world):
        label, severity = "its pods may stay Pending", Severity.WARNING
        guide = f"{GUIDE_HUGE_PAGES_MIB}Mi of the EKS user guide"
        notes = (f"and the {guide} are not confirmed for it",)
    yield Finding(
        f"{work.title} asks for {asked} of `{HUGEPAGES}`, and a node of "
        f"`{largest.name}` has {most}",
        work.place(HUGEPAGES),
        label=label,
        help=f"ask for at most `{most}`",
        spec_help=f"write `resources: {{hugePages: {most}}}` at most, or remove it to have it derived",
        notes=notes,
        severity=severity,
    )
