from __future__ import annotations

from collections.abc import Iterator

from compiler.plan.nodes import OS, NodePool
from compiler.policy.rule import Finding, rule


@rule("PLC020")
def unknown_os(pool: NodePool) -> Iterator[Finding]:
    """A node pool requires an operating system that is none.

    `kubernetes.io/os` is `linux` or `windows` (Kubernetes well-known labels): Bottlerocket is an image, chosen by
    the EC2NodeClass.

    ## Fails

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: kubernetes.io/os, operator: In, values: [bottlerocket, linux]}]}}

    ## Passes

        apiVersion: karpenter.sh/v1
        kind: NodePool
        spec:
          template: {spec: {requirements: [{key: kubernetes.io/os, operator: In, values: [linux]}]}}
    """
    for index, each in enumerate(pool.requirements):
        wrong = [value for value in each.values if value not in ("linux", "windows")] if each.key == OS else ()
        if wrong and each.operator == "In":
            yield Finding(f"`{OS}` is never `{wrong[0]}`", pool.where("requirements") / index, help="write `linux`")
