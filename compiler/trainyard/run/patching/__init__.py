"""The pass that applies ``spec.patches`` to what was lowered, before it is verified, lifted and judged."""

from trainyard.run.patching.apply import apply_patches

__all__ = ["apply_patches"]
