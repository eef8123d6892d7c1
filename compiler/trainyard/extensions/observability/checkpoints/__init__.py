"""Checkpoints: what says to Prometheus when each job saved last."""
