"""AWS ParallelCluster: nodes of Slurm, which a head node starts and ends."""

from __future__ import annotations

from trainyard.extensions.parallelcluster.differences import INSTEAD
from trainyard.plan.features import Platform

__all__ = ["PLATFORM"]

PLATFORM = Platform(
    "parallelCluster",
    (
        "core.network",
        "core.pools",
        "core.storage",
        "core.queues",
        "core.jobs",
        "core.secrets",
        "core.notifications",
        "extensions.parallelcluster.notifications",
        "extensions.parallelcluster.monitoring",
        "extensions.parallelcluster.settings",
        "extensions.parallelcluster.partitions",
        "extensions.parallelcluster.accounts",
        "extensions.parallelcluster.shared_storage",
        "extensions.parallelcluster.batch",
        "extensions.parallelcluster.cluster",
        "extensions.parallelcluster.bootstrap",
    ),
    instead=INSTEAD,
    asked_by_hand="on its login node: `squeue --me` and `sacct --starttime=now-1day` show the jobs, "
    "`scontrol show job ID` why one waits, `tail -f` of its `StdOut` what it prints; "
    "`srun --jobid=ID --overlap --pty bash` is a shell on its node",
)
