"""What an edit means for what ParallelCluster alone has."""
