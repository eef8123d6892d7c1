"""Judges of kinds, a file each subject: ``KINDS`` has a function a kind, ``NOT_KNOWN`` kinds without one, and why."""
