"""The last pass: manifests to text, text to disk."""

MANIFEST = ".manifest.json"
"""What a folder was written from, in the folder of each cluster: no more than what no edit of a job changes."""

UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
"""What reading such a file raises where it is not what Trainyard wrote."""
