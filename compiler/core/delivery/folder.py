"""The repository in which output is committed, and the cluster's folder there."""

from __future__ import annotations

import posixpath

from compiler.context import Context
from compiler.core.delivery.spec import DeliverySection


def folder(context: Context) -> str:
    """The cluster's folder in the repository."""
    written = DeliverySection.of(context.spec).flux.path
    if written:
        return written
    return posixpath.normpath(f"{context.output}/{context.name}")
