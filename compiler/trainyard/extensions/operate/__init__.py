"""What people ask of a running cluster: how its jobs are, what they log, where it differs from git; and a pod to look
around in.

Only ``api.py`` imports the client of Kubernetes, and nothing imports this feature but the commands that ask a cluster.
Nothing here writes to a cluster but ``debug``.
"""

NEEDS = ("forecast",)
