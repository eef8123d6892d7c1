"""What single keys of the platform hold: models that are made when a spec has the key."""
