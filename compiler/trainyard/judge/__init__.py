"""The model of what was read, and the rules over it."""
