"""What the plan has of each job beside what the kernel gives it."""
