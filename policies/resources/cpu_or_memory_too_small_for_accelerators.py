from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.spelling import spec_key
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Quantity

_LEAST = {"cpu": (Quantity(1000), "a core", "1"), "memory": (Quantity.gib(1), "1Gi", "1Gi")}


@rule("LIM015", aliases=("too-little-for-devices",), severity=Severity.WARNING, pods=True)
def cpu_or_memory_too_small_for_accelerators(work: Work) -> Iterator[Finding]:
    """A job may use less than a core, or less than 1Gi of memory, for each of its accelerators.

    Each rank is a process that feeds its GPU; before the first step it has loaded CUDA, NCCL and PyTorch, more than a
    GiB of the host's memory (PyTorch, CUDA semantics). Limits bind: the kernel stops a process that has had its share
    of each 100 ms (Kubernetes, managing resources), and kills one that takes more memory. Less than that for a whole
    node is a slip of units, and an error.

    ## Fails

        jobs: [{name: llama, resources: {cpu: 1m}}]

        jobs: [{name: llama, resources: {cpu: 4}}]

        jobs: [{name: llama, resources: {memory: 1Gi}}]

    ## Passes

        jobs: [{name: llama, resources: {cpu: 8, memory: 64Gi}}]
    """
    if work.accelerator is None or (work.has_pods and work.main is None):
        return
    count = work.accelerator[1]
    for resource, (least, words, text) in _LEAST.items():
        limit = work.limits.get(resource)
        if not limit and work.main is not None:
            limit = work.main.limits.get(resource)
        if limit is not None and limit < least * count:
            key = spec_key(resource)
            enough = text if count == 1 else least * count
            yield Finding(
                f"{work.title} may use {limit} of `{resource}` a node, which has {count} of its accelerators",
                work.place(resource),
                label=f"less than {words} each",
                severity=Severity.ERROR if limit < least else None,
                help=f"write at least `{enough}`, or no limit",
                spec_help=f"write `resources: {{{key}: {enough}}}` or more, or remove it to have it "
                "derived",
            )
