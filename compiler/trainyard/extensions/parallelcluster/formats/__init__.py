"""The formats that ParallelCluster alone has: its configuration, and scripts of jobs for Slurm."""

KINDS = {"parallelcluster": "ClusterConfiguration", "sbatch": "JobScript"}
"""The formats of this folder, with the kind that ``explain`` calls them by."""
