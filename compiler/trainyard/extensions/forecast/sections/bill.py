"""What a cluster costs, by item."""

from __future__ import annotations

from trainyard.core.storage.spec import StorageSection
from trainyard.extensions.forecast.costs import Item, storage_items
from trainyard.extensions.forecast.platforms import costs_of
from trainyard.extensions.forecast.subject import Subject


def bill(subject: Subject) -> list[Item]:
    """Everything that a cluster is paid for by the hour, by the month or beforehand; of what is paid by use only what
    the spec says or the compiler estimates how much it is."""
    items = list(costs_of(subject))
    for storage in StorageSection.of(subject.spec).storage:
        items += storage_items(subject, storage)
    return items
