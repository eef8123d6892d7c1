"""The size of annotations, keys and values together (apimachinery v0.36, TotalAnnotationSizeLimitB)."""

from __future__ import annotations

from typing import Any

from trainyard.verify.fault import Fault, refused

MOST_BYTES = 256 * 1024


def annotation_faults(metadata: Any) -> list[Fault]:
    """The fault of annotations that the API server refuses together."""
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict):
        return []
    texts = [str(text) for entry in annotations.items() for text in entry]
    # A character has four bytes at most.
    if sum(map(len, texts)) * 4 <= MOST_BYTES:
        return []
    size = sum(map(_bytes, texts))
    if size <= MOST_BYTES:
        return []
    message = f"{size:,} bytes are more than the {MOST_BYTES:,} that the annotations of an object have together"
    help = "keep long texts in a ConfigMap or in a bucket"
    return [refused(("metadata", "annotations"), message, help, key=True)]


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
