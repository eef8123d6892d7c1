"""What EKS itself is asked: the costs of its clusters, and what becomes of their jobs when something fails."""
