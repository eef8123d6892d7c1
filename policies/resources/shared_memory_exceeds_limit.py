from __future__ import annotations

from collections.abc import Iterator

from compiler.model.work import Work
from compiler.policy.rule import Finding, rule


@rule("LIM007", aliases=("shared-memory-over-limit",))
def shared_memory_exceeds_limit(work: Work) -> Iterator[Finding]:
    """The /dev/shm of a job is as large as its memory limit.

    A tmpfs counts in the memory limit of the container that fills it (Kubernetes, emptyDir): before it is full, the
    process is killed for want of memory.

    ## Fails

        jobs: [{name: llama, sharedMemory: 1000Gi, resources: {memory: 1000Gi}}]

    ## Passes

        jobs: [{name: llama, sharedMemory: 64Gi, resources: {memory: 1000Gi}}]
    """
    if work.pod is None or work.main is None:
        return
    limit, volume = work.main.limits.get("memory"), work.shared_memory
    if volume is None or volume.medium != "Memory" or volume.size is None:
        return
    if limit is not None and volume.size >= limit:
        yield Finding(
            f"/dev/shm of job `{work.name}` is {volume.size}, its memory limit {limit}",
            work.pod.where("volumes")
            / work.pod.volumes.index(volume)
            / "emptyDir"
            / "sizeLimit",
            label="counts in the limit",
            help="make it smaller, or the memory limit larger",
            spec_help="lower `sharedMemory`, or raise `resources.memory`",
        )
