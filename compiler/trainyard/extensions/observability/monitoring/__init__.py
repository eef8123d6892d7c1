"""Metrics: what is scraped, what it takes, and the alerts that are made of it."""
