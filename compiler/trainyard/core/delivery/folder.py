"""The repository in which output is committed, and the cluster's folder there."""

from __future__ import annotations

import posixpath

from trainyard.core.delivery.spec import DeliverySection
from trainyard.plan.context import Context


def folder(context: Context) -> str:
    """The cluster's folder in the repository."""
    written = DeliverySection.of(context.spec).flux.path
    if written:
        return written
    return posixpath.normpath(f"{context.output}/{context.name}")
