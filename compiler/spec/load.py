"""From a document to its spec, or to everything that is wrong with its shape."""

from __future__ import annotations

from pydantic import ValidationError

from compiler.diagnostics import Diagnostic
from compiler.source import Document
from compiler.spec.cluster import TrainingCluster
from compiler.spec.errors import explain_all

__all__ = ["load"]


def load(document: Document) -> tuple[TrainingCluster | None, list[Diagnostic]]:
    """The spec in a document, or everything that is wrong with its shape."""
    data = document.root.to_python()
    try:
        return TrainingCluster.model_validate(data), []
    except ValidationError as problem:
        return None, explain_all(
            problem.errors(include_url=False), TrainingCluster, document
        )
