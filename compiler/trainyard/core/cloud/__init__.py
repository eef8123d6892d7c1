"""AWS resources outside the cluster that templates create: roles, policies, queues, buckets, rules."""
