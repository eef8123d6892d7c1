"""The passes, in order."""
