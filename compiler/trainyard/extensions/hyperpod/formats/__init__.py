"""Files that only HyperPod has."""

KINDS = {"hyperpod": "ClusterRequest"}
"""The formats of this folder, with the kind that ``explain`` calls them by."""
