"""Logs: what collects the lines of pods, where they are kept, and for how long."""
