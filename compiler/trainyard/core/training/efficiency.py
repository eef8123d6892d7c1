"""The share of the peak that programs reach, from published measurements.

Calibrated on the rows that ``benchmarks/model_fit.json`` marks so, and on no other; what has no row of its own has the
widest range.
"""

from __future__ import annotations

from typing import NamedTuple


class Efficiency(NamedTuple):
    """Shares of the peak: of products with weights, of attention (in bf16), and how far both ranges go."""

    products: float
    attention: float
    spread: float


_CALIBRATED = {
    ("A100", "bf16"): Efficiency(0.68, 0.36, 0.15),
    ("H100", "bf16"): Efficiency(0.50, 0.20, 0.20),
    ("H100", "fp8"): Efficiency(0.50, 0.25, 0.20),
    ("B200", "fp8"): Efficiency(0.52, 0.30, 0.20),
}
# Of products that tensor parallelism does not divide: on H200 by the rows of KempnerForge, whose divided ones are as
# H100's.
_WHOLE = {("H200", "bf16"): Efficiency(0.70, 0.35, 0.20)}
_ALIKE = {"H200": "H100", "B300": "B200", "GB200": "B200"}
_ASSUMED = Efficiency(0.50, 0.20, 0.35)


def efficiency(accelerator: str, precision: str, *, divided: bool = False) -> Efficiency:
    """Of an accelerator at a precision; ``divided``: by tensor parallelism.

    H200 computes as H100 does but for whole products in 16 bits, B300 and GB200 as B200.
    """
    name = _ALIKE.get(accelerator, accelerator)
    if precision == "fp16":
        precision = "bf16"
    whole = _WHOLE.get((accelerator, precision))
    if whole is not None and not divided:
        return whole
    return _CALIBRATED.get((name, precision), _ASSUMED)
