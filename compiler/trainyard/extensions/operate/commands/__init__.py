"""The commands that ask a running cluster."""
