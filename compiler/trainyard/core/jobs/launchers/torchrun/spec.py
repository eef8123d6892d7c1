"""The spec of the launcher ``torchrun``."""

from trainyard.language.models.base import SpecModel


class Torchrun(SpecModel):
    """PyTorch's launcher in the command of the job, or a program that needs none."""
