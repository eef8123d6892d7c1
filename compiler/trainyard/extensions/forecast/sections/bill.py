"""What a cluster costs, by item."""

from __future__ import annotations

from trainyard.core.costs import Item, storage_items
from trainyard.core.storage.spec import StorageSection
from trainyard.run.subject import Subject


def bill(subject: Subject) -> list[Item]:
    """Everything that a cluster is paid for by the hour, by the month or beforehand; of what is paid by use only what
    the spec says or the compiler estimates how much it is."""
    items = list(subject.platform.costs(subject))
    for storage in StorageSection.of(subject.spec).storage:
        items += storage_items(subject, storage)
    return items
