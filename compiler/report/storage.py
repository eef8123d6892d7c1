"""The storage of the spec, and which jobs mount it."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.report.markdown import table
from compiler.report.subject import Subject
from compiler.subjects.storage.spec import Storage


def section(subject: Subject) -> Iterator[str]:
    """A line for each storage."""
    if not subject.spec.storage:
        return
    yield from ("## Storage", "")
    yield from table(
        ("storage", "is", "size:", "mounted by"),
        (_row(subject, each) for each in subject.spec.storage),
    )


def _row(subject: Subject, storage: Storage) -> tuple[str, ...]:
    users = [
        job.name
        for job in subject.spec.jobs
        if any(mount.storage == storage.name for mount in job.mounts)
    ]
    mounted = ", ".join(users) or "no job"
    if storage.fsx_lustre is not None:
        lustre = storage.fsx_lustre
        what = f"FSx for Lustre {lustre.version or '(version not said)'}, {lustre.deployment}, {lustre.id}"
        return storage.name, what, str(lustre.size), mounted
    bucket = storage.s3.bucket if storage.s3 is not None else ""
    return storage.name, f"S3 bucket {bucket}", "", mounted
