"""Models of `model` of a job, and of DeepSpeed's configuration."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.types import Count, Dimension, FilePath, ModelSize

Degree = Annotated[int, Field(ge=1, le=65536)]


class Parallel(SpecModel):
    """How the ranks of a job divide the model and its data; together the degrees are all ranks."""

    tensor: Degree = Field(
        1, description="The ranks that divide each layer, best those of one node.", examples=[8]
    )
    pipeline: Degree = Field(
        1, description="The stages of layers, one after the other.", examples=[4]
    )
    context: Degree = Field(1, description="The ranks that divide each sequence.", examples=[2])
    expert: Degree = Field(
        1,
        description="The ranks that divide the experts of each layer; they are among those that divide the data.",
        examples=[8],
    )
    virtual_stages: int = Field(
        1,
        ge=1,
        le=1024,
        description="The parts of each pipeline stage, where stages are interleaved.",
        examples=[5],
    )
    data: int | None = Field(
        None,
        ge=1,
        le=65536,
        description="The copies of the model, each with data of its own; derived: the ranks that are left.",
        examples=[16],
    )
    sequence_parallel: bool | None = Field(
        None,
        description="Whether `tensor` divides what is between its layers too, as Megatron-LM's `--sequence-parallel` "
        "does; unset: not known, and memory is a range of both.",
        examples=[True],
    )
    loss_parallel: bool | None = Field(
        None,
        description="Whether `tensor` divides the logits up to the loss, as PyTorch's `loss_parallel` does; unset: not "
        "known, and memory is a range of both.",
        examples=[True],
    )

    @model_validator(mode="after")
    def _divides_what_it_speaks_of(self) -> Self:
        for name, said in (
            ("sequenceParallel", self.sequence_parallel),
            ("lossParallel", self.loss_parallel),
        ):
            if said and self.tensor == 1:
                raise fault(
                    f"`{name}` is how `tensor` divides, and `tensor` is 1",
                    "write `tensor`, or remove it",
                    name,
                )
        return self


class Shape(SpecModel):
    """The sizes of a transformer, by which its activations and operations are computed."""

    layers: Dimension | None = Field(None, description="The layers of the model.", examples=[32])
    hidden: Dimension | None = Field(None, description="The width of a token.", examples=[4096])
    heads: Dimension | None = Field(
        None, description="The attention heads of a layer.", examples=[32]
    )
    kv_heads: Dimension | None = Field(
        None,
        description="The heads of keys and values, of which grouped-query attention has fewer; derived: `heads`.",
        examples=[8],
    )
    head_size: Dimension | None = Field(
        None, description="The width of a head; derived: `hidden` by `heads`.", examples=[128]
    )
    ffn: Dimension | None = Field(
        None,
        description="The inner width of a feed-forward block; of each expert where there are some.",
        examples=[14336],
    )
    gated: bool | None = Field(
        None,
        description="Whether a feed-forward block has a gate, as SwiGLU has; derived: `true`.",
        examples=[False],
    )
    vocabulary: Dimension | None = Field(
        None, description="The tokens that there are.", examples=[128256]
    )
    tied_embeddings: bool | None = Field(
        None,
        description="Whether the output layer is the embedding; derived: `false`.",
        examples=[True],
    )
    experts: Dimension | None = Field(
        None, description="The experts of each layer; derived: 1, a dense model.", examples=[8]
    )
    experts_per_token: Dimension | None = Field(
        None, description="The experts that each token goes through; derived: 1.", examples=[2]
    )

    @model_validator(mode="after")
    def _divides_into_heads(self) -> Self:
        heads = self.heads
        if heads and self.hidden and self.head_size is None and self.hidden % heads:
            raise fault(
                f"`heads` is {heads}, which does not divide `hidden`, {self.hidden}",
                "write the number of heads that the model has, or `headSize` if heads have a width of their own",
                "heads",
                source="arXiv:1706.03762, section 3.2.2",
            )
        if heads and self.kv_heads and heads % self.kv_heads:
            raise fault(
                f"`kvHeads` is {self.kv_heads}, which does not divide `heads`, {heads}",
                "write the number of groups that share keys and values",
                "kvHeads",
                source="arXiv:2305.13245, grouped-query attention",
            )
        return self


class Batch(SpecModel):
    """What a step takes, so that activations and the time of a step can be computed."""

    sequence_length: Dimension = Field(description="The tokens of a sample.", examples=[8192])
    micro_batch_size: Dimension | None = Field(
        None,
        description="The samples that a rank takes forward and backward at once; derived: that of `deepspeed`, or 1.",
        examples=[2],
    )
    global_batch_size: Dimension | None = Field(
        None,
        description="The samples of a step of all ranks; derived: that of `deepspeed`, or one pass, with a pipeline "
        "one for each stage.",
        examples=[512],
    )
    sync_each_batch: bool | None = Field(
        None,
        description="Whether each micro batch reduces gradients, which stay undivided until then; unset: not known; "
        "derived: `true` with `deepspeed`.",
        examples=[True],
    )
    tokens: Count | None = Field(
        None,
        description="The tokens of the whole run, so that its days and cost can be computed.",
        examples=[15e12],
    )


class Model(SpecModel):
    """The model, so that its training can be compared with the memory of the accelerators."""

    parameters: ModelSize | None = Field(
        None,
        description="The number of parameters of the model; derived where `config` or `shape` gives its sizes.",
        examples=[8.03e9],
    )
    config: str | None = Field(
        None,
        min_length=1,
        max_length=1024,
        description="The path of the model's `config.json` from Hugging Face, relative to this file.",
        examples=["models/llama3-8b.json"],
    )
    shape: Shape | None = Field(
        None,
        description="The sizes of the model, or those that its `config` lacks.",
        examples=[{"layers": 32, "hidden": 4096, "heads": 32, "ffn": 14336, "vocabulary": 128256}],
    )
    batch: Batch | None = Field(
        None,
        description="What a step takes; unset: weights, gradients and optimizer are counted, and no activations.",
        examples=[{"sequenceLength": 8192, "microBatchSize": 1, "globalBatchSize": 512}],
    )
    trainable: Count | None = Field(
        None,
        description="The number of parameters that are trained, with adapters (LoRA) a few of them; unset: all.",
        examples=[41.9e6],
    )
    precision: Literal["fp32", "bf16", "fp16", "fp8"] = Field(
        "bf16", description="The format in which the model computes.", examples=["bf16"]
    )
    states: Literal["fp32", "bf16"] = Field(
        "fp32",
        description="The format of the optimizer's state; with `bf16` there is no copy of the weights in fp32 either "
        "(torchtitan's `training.dtype`, torchtune's `dtype`).",
        examples=["bf16"],
    )
    sharding: Literal["none", "optimizer", "gradients", "full"] = Field(
        "none",
        description="What is divided among the ranks: nothing, the optimizer (ZeRO-1), gradients too (ZeRO-2), or "
        "weights too (`full`: FSDP, ZeRO-3).",
        examples=["full"],
    )
    offload: Literal["optimizer", "parameters"] | None = Field(
        None,
        description="What is kept in the node's memory: gradients and `optimizer`, or `parameters` too; unset: "
        "nothing.",
        examples=["optimizer"],
    )
    parallel: Parallel | None = Field(
        None,
        description="The degrees of parallelism; unset: every rank has a copy of the model, or a shard of one.",
        examples=[{"tensor": 8, "pipeline": 4}],
    )
    recomputation: Literal["none", "selective", "full"] = Field(
        "none",
        description="The activations that are computed again backward: nothing, cheap operators (PyTorch's selective "
        "checkpointing by operator), or whole layers.",
        examples=["full"],
    )
    fused_loss: bool = Field(
        False,
        description="Whether the loss keeps no logits in fp32: a fused, chunked or compiled cross entropy.",
        examples=[True],
    )
    optimizer: Literal["adamw", "adamw8bit", "sgd"] | None = Field(
        None,
        description="The optimizer; `sgd` with momentum; derived: `adamw`, unless `optimizerBytes` says what it keeps.",
        examples=["adamw8bit"],
    )
    optimizer_bytes: int | None = Field(
        None,
        ge=0,
        le=32,
        description="The bytes of optimizer state for each parameter; derived: 8 for `fp32`, otherwise 12, as Adam "
        "has.",
        examples=[12],
    )

    @property
    def size(self) -> float:
        """The number of parameters; 0 until it is derived."""
        return self.parameters or 0.0

    @model_validator(mode="after")
    def _has_a_size(self) -> Self:
        if self.parameters is None and self.config is None and self.shape is None:
            raise fault(
                "the model has no size",
                "write `parameters`, `shape`, or the path of its `config.json` as `config`",
            )
        return self

    @model_validator(mode="after")
    def _has_one_optimizer(self) -> Self:
        if self.optimizer is not None and self.optimizer_bytes is not None:
            raise fault(
                "`optimizer` and `optimizerBytes` both say what the optimizer keeps",
                "remove one of them",
                "optimizerBytes",
            )
        return self

    @model_validator(mode="after")
    def _computes_in_its_states(self) -> Self:
        if self.states == "bf16" and self.precision not in {"bf16", "fp8"}:
            raise fault(
                f"`states` are bf16, and `precision` is {self.precision}",
                "write `precision: bf16`, or remove `states`",
                "states",
            )
        return self

    @model_validator(mode="after")
    def _trains_what_there_is(self) -> Self:
        trained = self.trainable
        if self.parameters is None:
            return self
        if trained is not None and trained > self.parameters:
            raise fault(
                f"{self.trainable:.3g} parameters are trained, and the model has {self.parameters:.3g}",
                "write how many of them are trained, or remove it: all are",
                "trainable",
            )
        return self


_MOST = 2**31


class DeepSpeed(SpecModel):
    """The configuration of DeepSpeed, which becomes a file of the job.

    ZeRO's stage, offloading and precision are those of ``model``; of the three sizes of a batch, those that are left
    out follow from the others and the ranks.
    """

    path: FilePath = Field(
        "/etc/deepspeed/config.json",
        description="Where the file appears; the command names it, as `--deepspeed_config` or `--deepspeed`.",
        examples=["/etc/deepspeed/config.json"],
    )
    train_batch_size: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="The samples of one step of the optimizer, of all ranks together.",
        examples=[512],
    )
    micro_batch_size: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="The samples that one rank takes forward and backward at once "
        "(`train_micro_batch_size_per_gpu`).",
        examples=[4],
    )
    gradient_accumulation_steps: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="How often a rank goes forward and backward before one step of the optimizer.",
        examples=[8],
    )
    config: dict[str, Any] = Field(
        {},
        description="What else the configuration has, by DeepSpeed's own keys; `auto` is left to the program.",
        examples=[{"gradient_clipping": 1.0}],
    )
