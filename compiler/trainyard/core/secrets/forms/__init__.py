"""What single keys of the spec hold: models that are made when a spec has the key."""
