"""Patches of the spec over what was rendered, before it is verified, read back and judged."""

from compiler.patches.apply import apply_patches

__all__ = ["apply_patches"]
