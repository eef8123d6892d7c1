"""Notifications: who is sent which alert, and who hears that Flux failed."""
