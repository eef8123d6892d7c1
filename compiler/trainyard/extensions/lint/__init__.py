"""Reads third-party files: which hold objects, which belong together, and what could not be judged."""
