"""The reading of a plan: each job joined with its runtime, pool and queue, where it lands, whether it fits.

Rules, reports and `explain` read plans through it; it does not depend on policies.
"""
