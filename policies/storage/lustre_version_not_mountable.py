from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.catalog.lustre import OLDEST
from trainyard.core.storage.plan import PersistentVolume
from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.model.storage import FSX
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity


@rule("RUN033", aliases=("lustre-not-mountable",), severity=Severity.WARNING)
def lustre_version_not_mountable(volume: PersistentVolume, world: World) -> Iterator[Finding]:
    """The nodes cannot mount the Lustre version of a volume, or the version is not given.

    AL2023 has the Lustre client 2.15, on kernels 6.1, 6.12 and 6.18. It mounts file systems of Lustre 2.12 and 2.15 and
    not of 2.10 (FSx for Lustre user guide, lustre-client-matrix): pods stay in ContainerCreating with `mount failed:
    Invalid argument`, and Kueue evicts their job again and again. 2.10 is the default of CreateFileSystem for
    all deployment types but PERSISTENT_2 (FSx API, FileSystemTypeVersion), so a spec has to say the version. A file
    system can be raised to 2.12 or 2.15, never lowered.

    ## Fails

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.8.1.2, mountName: abcdefgh,
          size: 4800Gi}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.8.1.2, mountName: abcdefgh,
          size: 4800Gi, deployment: SCRATCH_2, version: "2.10"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]

        storage: [{name: data, fsxLustre: {create: {deployment: SCRATCH_2, size: 4800Gi, version: "2.10"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]

    ## Passes

        storage: [{name: data, fsxLustre: {create: {deployment: SCRATCH_2, size: 4800Gi}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, address: 10.8.1.2, mountName: abcdefgh,
          size: 4800Gi, version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}]}]
    """
    if volume.driver != FSX or not _first(volume, world):
        return
    pools = [pool for pool in world.pools if isinstance(pool, NodePool) or world.works_on(pool)]
    booted = filter(None, map(world.ami_family, pools))
    unable = [family for family in booted if family.cannot_mount(volume.lustre or OLDEST)]
    if not unable:
        return
    family = unable[0].karpenter
    system = _file_system(volume)
    if volume.lustre is None and world.plan.closed:
        yield Finding(
            f"file system `{system}` does not say its version of Lustre, and {family} nodes cannot mount {OLDEST}",
            volume.where("lustre"),
            label="pods may never start",
            help=f"write `version:` with what `aws fsx describe-file-systems --file-system-ids {system} --query "
            "'FileSystems[].FileSystemTypeVersion'` says",
        )
    elif volume.lustre is not None:
        help = f"raise it: `aws fsx update-file-system --file-system-id {system} --file-system-type-version 2.15`"
        if system == volume.name:  # made, or of an id that is not said
            help = 'make it with `version: "2.15"`'
        yield Finding(
            f"file system `{system}` is Lustre `{volume.lustre}`, which {family} nodes cannot mount",
            volume.where("lustre"),
            label="pods stay in ContainerCreating",
            severity=Severity.ERROR,
            help=help,
        )


def _file_system(volume: PersistentVolume) -> str:
    """The id of the file system: from its name, or, where it is mounted by address, from the handle."""
    for text in (volume.attributes.get("dnsname", ""), volume.handle or ""):
        name = re.match(r"fs-[0-9a-f]+", text)
        if name:
            return name[0]
    if not volume.handle or "$" in volume.handle:
        return volume.name
    return volume.handle


def _first(volume: PersistentVolume, world: World) -> bool:
    """Whether it is the first volume of its file system: each namespace has one."""
    system = _file_system(volume)
    volumes = world.plan.of(PersistentVolume)
    same = (other for other in volumes if other.driver == FSX and _file_system(other) == system)
    return next(same) is volume
