"""A module a subject, each with its dashboard."""
