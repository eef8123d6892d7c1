"""The storage of the spec, and which jobs mount it."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.spec import Job, JobsSection
from trainyard.core.storage.spec import Storage, StorageSection
from trainyard.extensions.forecast.blocks import Block, Heading, table
from trainyard.extensions.forecast.subject import Subject


def section(subject: Subject) -> Iterator[Block]:
    """A line for each storage."""
    storages = StorageSection.of(subject.spec).storage
    if not storages:
        return
    yield Heading("Storage")
    header = ("storage", "is", "size:", "mounted by")
    rows = (described(subject, storage) for storage in storages)
    yield table(header, rows)


def described(subject: Subject, storage: Storage) -> tuple[str, str, str, str]:
    """Its name, what it is, its size, and the jobs that mount it."""
    jobs = JobsSection.of(subject.spec).jobs
    users = [job.name for job in jobs if _mounts(job, storage)]
    mounted = ", ".join(users) or "no job"
    lustre, existing = storage.fsx_lustre, storage.existing_lustre
    if lustre is not None:
        if existing is not None:
            known = existing.id
        else:
            known = "made"
        version = lustre.version or "(version not said)"
        what = f"FSx for Lustre {version}, {lustre.deployment}, {known}"
        return storage.name, what, str(lustre.size), mounted
    disk = storage.disk
    if disk is not None:
        what = f"EBS volumes, one for each {disk.each}"
        return storage.name, what, str(disk.size), mounted
    volume = storage.existing_disk
    if volume is not None:
        what = f"EBS volume {volume.id} in {volume.zone}"
        return storage.name, what, str(volume.size), mounted
    made = ", made" if storage.created_bucket is not None else ""
    bucket = f"S3 bucket {_bucket(subject, storage)}{made}"
    return storage.name, bucket, "", mounted


def _bucket(subject: Subject, storage: Storage) -> str:
    spec = subject.spec
    return storage.bucket(subject.name, spec.account, spec.region) or ""


def _mounts(job: Job, storage: Storage) -> bool:
    names = [mount.storage for mount in job.mounts]
    return storage.name in names
