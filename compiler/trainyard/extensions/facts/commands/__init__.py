"""The command that judges others' files."""
