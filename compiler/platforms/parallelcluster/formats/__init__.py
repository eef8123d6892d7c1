"""The formats that ParallelCluster alone has: its configuration, and scripts of jobs for Slurm."""
