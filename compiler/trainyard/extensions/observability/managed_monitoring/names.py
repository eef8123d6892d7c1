"""The names that managed monitoring goes by, and the place of its key."""

from __future__ import annotations

from trainyard.extensions.observability.monitoring import names as monitoring
from trainyard.language.places import Route

ACCOUNT = "prometheus-agent"
"""The service account of the Prometheus that sends samples."""
CONFIG_MAP, WORKSPACE_ID = "trainyard-monitoring", "workspaceId"
"""Where ``up.sh`` writes the id of the workspace, which AWS makes up."""


def key_route() -> Route:
    """The place of the key in the spec."""
    return monitoring.key_route() / "managed"
