"""What must exist and is made by nobody here."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.report.markdown import code
from compiler.report.subject import Subject
from compiler.subjects.jobs.plan import TrainJob


def section(subject: Subject) -> Iterator[str]:
    """Objects of the cluster, then images, reservations and file systems of the account."""
    items = [*_objects(subject), *_account(subject)]
    if not items:
        return
    yield from ("## Must exist", "")
    yield from (f"- {item}" for item in items)
    yield ""


def _objects(subject: Subject) -> Iterator[str]:
    for _, kind, namespace, name in sorted(subject.plan.external):
        yield f"{kind} {code(f'{namespace}/{name}')}"


def _account(subject: Subject) -> Iterator[str]:
    images = {job.image for job in subject.plan.of(TrainJob) if job.image}
    yield from (f"image {code(image)}" for image in sorted(images))
    for pool in subject.spec.node_pools:
        yield from (
            f"reservation {code(reservation)}" for reservation in pool.capacity.ids
        )
    for storage in subject.spec.storage:
        if storage.fsx_lustre is not None:
            yield f"file system {code(storage.fsx_lustre.id)}"
        elif storage.s3 is not None:
            yield f"bucket {code(storage.s3.bucket)}"
    if subject.spec.network.vpc is not None:
        yield f"VPC {code(subject.spec.network.vpc.id)} with its subnets"
