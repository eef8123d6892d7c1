"""The shape of a transformer, and the parameters that it has.

Counts follow Megatron-LM d98e8a64, megatron/training/theoretical_memory_usage.py, of which biases and norms are left
out: together they are less than a thousandth of a model.
"""

from __future__ import annotations

from math import ceil

from trainyard.language.dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The sizes of a transformer.

    ``ffn`` is the inner size of a feed-forward block, of each expert where there are ``experts``, of which a token goes
    through ``experts_per_token``. ``gated``: the block has three matrices (SwiGLU) instead of two. ``tied``: the output
    layer is the embedding. ``cross_layers`` of the layers also attend to an encoder (T5).
    """

    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    ffn: int
    vocabulary: int
    gated: bool = True
    tied: bool = False
    experts: int = 1
    experts_per_token: int = 1
    cross_layers: int = 0

    @property
    def query(self) -> int:
        """The width of all queries of a token."""
        return self.heads * self.head_size

    @property
    def key_value(self) -> int:
        """The width of all keys of a token, and of all values."""
        return self.kv_heads * self.head_size

    @property
    def attention_layers(self) -> int:
        """The attentions of a model: one for each layer, and one more where it attends to an encoder."""
        return self.layers + self.cross_layers

    @property
    def attention(self) -> int:
        """The parameters of one attention: queries and output, keys and values."""
        return 2 * self.hidden * (self.query + self.key_value)

    @property
    def expert(self) -> int:
        """The parameters of one feed-forward block."""
        matrices = 3 if self.gated else 2
        return matrices * self.hidden * self.ffn

    @property
    def router(self) -> int:
        """The parameters of a layer that choose the experts of a token."""
        return self.hidden * self.experts if self.experts > 1 else 0

    @property
    def embedding(self) -> int:
        """The parameters of the embedding."""
        return self.vocabulary * self.hidden

    @property
    def output(self) -> int:
        """The parameters of the output layer, where it is not the embedding."""
        return 0 if self.tied else self.embedding

    @property
    def parameters(self) -> int:
        """All parameters."""
        blocks = self.layers * (self.experts * self.expert + self.router)
        attentions = self.attention_layers * self.attention
        return attentions + blocks + self.embedding + self.output

    @property
    def multiplied(self) -> int:
        """The parameters that each token is multiplied by: of the experts its own, the output layer, no embedding."""
        blocks = self.layers * (self.experts_per_token * self.expert + self.router)
        return self.attention_layers * self.attention + blocks + self.embedding


def stage_layers(shape: Shape, pipeline: int) -> int:
    """The layers of the largest stage of a pipeline."""
    return ceil(shape.layers / pipeline)


def stage_attentions(shape: Shape, pipeline: int) -> float:
    """The attentions of the largest stage."""
    share = shape.attention_layers / shape.layers
    return stage_layers(shape, pipeline) * share
