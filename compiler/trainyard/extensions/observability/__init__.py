"""What is seen of a cluster: metrics, alerts, dashboards, logs, what its nodes cost, and who is told."""

FEATURES = {
    "eks": (
        # The rules of a receiver are the core's; Slurm has another sender.
        "core.notifications",
        "extensions.observability.notifications",
        "extensions.observability.logs",
        "extensions.observability.monitoring",
        "extensions.observability.checkpoints",
        "extensions.observability.opencost",
        "extensions.observability.managed_monitoring",
        "extensions.observability.dashboards",
    )
}
"""The features that it adds to a platform, and to those that stand on it."""
