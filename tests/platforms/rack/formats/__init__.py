"""Files that only a rack has."""

KINDS = {"rack": "RackFile"}
