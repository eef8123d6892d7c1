"""The spec of the launcher ``jax``."""

from trainyard.language.models.base import SpecModel


class Jax(SpecModel):
    """JAX with one process on each node, which has all accelerators of it."""
