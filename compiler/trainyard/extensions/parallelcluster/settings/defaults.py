"""What ParallelCluster does unless its configuration says otherwise."""

from __future__ import annotations

SCHEDULABLE_PERCENT = 95
"""Of a node's memory as EC2 says it, what Slurm may give to jobs (aws-parallelcluster 3.16.1, SchedulableMemory)."""
