from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.spelling import spec_key
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("LIM008", aliases=("gang-of-part-nodes",), severity=Severity.WARNING, pods=True)
def gang_on_partial_nodes(work: Work) -> Iterator[Finding]:
    """A job of several nodes takes a part of each node's accelerators.

    Its ranks talk over the network where they could talk over NVLink, other jobs share its EFA devices, and the
    rest of each node stays idle (measured on p4d: 0:39:32 with 1 GPU a pod, 0:16:21 with whole nodes).

    ## Fails

        jobs: [{name: llama, resources: {accelerators: 2}}]

    ## Passes

        jobs: [{name: llama, nodes: 1, resources: {accelerators: 2}}]

        jobs: [{name: llama, resources: {accelerators: 8}}]
    """
    if work.accelerator is None:
        return
    if not work.gang or not work.types:
        return
    resource, count = work.accelerator
    has = min(instance.accelerators for instance in work.types)
    if count < has:
        key = spec_key(resource)
        yield Finding(
            f"{work.title} takes {count} of {has} accelerators on each of {work.nodes} nodes",
            work.place(resource),
            help=f"take whole nodes: `{resource}: {has}` and fewer nodes",
            spec_help=f"take whole nodes: remove `resources.{key}`, and lower `nodes`",
        )
