"""The commands that help people write."""
