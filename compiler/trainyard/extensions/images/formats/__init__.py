"""Files of which images are built."""

KINDS = {"dockerfile": "Dockerfile", "workflow": "Workflow"}
"""The formats of this folder, with the kind that ``explain`` calls them by."""
