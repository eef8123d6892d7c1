from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.storage.plan import PersistentVolume
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics.diagnostic import listed


@rule(
    "PLC015",
    gangs=True,
    roles=True,
    kubernetes="claims are of Kubernetes: the head node shares its volumes by NFS",
    aliases=("storage-in-other-zone",),
)
def volume_in_other_zone(work: Work, world: World) -> Iterator[Finding]:
    """A job mounts a volume that is pinned to another zone than its pool.

    A PersistentVolume with node affinity to a zone lets its pods run only there (Kubernetes, volume topology): with
    the pool in another zone they stay Pending. A file system in another zone also costs traffic and latency.

    ## Fails

        storage:
          - {name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.8.1.2, mountName: abcdefgh,
            size: 4800Gi, version: "2.15", zone: us-west-2a}}}
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]

    ## Passes

        storage:
          - {name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.8.1.2, mountName: abcdefgh,
            size: 4800Gi, version: "2.15", zone: us-west-2b}}}
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]
    """
    zones = world.zones_of_all(work.pools)
    if not world.plan.of(PersistentVolume) or zones is None:
        return
    if world.zones and not zones <= world.zones:
        return  # a node group in a zone without subnet is reported as that
    for volume in world.storage.volumes(work.namespace, work.claims):
        if not volume.zone or (not work.queued and volume.zone in zones):
            continue  # without a queue the scheduler takes the pool that the volume can reach
        for pool in work.pools:
            of_pool = world.zones_of(pool) or ()
            if volume.zone in of_pool:
                continue
            among = f", in pool `{pool.title}`," if len(work.pools) > 1 else ""
            yield Finding(
                f"volume `{volume.name}` is in `{volume.zone}`, and {work.title} runs{among} in "
                f"{listed(sorted(of_pool))}",
                volume.where("zone"),
                label="its pods stay Pending",
                help="put the pool and the file system into one zone",
                spec_help="write the zone of the file system under `zones` of the pool, or take a file system there",
            )
