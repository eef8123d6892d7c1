"""The last pass: manifests to text, text to disk."""

MANIFEST = ".manifest.json"
"""What a run wrote: ``{"files": {path: sha256}, ...}`` in the folder of each cluster. It owns itself."""

UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading such a file raises where it is not what Trainyard wrote."""
