"""The format of modules."""

KINDS = {"terraform": "Module"}
"""The formats of this folder, with the kind that ``explain`` calls them by."""
