"""How a model is trained, and on what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from trainyard.language.dataclass import dataclass

Recomputation: TypeAlias = Literal["none", "selective", "full"]
Sharding: TypeAlias = Literal["none", "optimizer", "gradients", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How the ranks of a job divide a model, and what each step takes.

    Bytes are for one parameter. ``trained``: the parameters that are trained, with adapters a few of them. ``chunks``:
    the parts of each pipeline stage, more than one where stages are interleaved. ``micro_batch`` are the samples of one
    pass, ``global_batch`` those of a step, ``sequence`` the tokens of a sample. ``fused_loss``: logits are not kept in
    fp32. ``offload``: what is kept in the host's memory. ``pure``: nothing is kept in fp32, the loss neither.

    Of a program, ``None`` where it is not known: ``sequence_parallel``: tensor parallelism divides what is between
    layers too; ``loss_parallel``: it divides logits; ``sync_each_pass``: gradients are reduced after each micro batch,
    and do not pile up undivided until the last one.
    """

    precision: str = "bf16"
    weight_bytes: float = 2
    gradient_bytes: float = 2
    optimizer_bytes: float = 12
    trained: float | None = None
    sharding: Sharding = "none"
    offload: Literal["optimizer", "parameters"] | None = None
    tensor: int = 1
    pipeline: int = 1
    chunks: int = 1
    context: int = 1
    expert: int = 1
    data: int = 1
    micro_batch: int = 1
    global_batch: int | None = None
    sequence: int
    recomputation: Recomputation = "none"
    fused_loss: bool = False
    pure: bool = False
    sequence_parallel: bool | None = None
    loss_parallel: bool | None = None
    sync_each_pass: bool | None = None

    @property
    def ranks(self) -> int:
        """All ranks of the job. Those that divide experts are among the ones that divide the data."""
        return self.tensor * self.pipeline * self.context * self.data

    @property
    def shards(self) -> int:
        """The ranks that hold the same part of the model, among which its state is sharded."""
        return self.context * self.data

    @property
    def tokens(self) -> float:
        """The tokens of one pass of a rank, before tensor parallelism divides them."""
        return self.micro_batch * self.sequence / self.context

    @property
    def passes(self) -> int:
        """The micro batches of a step; of a batch that is not said as many as fill a pipeline once."""
        if self.global_batch is None:
            return self.pipeline
        return max(1, self.global_batch // (self.micro_batch * self.data))

    @property
    def piles_up(self) -> bool:
        """Whether gradients that are sharded may wait undivided for the last micro batch of a step.

        A pipeline's wait so in any case, and are counted with its weights.
        """
        sharded = self.sharding in {"gradients", "full"} and self.shards > 1
        return sharded and self.passes > 1 and self.pipeline == 1 and self.offload is None

    @property
    def matters(self) -> frozenset[str]:
        """What of the program decides how much memory it takes."""
        names = set()
        if self.tensor > 1:
            names.add("sequence_parallel")
        if self.tensor > 1 and self.pipeline == 1:
            names.add("loss_parallel")
        if self.piles_up:
            names.add("sync_each_pass")
        return frozenset(names)

    @property
    def step_tokens(self) -> int:
        """The tokens of a step of all ranks."""
        return self.passes * self.micro_batch * self.data * self.sequence

    @property
    def adapters(self) -> bool:
        """Whether a part of the parameters is frozen."""
        return self.trained is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What a job's nodes have: ``accelerators`` of a node, joined by ``link``; bytes and operations are by the second.

    ``memory_rate`` is the bandwidth of an accelerator's memory, ``peak`` its dense operations by precision, ``link``
    what it sends to others of its node, ``network`` its part of the node's network.
    """

    accelerator: str
    accelerators: int
    memory_rate: float
    peak: Mapping[str, float]
    link: float
    network: float
