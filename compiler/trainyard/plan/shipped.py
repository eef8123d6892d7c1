"""What the extensions that come with Trainyard bring: a copy without one says whose a key or a command is."""

from __future__ import annotations

from collections.abc import Mapping

KEYS: Mapping[str, str] = {
    **dict.fromkeys(("images", "imageCaches"), "images"),
    **dict.fromkeys(("logs", "monitoring", "notifications"), "observability"),
    "platform.hyperPod": "hyperpod",
    "platform.parallelCluster": "parallelcluster",
}
"""The extension of a key, by its path below ``spec``."""
ARITHMETIC = "forecast"
"""The extension that computes what a model's batch takes, and how long."""
RULES = "declared_rules"
"""The extension that reads rules without Python."""
TOOLS: Mapping[str, str] = {"terraform": "terraform"}
"""The extension that writes stacks for a tool."""
COMMANDS: Mapping[str, str] = {
    **dict.fromkeys(("drill", "failures", "fit", "simulate"), "forecast"),
    **dict.fromkeys(("completion", "fmt", "init", "schema"), "authoring"),
    "catalog": "facts",
    "lint": "lint",
    **dict.fromkeys(("debug", "drift", "logs", "status"), "operate"),
    **dict.fromkeys(("plan", "report"), "review"),
}
"""The extension of a command."""


def lacking(extension: str) -> str:
    """What to do where an extension is not there, or one that it needs."""
    return f"put the extension `{extension}` and those that it needs back into `extensions/` of Trainyard"
