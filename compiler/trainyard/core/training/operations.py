"""Floating-point operations of training, by token.

The convention of the model's operations, which MFU goes by: six for each parameter that a token is multiplied by
(Narayanan et al. 2021, arXiv:2104.04473, appendix; Kaplan et al. 2020, arXiv:2001.08361, section 2.1), and 6 × layers ×
width × sequence for causal attention, of which half is masked. torchtitan and Megatron's older figures count the masked
half too. Recomputed operations are not the model's (Chowdhery et al. 2022, arXiv:2204.02311, appendix B).
"""

from __future__ import annotations

from trainyard.core.training.setup import Setup
from trainyard.core.training.shape import Shape

CONVENTION = "arXiv:2104.04473, appendix; arXiv:2204.02311, appendix B"
FLASH = "arXiv:2205.14135, section 3.1"
# Selective recomputation repeats every second product of matrices: a third of a Llama's.
_REPEATED = {"none": 0.0, "selective": 1 / 3, "full": 1.0}


def model_operations(shape: Shape, setup: Setup) -> float:
    """The operations of a token forward and backward, by the convention; of frozen weights no gradients."""
    each = 4 if setup.adapters else 6
    scores = 6 * shape.attention_layers * shape.query * setup.sequence
    return each * shape.multiplied + scores


def multiplications(shape: Shape, setup: Setup) -> float:
    """The operations of a token in products with weights, what is recomputed too."""
    each = 4 if setup.adapters else 6
    repeated = 2 * _REPEATED[setup.recomputation] * (shape.multiplied - shape.embedding)
    return each * shape.multiplied + repeated


def attention_operations(shape: Shape, setup: Setup) -> float:
    """The operations of a token in causal attention: two products forward, five backward, since flash attention
    computes the scores again; two more where a layer is recomputed."""
    product = shape.attention_layers * shape.query * setup.sequence
    products = 7
    if setup.recomputation == "full":
        products += 2
    return products * product
