"""Policies: rules over the plan, their levels and exceptions, and users' own rules."""
