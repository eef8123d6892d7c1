"""The spec of the launcher ``jax``."""

from compiler.spec.base import SpecModel


class Jax(SpecModel):
    """JAX with one process on each node, which has all accelerators of it."""
