"""Files of which images are built."""

KINDS = {"dockerfile": "Dockerfile"}
"""The formats of this folder, with the kind that ``explain`` calls them by."""
