"""Managed monitoring: AWS keeps the cluster's samples, evaluates its rules and shows its dashboards."""
