"""External objects that must exist."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.jobs.plan import Gang
from trainyard.core.network.spec import NetworkSection
from trainyard.core.secrets.spec import SecretsSection
from trainyard.core.storage.spec import Storage, StorageSection
from trainyard.eks.jobs.plan import Runtime
from trainyard.eks.kueue.plan import LocalQueue, WorkloadPriority
from trainyard.eks.nodes.plan import NodeClass
from trainyard.extensions.forecast.blocks import Block, Heading, code_text, listing
from trainyard.extensions.forecast.subject import Subject

_MADE = {"LocalQueue": LocalQueue, "WorkloadPriorityClass": WorkloadPriority}
"""Objects that a request of the plan makes, beyond the files."""


def section(subject: Subject) -> Iterator[Block]:
    """Objects of the cluster, then images, reservations and file systems of the account."""
    items = [*_objects(subject), *_account(subject)]
    if not items:
        return
    yield Heading("Must exist")
    yield listing(items)


def _objects(subject: Subject) -> Iterator[str]:
    for _, kind, namespace, name in sorted(subject.plan.external):
        if kind in _MADE and subject.plan.named(_MADE[kind], name, namespace) is not None:
            continue
        path = f"{namespace}/{name}"
        yield f"{kind} {code_text(path)}"


def _account(subject: Subject) -> Iterator[str]:
    for image in sorted(_images(subject)):
        yield f"image {code_text(image)}"
    for pool in subject.pools():
        for reservation in pool.reservations:
            yield f"reservation {code_text(reservation.id)}"
    for storage in StorageSection.of(subject.spec).storage:
        yield from _stored(storage)
    for stored in SecretsSection.of(subject.spec).secrets:
        yield f"secret {code_text(stored.secrets_manager.existing.name)} of Secrets Manager"
    network = NetworkSection.of(subject.spec).network.existing
    if network is not None:
        yield f"VPC {code_text(network.vpc)} with its subnets"
        rules = _rules(subject)
        for group in network.security_groups if rules else ():
            yield f"security group {code_text(group)}, which lets {rules}"


def _stored(storage: Storage) -> Iterator[str]:
    """What of a storage nothing here makes."""
    if storage.existing_lustre is not None:
        yield f"file system {code_text(storage.existing_lustre.id)}"
    if storage.existing_disk is not None:
        yield f"EBS volume {code_text(storage.existing_disk.id)}"
    if storage.s3 is not None and storage.s3.existing is not None:
        yield f"bucket {code_text(storage.s3.existing.bucket)}"
    if storage.created_lustre is not None:
        links = storage.created_lustre.data_repositories
        linked = {str(link.s3) for link in links if link.s3 is not None}
        for path in sorted(linked):
            yield f"bucket of {code_text(path)}"


def _rules(subject: Subject) -> str:
    """What the security groups of the nodes must let through; those that are given are known by their ids alone.

    EC2 user guide, efa-start; FSx for Lustre user guide, limit-access-security-groups.
    """
    rules = []
    plan = subject.plan
    classes = plan.of(NodeClass)
    if any(node_class.efa for node_class in classes):
        rules.append("all traffic through from and to itself, for EFA")
    storages = StorageSection.of(subject.spec).storage
    if any(storage.fsx_lustre for storage in storages):
        rules.append("TCP 988 and 1018 to 1023 through from and to the file systems")
    return ", and ".join(rules)


def _images(subject: Subject) -> set[str]:
    """The images that the jobs name: of their nodes, and of what runs before them."""
    images = {job.image for job in subject.plan.of(Gang)}
    for runtime in subject.plan.of(Runtime):
        for job in runtime.jobs:
            containers = job.pod.init_containers
            images.update(container.image for container in containers)
    return {image for image in images if image}
