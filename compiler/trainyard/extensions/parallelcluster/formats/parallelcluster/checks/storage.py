"""Shared storage: where it is mounted, how many there are, and what FSx takes of a new file system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.parallelcluster.formats.parallelcluster.checks.parts import (
    Part,
    queues_of,
)
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.verify.fault import Fault, never_works, refused

# pcluster/constants.py: NODE_BOOTSTRAP and reserved directories of SharedStorageMountDirValidator.
_RESERVED = frozenset((
    "bin", "boot", "dev", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "opt/intel",
    "opt/parallelcluster", "opt/parallelcluster/shared", "opt/parallelcluster/shared_login_nodes", "opt/slurm",
    "proc", "root", "run", "sbin", "srv", "sys", "tmp", "usr", "var",
)) - {"home"}  # fmt: skip
_S3 = ("ImportPath", "ExportPath", "AutoImportPolicy", "ImportedFileChunkSize")
_RATES = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
"""MB/s for each TiB (FSx API, PerUnitStorageThroughput)."""
_MOST_NEW, _MOST_LINKS = 1, 8


def faults(body: dict[str, Any]) -> Iterator[Fault]:
    storage = list(Part(body).items("SharedStorage"))
    yield from _mounted(storage)
    made = [each for each in storage if _is_made(each)]
    for extra in made[_MOST_NEW:]:
        yield refused(
            extra.path,
            f"ParallelCluster makes {_MOST_NEW} file system of FSx for Lustre, and this is another",
            "make it outside, and write its `FileSystemId`",
        )
    several = any(len(queue.texts("Networking", "SubnetIds")) > 1 for queue in queues_of(body))
    for each in made:
        settings = each.below("FsxLustreSettings")
        if several:
            yield refused(
                settings.path,
                "a file system that ParallelCluster makes is in one zone, and a queue has several subnets",
                "keep one subnet, or write the `FileSystemId` of one that exists",
                key=True,
            )
        yield from _linked(settings)
        yield from _backups(settings)
        yield from _sized(settings)
        yield from _kept(settings)


def _is_made(storage: Part) -> bool:
    return storage.text("StorageType") == "FsxLustre" and not storage.has(
        "FsxLustreSettings", "FileSystemId"
    )


def _mounted(storage: list[Part]) -> Iterator[Fault]:
    """Folders of the system, one folder twice, and one inside another: the last is mounted over what it holds."""
    known: list[str] = []
    for part in storage:
        given = part.text("MountDir")
        if given is None:
            continue
        folder = given.strip("/")
        path = part.at("MountDir")
        if folder in _RESERVED or folder.startswith(("opt/slurm/", "opt/parallelcluster/")):
            yield refused(
                path, f"`{given}` is a folder of the system", "write another, like `/fsx`"
            )
        for other in known:
            if folder == other:
                yield refused(
                    path, f"two storages are mounted at `{given}`", "write another folder"
                )
            elif folder.startswith(f"{other}/") or other.startswith(f"{folder}/"):
                yield never_works(
                    path,
                    f"`/{folder}` and `/{other}` lie in one another",
                    "write folders next to each other",
                )
        known.append(folder)


def _linked(settings: Part) -> Iterator[Fault]:
    links = list(settings.items("DataRepositoryAssociations"))
    given = [key for key in _S3 if settings.has(key)]
    deployment = settings.text("DeploymentType")
    for key in given:
        if key != "ImportPath" and "ImportPath" not in given:
            yield refused(
                settings.at(key),
                f"`{key}` is of a file system with an `ImportPath`",
                "add `ImportPath`, or link the folder by `DataRepositoryAssociations`",
                key=True,
            )
    if links and given:
        yield refused(
            settings.at(given[0]),
            f"`{given[0]}` and `DataRepositoryAssociations` cannot be given together",
            "keep the associations",
            key=True,
        )
    if deployment == "PERSISTENT_2" and given:
        yield never_works(
            settings.at(given[0]),
            f"FSx refuses `{given[0]}` of a file system PERSISTENT_2, which ParallelCluster lets pass",
            "link the bucket by `DataRepositoryAssociations`",
            key=True,
        )
    if deployment == "SCRATCH_1" and links:
        yield never_works(
            settings.at("DataRepositoryAssociations"),
            "FSx links no folder of a file system SCRATCH_1",
            "write `DeploymentType: SCRATCH_2`, or a persistent one",
            key=True,
        )
    if len(links) > _MOST_LINKS:
        yield refused(
            settings.at("DataRepositoryAssociations", _MOST_LINKS),
            f"a file system has {_MOST_LINKS} associations at most",
            "link a folder above them",
        )


def _backups(settings: Part) -> Iterator[Fault]:
    days = settings.number("AutomaticBackupRetentionDays")
    place = settings.at("AutomaticBackupRetentionDays")
    if days:
        if (settings.text("DeploymentType") or "SCRATCH_2").startswith("SCRATCH"):
            yield refused(place, "a scratch file system has no backups", "remove it", key=True)
        elif any(
            settings.has(key) for key in ("ImportPath", "ExportPath", "DataRepositoryAssociations")
        ):
            yield refused(
                place,
                "FSx makes no backups of a file system that is linked to S3",
                "remove it: what is in S3 is there already",
                key=True,
            )
        return
    for key in ("DailyAutomaticBackupStartTime", "CopyTagsToBackups"):
        if settings.has(key):
            yield refused(
                settings.at(key),
                f"`{key}` is of a file system with backups",
                "add `AutomaticBackupRetentionDays`, or remove it",
                key=True,
            )


def _sized(settings: Part) -> Iterator[Fault]:
    deployment = settings.text("DeploymentType") or "SCRATCH_2"
    kind = settings.text("StorageType") or "SSD"
    rate = settings.number("PerUnitStorageThroughput")
    rates = _RATES.get((deployment, kind), ())
    persistent = deployment.startswith("PERSISTENT")
    if persistent and not settings.has("PerUnitStorageThroughput"):
        yield refused(
            settings.path,
            f"a file system {deployment} has a throughput, and `PerUnitStorageThroughput` is not given",
            f"add it with one of {listed([str(each) for each in rates])}" if rates else "add it",
            key=True,
        )
    elif persistent and rate is not None and rates and rate not in rates:
        yield refused(
            settings.at("PerUnitStorageThroughput"),
            f"a file system {deployment} of {kind} has no throughput of {rate}",
            f"write one of {listed([str(each) for each in rates])}",
        )
    elif not persistent and settings.has("PerUnitStorageThroughput"):
        yield refused(
            settings.at("PerUnitStorageThroughput"),
            "a scratch file system has one throughput",
            "remove it",
            key=True,
        )
    yield from _capacity(settings, deployment, kind, rate)


def _capacity(settings: Part, deployment: str, kind: str, rate: int | None) -> Iterator[Fault]:
    """FSx API, StorageCapacity."""
    size = settings.number("StorageCapacity")
    if size is None:
        return
    if deployment == "SCRATCH_1":
        fits, words = size in (1200, 2400) or size % 3600 == 0, "1200, 2400, or a multiple of 3600"
    elif kind == "HDD":
        step = 6000 if rate == 12 else 1800
        fits, words = size % step == 0, f"a multiple of {step}"
    else:
        fits, words = size == 1200 or size % 2400 == 0, "1200, or a multiple of 2400"
    if not fits or size <= 0:
        yield refused(
            settings.at("StorageCapacity"),
            f"a file system {deployment} cannot have {size} GiB",
            f"write {words}",
        )


def _kept(settings: Part) -> Iterator[Fault]:
    """ParallelCluster's own default deletes a file system with the cluster."""
    if not settings.has("DeletionPolicy"):
        yield never_works(
            settings.path,
            "the file system, with all that is in it, is deleted with the cluster: `DeletionPolicy` is not given",
            "add `DeletionPolicy: Retain`, or `Delete` where that is meant",
            key=True,
            warning=True,
        )
