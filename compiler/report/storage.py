"""The storage of the spec, and which jobs mount it."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.report.markdown import table
from compiler.report.subject import Subject
from compiler.subjects.jobs.spec import Job, JobsSection
from compiler.subjects.storage.spec import Storage, StorageSection


def section(subject: Subject) -> Iterator[str]:
    """A line for each storage."""
    storages = StorageSection.of(subject.spec).storage
    if not storages:
        return
    yield from ("## Storage", "")
    header = ("storage", "is", "size:", "mounted by")
    yield from table(header, (_row(subject, storage) for storage in storages))


def _row(subject: Subject, storage: Storage) -> tuple[str, ...]:
    jobs = JobsSection.of(subject.spec).jobs
    users = [job.name for job in jobs if _mounts(job, storage)]
    mounted = ", ".join(users) or "no job"
    if storage.fsx_lustre is not None:
        lustre = storage.fsx_lustre
        what = f"FSx for Lustre {lustre.version or '(version not said)'}, {lustre.deployment}, {lustre.id}"
        return storage.name, what, str(lustre.size), mounted
    bucket = storage.s3.bucket if storage.s3 is not None else ""
    return storage.name, f"S3 bucket {bucket}", "", mounted


def _mounts(job: Job, storage: Storage) -> bool:
    return any(mount.storage == storage.name for mount in job.mounts)
