"""OpenCost: what nodes and volumes cost, divided among pods."""
