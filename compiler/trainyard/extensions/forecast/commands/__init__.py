"""The commands that look ahead."""
