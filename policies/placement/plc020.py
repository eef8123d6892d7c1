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
    for each in pool.values(OS) or ():
        if each not in ("linux", "windows"):
            yield Finding(f"`{OS}` is never `{each}`", pool.where("requirements"), help="write `linux`")
