"""The shape of a model from its ``config.json``, as Hugging Face's transformers writes it.

Names and defaults are those of the configuration classes of transformers 4.57 (``configuration_llama.py`` and others).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.training.shape import Shape

SOURCE = "transformers 4.57, configuration classes"


class ConfigError(Exception):
    """What is wrong with a configuration, by the key at fault."""

    def __init__(self, key: str, message: str, help: str) -> None:
        super().__init__(message)
        self.key = key
        self.message = message
        self.help = help


# Architectures with the keys of Llama, and whether their output layer is the embedding by default.
_LIKE_LLAMA = {
    "llama": False,
    "mistral": False,
    "qwen2": False,
    "qwen3": False,
    "phi3": False,
    "olmo2": False,
    "gemma": True,
}
# Architectures with experts: the keys of their number and of an expert's inner width.
_WITH_EXPERTS = {
    "mixtral": ("num_local_experts", "intermediate_size"),
    "qwen3_moe": ("num_experts", "moe_intermediate_size"),
}
ARCHITECTURES = tuple(sorted((*_LIKE_LLAMA, *_WITH_EXPERTS, "gpt2", "gpt_neox", "t5")))


def shape_of(config: Mapping[str, Any]) -> Shape:
    """The shape that a configuration describes. Raises ``ConfigError``."""
    kind = config.get("model_type")
    if kind in _LIKE_LLAMA:
        return _llama(config, tied=_LIKE_LLAMA[kind])
    if kind in _WITH_EXPERTS:
        return _experts(config, *_WITH_EXPERTS[kind])
    if kind == "gpt_neox":
        return _gpt_neox(config)
    if kind == "gpt2":
        return _gpt2(config)
    if kind == "t5":
        return _t5(config)
    listed = ", ".join(ARCHITECTURES)
    if kind is None:
        raise ConfigError("model_type", "it has no `model_type`", f"known are {listed}")
    raise ConfigError(
        "model_type",
        f"its `model_type` `{kind}` is unknown",
        f"write the sizes under `shape` and remove `config`; known are {listed}",
    )


def _llama(config: Mapping[str, Any], *, tied: bool, ffn: str = "intermediate_size") -> Shape:
    hidden = _number(config, "hidden_size")
    heads = _number(config, "num_attention_heads")
    return Shape(
        layers=_number(config, "num_hidden_layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=_number(config, "num_key_value_heads", heads),
        head_size=_number(config, "head_dim", hidden // heads),
        ffn=_number(config, ffn),
        vocabulary=_number(config, "vocab_size"),
        tied=bool(config.get("tie_word_embeddings", tied)),
    )


def _experts(config: Mapping[str, Any], count: str, ffn: str) -> Shape:
    dense = _llama(config, tied=False, ffn=ffn)
    return Shape(
        layers=dense.layers,
        hidden=dense.hidden,
        heads=dense.heads,
        kv_heads=dense.kv_heads,
        head_size=dense.head_size,
        ffn=dense.ffn,
        vocabulary=dense.vocabulary,
        tied=dense.tied,
        experts=_number(config, count),
        experts_per_token=_number(config, "num_experts_per_tok"),
    )


def _gpt_neox(config: Mapping[str, Any]) -> Shape:
    hidden = _number(config, "hidden_size")
    heads = _number(config, "num_attention_heads")
    return Shape(
        layers=_number(config, "num_hidden_layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_size=hidden // heads,
        ffn=_number(config, "intermediate_size"),
        vocabulary=_number(config, "vocab_size"),
        gated=False,
        tied=bool(config.get("tie_word_embeddings", False)),
    )


def _gpt2(config: Mapping[str, Any]) -> Shape:
    hidden = _number(config, "n_embd")
    heads = _number(config, "n_head")
    return Shape(
        layers=_number(config, "n_layer"),
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_size=hidden // heads,
        ffn=_number(config, "n_inner", 4 * hidden),
        vocabulary=_number(config, "vocab_size"),
        gated=False,
        tied=bool(config.get("tie_word_embeddings", True)),
    )


def _t5(config: Mapping[str, Any]) -> Shape:
    """Encoder and decoder together; each layer of the decoder attends to the encoder too."""
    encoder = _number(config, "num_layers")
    decoder = _number(config, "num_decoder_layers", encoder)
    heads = _number(config, "num_heads")
    projection = str(config.get("feed_forward_proj", "relu"))
    return Shape(
        layers=encoder + decoder,
        hidden=_number(config, "d_model"),
        heads=heads,
        kv_heads=heads,
        head_size=_number(config, "d_kv"),
        ffn=_number(config, "d_ff"),
        vocabulary=_number(config, "vocab_size"),
        gated=projection.startswith("gated"),
        tied=bool(config.get("tie_word_embeddings", True)),
        cross_layers=decoder,
    )


def _number(config: Mapping[str, Any], key: str, default: int | None = None) -> int:
    value = config.get(key)
    if value is None:
        value = default
    if value is None:
        raise ConfigError(key, f"it has no `{key}`", "take the file of the model's repository")
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(key, f"its `{key}` is `{value}`", "write a whole number above 0")
    return value
