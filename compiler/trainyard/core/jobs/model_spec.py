"""Models of `model` of a job, and of DeepSpeed's configuration."""

from typing import Annotated, Any, Literal, Self

from pydantic import model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.field import Field
from trainyard.language.models.types import Count, Dimension, FilePath, ModelSize

Degree = Annotated[int, Field(ge=1, le=65536)]


class Parallel(SpecModel):
    """How the ranks of a job divide the model and its data; together the degrees are all ranks."""

    tensor: Degree = Field(
        1,
        description="The ranks that divide each layer, best those of one node.",
        examples=[8],
        bound="1 to 65536; with the other degrees all ranks; the processes of a node at most",
        source="arXiv:2104.04473, sections 3 and 5",
        codes=("RES064", "RUN050"),
    )
    pipeline: Degree = Field(
        1,
        description="The stages of layers, one after the other.",
        examples=[4],
        bound="1 to 65536; with the other degrees all ranks",
        source="arXiv:2104.04473, section 3",
        codes=("RES064",),
    )
    context: Degree = Field(
        1,
        description="The ranks that divide each sequence.",
        examples=[2],
        bound="1 to 65536; with the other degrees all ranks",
        source="Megatron Core, context parallelism",
        codes=("RES064",),
    )
    expert: Degree = Field(
        1,
        description="The ranks that divide the experts of each layer; they are among those that divide the data.",
        examples=[8],
        bound="1 to 65536; divides the experts, and the ranks of a stage",
        source="Megatron-LM core_v0.14, megatron/core/parallel_state.py",
        codes=("RUN173",),
    )
    virtual_stages: int = Field(
        1,
        ge=1,
        le=1024,
        description="The parts of each pipeline stage, where stages are interleaved.",
        examples=[5],
        bound="1 to 1024; with the stages a divisor of the layers",
        source="arXiv:2104.04473, section 2.2",
        codes=("RUN171",),
    )
    data: int | None = Field(
        None,
        ge=1,
        le=65536,
        description="The copies of the model, each with data of its own; derived: the ranks that are left.",
        examples=[16],
        bound="1 to 65536; with the other degrees all ranks; derived: what is left",
        source="arXiv:2104.04473, section 3",
        codes=("RES064",),
    )
    sequence_parallel: bool | None = Field(
        None,
        description="Whether `tensor` divides what is between its layers too, as Megatron-LM's `--sequence-parallel` "
        "does; unset: not known, and memory is a range of both.",
        examples=[True],
        bound="`true`, `false`; `true` where `tensor` is more than 1",
        source="arXiv:2205.05198, section 4.2.2",
        codes=("SPC005",),
    )
    loss_parallel: bool | None = Field(
        None,
        description="Whether `tensor` divides the logits up to the loss, as PyTorch's `loss_parallel` does; unset: not "
        "known, and memory is a range of both.",
        examples=[True],
        bound="`true`, `false`; `true` where `tensor` is more than 1",
        source="PyTorch 2.8, torch.distributed.tensor.parallel.loss_parallel",
        codes=("SPC005",),
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

    layers: Dimension | None = Field(
        None,
        description="The layers of the model.",
        examples=[32],
        bound="1 to 2147483648; as `config` has it; divided by the pipeline's stages",
        source="docs/model-fit.md",
        codes=("RES372", "RES373", "RUN171"),
    )
    hidden: Dimension | None = Field(
        None,
        description="The width of a token.",
        examples=[4096],
        bound="1 to 2147483648; as `config` has it",
        source="docs/model-fit.md",
        codes=("RES372", "RES373"),
    )
    heads: Dimension | None = Field(
        None,
        description="The attention heads of a layer.",
        examples=[32],
        bound="1 to 2147483648; as `config` has it; divided by the tensor degree",
        source="Megatron-LM d98e8a64, megatron/core/transformer/transformer_config.py",
        codes=("RES372", "RES373", "RUN170"),
    )
    kv_heads: Dimension | None = Field(
        None,
        description="The heads of keys and values, of which grouped-query attention has fewer; derived: `heads`.",
        examples=[8],
        bound="1 to 2147483648; as `config` has it; a multiple or a divisor of the tensor degree",
        source="Megatron-LM d98e8a64, megatron/core/transformer/transformer_config.py",
        codes=("RES373", "RUN170"),
    )
    head_size: Dimension | None = Field(
        None,
        description="The width of a head; derived: `hidden` by `heads`.",
        examples=[128],
        bound="1 to 2147483648; as `config` has it",
        source="docs/model-fit.md",
        codes=("RES373",),
    )
    ffn: Dimension | None = Field(
        None,
        description="The inner width of a feed-forward block; of each expert where there are some.",
        examples=[14336],
        bound="1 to 2147483648; as `config` has it",
        source="docs/model-fit.md",
        codes=("RES372", "RES373"),
    )
    gated: bool | None = Field(
        None,
        description="Whether a feed-forward block has a gate, as SwiGLU has; derived: `true`.",
        examples=[False],
        bound="`true`, `false`; as `config` has it",
        source="docs/model-fit.md",
        codes=("RES373",),
    )
    vocabulary: Dimension | None = Field(
        None,
        description="The tokens that there are.",
        examples=[128256],
        bound="1 to 2147483648; as `config` has it",
        source="docs/model-fit.md",
        codes=("RES372", "RES373"),
    )
    tied_embeddings: bool | None = Field(
        None,
        description="Whether the output layer is the embedding; derived: `false`.",
        examples=[True],
        bound="`true`, `false`; as `config` has it",
        source="docs/model-fit.md",
        codes=("RES373",),
    )
    experts: Dimension | None = Field(
        None,
        description="The experts of each layer; derived: 1, a dense model.",
        examples=[8],
        bound="1 to 2147483648; as `config` has it; divided by the expert degree",
        source="Megatron-LM core_v0.14, megatron/core/transformer/transformer_config.py",
        codes=("RES373", "RUN173"),
    )
    experts_per_token: Dimension | None = Field(
        None,
        description="The experts that each token goes through; derived: 1.",
        examples=[2],
        bound="1 to 2147483648; as `config` has it",
        source="docs/model-fit.md",
        codes=("RES373",),
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

    sequence_length: Dimension = Field(
        description="The tokens of a sample.",
        examples=[8192],
        bound="1 to 2147483648; divided by twice the context degree",
        source="Megatron-LM core_v0.14, megatron/training/arguments.py",
        codes=("RUN172", "LIM020"),
    )
    micro_batch_size: Dimension | None = Field(
        None,
        description="The samples that a rank takes forward and backward at once; derived: that of `deepspeed`, or 1.",
        examples=[2],
        bound="1 to 2147483648; activations that the accelerators hold; that of `deepspeed`",
        source="docs/model-fit.md",
        codes=("RES376", "LIM020"),
    )
    global_batch_size: Dimension | None = Field(
        None,
        description="The samples of a step of all ranks; derived: that of `deepspeed`, or one pass, with a pipeline "
        "one for each stage.",
        examples=[512],
        bound="1 to 2147483648; a multiple of the micro batches of all copies; that of `deepspeed`",
        source="Megatron-LM core_v0.14, megatron/core/num_microbatches_calculator.py",
        codes=("RES376", "RUN174"),
    )
    sync_each_batch: bool | None = Field(
        None,
        description="Whether each micro batch reduces gradients, which stay undivided until then; unset: not known; "
        "derived: `true` with `deepspeed`.",
        examples=[True],
        bound="`true`, `false`; derived: `true` with `deepspeed`",
        source="Accelerate 1.15, GradientAccumulationPlugin; PyTorch 2.8, FSDPModule.set_requires_gradient_sync",
    )
    tokens: Count | None = Field(
        None,
        description="The tokens of the whole run, so that its days and cost can be computed.",
        examples=[15e12],
        bound="above 0",
        source="docs/model-fit.md",
    )


class Model(SpecModel):
    """The model, so that its training can be compared with the memory of the accelerators."""

    parameters: ModelSize | None = Field(
        None,
        description="The number of parameters of the model; derived where `config` or `shape` gives its sizes.",
        examples=[8.03e9],
        bound="1000 to 1e15; weights and state that the accelerators hold; within 5 % of what the sizes make; "
        "needed without `config` and `shape`",
        source="arXiv:1910.02054, section 3.1",
        codes=("SPC005", "RES024", "RES374", "LIM020"),
    )
    config: str | None = Field(
        None,
        min_length=1,
        max_length=1024,
        description="The path of the model's `config.json` from Hugging Face, relative to this file.",
        examples=["models/llama3-8b.json"],
        bound="1 to 1024 characters; a file of the spec's repository, JSON, of a known architecture with all "
        "its sizes",
        source="huggingface/transformers 008e5743, configuration classes",
        codes=("YML046", "YML047", "RES370", "RES371"),
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
        bound="above 0, at most `parameters`",
        source="arXiv:2106.09685, section 4.2",
        codes=("SPC005", "RES375"),
    )
    precision: Literal["fp32", "bf16", "fp16", "fp8"] = Field(
        "bf16",
        description="The format in which the model computes.",
        examples=["bf16"],
        bound="`fp32`, `bf16`, `fp16`, `fp8`; one that the GPU computes in",
        source="NVIDIA Transformer Engine, datatype and hardware support matrix",
        codes=("RES047",),
    )
    states: Literal["fp32", "bf16"] = Field(
        "fp32",
        description="The format of the optimizer's state; with `bf16` there is no copy of the weights in fp32 either "
        "(torchtitan's `training.dtype`, torchtune's `dtype`).",
        examples=["bf16"],
        bound="`fp32`, `bf16`; the latter where `precision` is bf16 or fp8",
        source="torchtitan, torchtitan/config/job_config.py, Training.dtype",
        codes=("SPC005",),
    )
    sharding: Literal["none", "optimizer", "gradients", "full"] = Field(
        "none",
        description="What is divided among the ranks: nothing, the optimizer (ZeRO-1), gradients too (ZeRO-2), or "
        "weights too (`full`: FSDP, ZeRO-3).",
        examples=["full"],
        bound="`none`, `optimizer`, `gradients`, `full`",
        source="arXiv:1910.02054, section 5",
    )
    offload: Literal["optimizer", "parameters"] | None = Field(
        None,
        description="What is kept in the node's memory: gradients and `optimizer`, or `parameters` too; unset: "
        "nothing.",
        examples=["optimizer"],
        bound="`optimizer`, `parameters`; state that the nodes hold",
        source="arXiv:2101.06840, section 4; arXiv:2104.07857",
        codes=("LIM020",),
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
        bound="`none`, `selective`, `full`",
        source="arXiv:2205.05198, section 5",
    )
    fused_loss: bool = Field(
        False,
        description="Whether the loss keeps no logits in fp32: a fused, chunked or compiled cross entropy.",
        examples=[True],
        bound="`true`, `false`",
        source="docs/model-fit.md",
    )
    optimizer: Literal["adamw", "adamw8bit", "sgd"] | None = Field(
        None,
        description="The optimizer; `sgd` with momentum; derived: `adamw`, unless `optimizerBytes` says what it keeps.",
        examples=["adamw8bit"],
        bound="`adamw`, `adamw8bit`, `sgd`; not next to `optimizerBytes`",
        source="arXiv:1910.02054, section 3.1; arXiv:2110.02861",
        codes=("SPC005",),
    )
    optimizer_bytes: int | None = Field(
        None,
        ge=0,
        le=32,
        description="The bytes of optimizer state for each parameter; derived: 8 for `fp32`, otherwise 12, as Adam "
        "has.",
        examples=[12],
        bound="0 to 32",
        source="arXiv:1910.02054, section 3.1",
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
        bound="an absolute path of a file, of no other file of the job",
        source="open(2)",
        codes=("RES199",),
    )
    train_batch_size: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="The samples of one step of the optimizer, of all ranks together.",
        examples=[512],
        bound="1 to 2147483648; makes up the batch",
        source="DeepSpeed 0.17, runtime/config.py",
        codes=("RES196",),
    )
    micro_batch_size: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="The samples that one rank takes forward and backward at once "
        "(`train_micro_batch_size_per_gpu`).",
        examples=[4],
        bound="1 to 2147483648; makes up the batch",
        source="DeepSpeed 0.17, runtime/config.py",
        codes=("RES196",),
    )
    gradient_accumulation_steps: int | None = Field(
        None,
        ge=1,
        le=_MOST,
        description="How often a rank goes forward and backward before one step of the optimizer.",
        examples=[8],
        bound="1 to 2147483648; makes up the batch",
        source="DeepSpeed 0.17, runtime/config.py",
        codes=("RES196",),
    )
    config: dict[str, Any] = Field(
        {},
        description="What else the configuration has, by DeepSpeed's own keys; `auto` is left to the program.",
        examples=[{"gradient_clipping": 1.0}],
        bound="a mapping; what the job says itself has its value",
        source="DeepSpeed 0.17, runtime/config.py",
        codes=("RES197",),
    )
