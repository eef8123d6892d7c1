"""The reading of a plan: jobs with all that they run by, where they land, whether they fit.

Rules, simulation, reports and `explain` read plans through it; it knows nothing of policies.
"""
