"""The time of a step: computation, what waits for other ranks, and the pipeline's bubble.

Computation and communication that a layer can overlap take the longer of both. Assumed: sequence parallelism with
tensor parallelism, one-way rates of links, collectives that reach 80 % of a link, data that is never late.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trainyard.core.training.shape import Shape, stage_layers
from trainyard.extensions.forecast.training.activations import layer_bytes
from trainyard.extensions.forecast.training.part import Part, least, middle, most
from trainyard.extensions.forecast.training.setup import Machine, Setup
from trainyard.extensions.forecast.training.states import held, local_parameters
from trainyard.language.dataclass import dataclass

# The share of the peak that programs reach, from published measurements.
#
# Calibrated on the rows that `benchmarks/model_fit.json` marks so, and on no other; what has no row of its own has the
# widest range.


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


# Floating-point operations of training, by token.
#
# The convention of the model's operations, which MFU goes by: six for each parameter that a token is multiplied by
# (Narayanan et al. 2021, arXiv:2104.04473, appendix; Kaplan et al. 2020, arXiv:2001.08361, section 2.1), and 6 × layers
# × width × sequence for causal attention, of which half is masked. torchtitan and Megatron's older figures count the
# masked half too. Recomputed operations are not the model's (Chowdhery et al. 2022, arXiv:2204.02311, appendix B).

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


_HALF, _FP32 = 2, 4
_REACHED = 0.8
"""What collectives reach of a link's rate: 0.75 to 0.9 of large messages (nccl-tests, doc/PERFORMANCE.md)."""
_TRAFFIC = 3
"""How often what a layer keeps goes through memory outside of products: written, read, and its gradient."""
TENSOR = "arXiv:2104.04473, section 3.2"
BUBBLE = "arXiv:2104.04473, section 2.2"
ZERO_TRAFFIC = "arXiv:1910.02054, section 7"
RING = "Liu et al. 2023, arXiv:2310.01889; Brandon et al. 2023, arXiv:2311.09431 (balance)"
EXPERTS = "Lepikhin et al. 2020, arXiv:2006.16668, section 3.3"


@dataclass(frozen=True, slots=True)
class Step:
    """The time of a step by part, in seconds, and what it yields."""

    parts: Sequence[Part]
    tokens: int
    ranks: int
    operations: float
    peak: float

    @property
    def least(self) -> float:
        """The shortest."""
        return least(self.parts)

    @property
    def middle(self) -> float:
        """The estimate."""
        return middle(self.parts)

    @property
    def most(self) -> float:
        """The longest."""
        return most(self.parts)

    def rate(self, seconds: float) -> float:
        """Tokens a second of one accelerator, if a step takes so long."""
        return self.tokens / seconds / self.ranks

    def utilization(self, seconds: float) -> float:
        """The model's operations as a share of the peak (MFU)."""
        return self.rate(seconds) * self.operations / self.peak


def step(shape: Shape, setup: Setup, machine: Machine) -> Step:
    """The time of a step of all ranks."""
    products = _products(shape, setup, machine)
    attention = _attention(shape, setup, machine)
    other = _other_operators(shape, setup, machine)
    computed = products.middle + attention.middle + other.middle
    layers = (
        products,
        attention,
        other,
        _tensor(shape, setup, machine),
        _context(shape, setup, machine, attention.middle),
        _experts(shape, setup, machine),
        _gathered(shape, setup, machine, computed),
    )
    parts = (
        *layers,
        _bubble(layers, setup),
        _reduced(shape, setup, machine, computed / setup.passes),
        _optimizer(shape, setup, machine),
    )
    shown = tuple(part for part in parts if part.most)
    operations = model_operations(shape, setup)
    return Step(shown, setup.step_tokens, setup.ranks, operations, machine.peak[setup.precision])


def _rank_tokens(setup: Setup) -> float:
    """The tokens of a step that a rank of a stage computes, with its part of each layer."""
    return setup.passes * setup.tokens / setup.tensor


def _stage_share(shape: Shape, setup: Setup) -> float:
    """The share of the model's layers in the largest stage."""
    return stage_layers(shape, setup.pipeline) / shape.layers


def _reached(setup: Setup, machine: Machine) -> Efficiency:
    return efficiency(machine.accelerator, setup.precision, divided=setup.tensor > 1)


