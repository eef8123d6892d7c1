from __future__ import annotations

from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.offers import IN_SMALL_LETTERS, place
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.manifest import placeholder
from trainyard.plan.scheduling import ARCH, CAPACITY_TYPE, OS, Requirement


@rule("PLC020", aliases=("label-value-of-no-node",))
def node_label_value_unknown(pool: NodePool) -> Iterator[Finding]:
    """A node pool requires an operating system, architecture, capacity type or GPU that does not exist.

    `kubernetes.io/os` is `linux` or `windows` (Kubernetes well-known labels): Bottlerocket is an image, chosen by
    the EC2NodeClass. `kubernetes.io/arch` has Go's names, and `karpenter.sh/capacity-type` is `on-demand`, `spot` or
    `reserved` (karpenter v1.14, labels). Names of GPUs, their makers, families and categories are in small letters,
    like `h100` and `nvidia` (karpenter-provider-aws v1.14, instancetype/types.go: lowerKabobCase). No node ever has
    another value.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: kubernetes.io/os, operator: In, values: [bottlerocket, linux]}]}}

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: kubernetes.io/arch, operator: In, values: [x86_64]}]}}

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: karpenter.k8s.aws/instance-gpu-name, operator: In, values: [A100]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]}}
    """
    for requirement in pool.requirements:
        if requirement.key in IN_SMALL_LETTERS and requirement.operator in ("In", "NotIn"):
            yield from _in_capitals(pool, requirement)
        known = _VALUES.get(requirement.key)
        if known is None or requirement.operator != "In":
            continue
        unknown = [value for value in requirement.values if value not in known]
        wrong = [value for value in unknown if not placeholder(value)]
        if wrong:
            yield Finding(
                f"`{requirement.key}` is never `{wrong[0]}`",
                place(pool, requirement.key, wrong[0]),
                help=f"write {listed(known, ' or ')}",
            )


def _in_capitals(pool: NodePool, requirement: Requirement) -> Iterator[Finding]:
    for value in requirement.values:
        if value != value.lower() and not placeholder(value):
            yield Finding(
                f"`{requirement.key}` is never `{value}`",
                place(pool, requirement.key, value),
                help=f"write `{value.lower().replace(' ', '-')}`",
            )
            return


_VALUES = {
    OS: ("linux", "windows"),
    ARCH: ("amd64", "arm64"),
    CAPACITY_TYPE: ("on-demand", "spot", "reserved"),
}
