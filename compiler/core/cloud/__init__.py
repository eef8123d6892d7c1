"""What templates make of the account beside the cluster: roles, policies, queues, buckets, rules."""
