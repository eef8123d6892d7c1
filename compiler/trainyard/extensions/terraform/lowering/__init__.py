"""How the provider calls what a stack has."""
