"""The last pass: manifests to text, text to disk."""

MANIFEST = ".manifest.json"
"""What a run wrote: ``{"files": {path: sha256}, ...}`` in the folder of each cluster. It owns itself."""
