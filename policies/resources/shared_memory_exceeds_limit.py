from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import Volume
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.plan import Quantity


@rule(
    "LIM007",
    gangs=True,
    roles=True,
    kubernetes="a program of Slurm has the `/dev/shm` of its node",
    aliases=("shared-memory-over-limit",),
)
def shared_memory_exceeds_limit(work: Work) -> Iterator[Finding]:
    """The /dev/shm of a job, with its other folders in memory, is as large as its memory limit.

    A tmpfs counts in the memory limit of the container that fills it (Kubernetes, emptyDir): before it is full, the
    process is killed for want of memory.

    ## Fails

        jobs: [{name: llama, sharedMemory: 1000Gi, resources: {memory: 1000Gi}}]

        jobs: [{name: llama, sharedMemory: 64Gi, resources: {memory: 1000Gi},
          volumes: [{name: cache, path: /cache, emptyDir: {medium: Memory, sizeLimit: 950Gi}}]}]

    ## Passes

        jobs: [{name: llama, sharedMemory: 64Gi, resources: {memory: 1000Gi}}]

        jobs: [{name: llama, sharedMemory: 64Gi, resources: {memory: 1000Gi},
          volumes: [{name: cache, path: /cache, emptyDir: {medium: Memory, sizeLimit: 900Gi}}]}]
    """
    if work.pod is None or work.main is None:
        return
    limit = work.main.limits.get("memory")
    if limit is None:
        return
    volume = work.shared_memory
    in_memory = volume is not None and volume.medium == "Memory"
    if volume is not None and in_memory and _size(volume) >= limit:
        yield Finding(
            f"/dev/shm of {work.title} is {volume.size}, its memory limit {limit}",
            work.pod.place(volume) / "emptyDir" / "sizeLimit",
            label="counts in the limit",
            help="make it smaller, or the memory limit larger",
            spec_help="lower `sharedMemory`, or raise `resources.memory`",
        )
        return
    mounted = {mount.volume for mount in work.main.mounts}
    mounted_in_memory = [
        volume
        for volume in work.pod.volumes
        if volume.name in mounted and volume.medium == "Memory"
    ]
    total = Quantity(sum(_size(volume).milli for volume in mounted_in_memory))
    if len(mounted_in_memory) > 1 and total >= limit:
        names = listed(volume.name for volume in mounted_in_memory)
        last = mounted_in_memory[-1]
        yield Finding(
            f"volumes {names} of {work.title} are {total} of memory, its memory limit {limit}",
            work.pod.place(last) / "emptyDir" / "sizeLimit",
            label="count in the limit",
            help="make them smaller, or the memory limit larger",
            spec_help="lower `emptyDir.sizeLimit` or `sharedMemory`, or raise `resources.memory`",
        )


def _size(volume: Volume) -> Quantity:
    if volume.size is not None:
        return volume.size
    return Quantity(0)
