"""The commands of a review."""