def _products(shape: Shape, setup: Setup, machine: Machine) -> Part:
    reached = _reached(setup, machine)
    count = multiplications(shape, setup) * _stage_share(shape, setup) * _rank_tokens(setup)
    peak = machine.peak[setup.precision]
    seconds = count / (peak * reached.products)
    return Part(
        name="products with weights",
        least=seconds * (1 - reached.spread),
        most=seconds * (1 + reached.spread),
        formula="(6 to 8) × parameters of a token × tokens ÷ (peak × efficiency)",
        numbers=f"{count:.3g} operations ÷ ({peak:.3g} a second × {reached.products:g})",
        source=CONVENTION,
    )


def _attention(shape: Shape, setup: Setup, machine: Machine) -> Part:
    reached = _reached(setup, machine)
    count = attention_operations(shape, setup) * _stage_share(shape, setup) * _rank_tokens(setup)
    # Attention is computed in 16 bits where products are in 8.
    peak = machine.peak["bf16" if setup.precision == "fp8" else setup.precision]
    seconds = count / (peak * reached.attention)
    return Part(
        name="attention",
        least=seconds * (1 - reached.spread),
        most=seconds * (1 + reached.spread),
        formula="(7 to 9) × layers × width × sequence × tokens ÷ (peak × efficiency)",
        numbers=f"{count:.3g} operations ÷ ({peak:.3g} a second × {reached.attention:g})",
        source=FLASH,
    )


def _other_operators(shape: Shape, setup: Setup, machine: Machine) -> Part:
    """Norms, activation functions, residuals: as fast as memory is."""
    layers = stage_layers(shape, setup.pipeline)
    moved = _TRAFFIC * layer_bytes(shape) * layers * _rank_tokens(setup)
    seconds = moved / machine.memory_rate
    return Part(
        name="other operators",
        least=seconds * 0.7,
        most=seconds * 1.3,
        formula="3 × bytes of a token and layer × layers × tokens ÷ memory bandwidth",
        numbers=f"{moved / 1e9:,.0f} GB ÷ {machine.memory_rate / 1e9:,.0f} GB/s",
        source="assumed: operators are bound by memory; calibrated",
    )


def _among(ranks: int, machine: Machine, inner: int = 1) -> float:
    """Bytes a second of one rank to others of its group, whose ranks are ``inner`` apart in a node."""
    if ranks * inner <= machine.accelerators:
        return machine.link * _REACHED
    return machine.network * _REACHED


def _tensor(shape: Shape, setup: Setup, machine: Machine) -> Part:
    """Two all-reduces of a layer forward and two backward, each of all tokens' hidden values."""
    ranks = setup.tensor
    count = 4 if setup.recomputation != "full" else 6
    layers = stage_layers(shape, setup.pipeline)
    reduced = _HALF * shape.hidden * setup.tokens * setup.passes * layers * count
    moved = 2 * (ranks - 1) / ranks * reduced
    rate = _among(ranks, machine)
    return Part(
        name="tensor parallelism",
        least=0.5 * moved / rate,
        most=moved / rate,
        formula="4 to 6 all-reduces of a layer ÷ rate of the link, half of it overlapped at the best",
        numbers=f"{moved / 1e9:,.1f} GB ÷ {rate / 1e9:,.0f} GB/s",
        source=TENSOR,
    )


def _context(shape: Shape, setup: Setup, machine: Machine, attention: float) -> Part:
    """Keys and values go round the ranks that divide a sequence, while attention is computed."""
    ranks = setup.context
    layers = stage_layers(shape, setup.pipeline)
    kept = 2 * _HALF * shape.key_value * setup.tokens / setup.tensor
    moved = 3 * (ranks - 1) * kept * layers * setup.passes
    rate = _among(ranks, machine, setup.tensor)
    seconds = moved / rate
    exposed = max(0.0, seconds - attention)
    unbalanced = (1 - 1 / ranks) * attention
    return Part(
        name="context parallelism",
        least=exposed,
        most=exposed + 0.3 * seconds + unbalanced,
        formula="3 × (context − 1) × keys and values ÷ rate, beyond the time of attention; up to as long as "
        "attention where its masked half is not divided evenly",
        numbers=f"{moved / 1e9:,.1f} GB ÷ {rate / 1e9:,.0f} GB/s, 0 to {unbalanced:.3g} s",
        source=RING,
    )


def _experts(shape: Shape, setup: Setup, machine: Machine) -> Part:
    """Tokens go to their experts and back, forward and backward."""
    ranks = setup.expert
    layers = stage_layers(shape, setup.pipeline)
    sent = _HALF * shape.hidden * shape.experts_per_token * _rank_tokens(setup) * layers
    moved = 4 * (ranks - 1) / ranks * sent
    rate = _among(ranks, machine, setup.tensor)
    return Part(
        name="expert parallelism",
        least=0.3 * moved / rate,
        most=moved / rate,
        formula="4 all-to-alls of a layer ÷ rate",
        numbers=f"{moved / 1e9:,.1f} GB ÷ {rate / 1e9:,.0f} GB/s",
        source=EXPERTS,
    )


def _shared_rate(setup: Setup, machine: Machine) -> float:
    """Bytes a second of a collective among all ranks with the same part of the model: those of a node send a part each
    over their own network card (nccl-tests, doc/PERFORMANCE.md, bus bandwidth)."""
    together = max(1, machine.accelerators // setup.tensor)
    if setup.shards <= together:
        return machine.link * _REACHED
    over_network = machine.network * together
    return min(machine.link, over_network) * _REACHED


def _gathered(shape: Shape, setup: Setup, machine: Machine, computed: float) -> Part:
    """Weights that are gathered forward and backward, and gradients that are reduced, while others compute."""
    ranks = setup.shards
    moved = 0.0
    if setup.sharding == "full":
        of_gradients = 0 if setup.adapters else _FP32
        times = setup.passes
        gathers = 2 * _HALF * times
        if setup.pipeline > 1:
            gathers, times = _HALF, 1
        local = local_parameters(shape, setup)
        moved = local * (gathers + of_gradients * times) * (ranks - 1) / ranks
    words = "weights gathered twice and gradients reduced once a pass ÷ rate, beyond the time of computation"
    return _overlapped("sharded weights", moved, _shared_rate(setup, machine), computed, words)


def _reduced(shape: Shape, setup: Setup, machine: Machine, a_pass: float) -> Part:
    """Gradients that are reduced once a step, while the last pass runs backward."""
    ranks = setup.shards
    moved = 0.0
    if setup.sharding != "full":
        share = (setup.trained or shape.parameters) / shape.parameters
        local = local_parameters(shape, setup) * share
        moved = local * (_FP32 + _HALF) * (ranks - 1) / ranks
    words = "gradients reduced and weights gathered once a step ÷ rate, beyond the last pass"
    return _overlapped("gradients", moved, _shared_rate(setup, machine), a_pass, words)


def _overlapped(name: str, moved: float, rate: float, behind: float, formula: str) -> Part:
    """Bytes that are moved while something is computed for so many seconds: what takes longer is waited for. At the
    most it is waited for a fifth of all of it besides."""
    seconds = moved / rate
    exposed = max(0.0, seconds - behind)
    return Part(
        name=name,
        least=exposed,
        most=exposed + 0.2 * seconds,
        formula=formula,
        numbers=f"{moved / 1e9:,.0f} GB ÷ {rate / 1e9:,.0f} GB/s",
        source=ZERO_TRAFFIC,
    )


def _bubble(layers: Sequence[Part], setup: Setup) -> Part:
    """What stages wait until the first micro batch reaches them and after the last one has left."""
    share = (setup.pipeline - 1) / (setup.passes * setup.chunks)
    return Part(
        name="pipeline bubble",
        least=share * least(layers),
        most=share * most(layers),
        formula="(pipeline − 1) ÷ (micro batches × chunks) of all of the above",
        numbers=f"{setup.pipeline - 1} ÷ ({setup.passes} × {setup.chunks}) = {share:.1%}",
        source=BUBBLE,
    )


def _optimizer(shape: Shape, setup: Setup, machine: Machine) -> Part:
    """The optimizer reads and writes its state, gradients and weights."""
    count = held(shape, setup, "optimizer")
    moved = 2 * count * (setup.optimizer_bytes + _FP32)
    seconds = moved / machine.memory_rate
    return Part(
        name="optimizer step",
        least=seconds,
        most=1.5 * seconds,
        formula="2 × (optimizer's state and gradients) ÷ memory bandwidth",
        numbers=f"{moved / 1e9:,.1f} GB ÷ {machine.memory_rate / 1e9:,.0f} GB/s",
        source="assumed: bound by memory",
    )
