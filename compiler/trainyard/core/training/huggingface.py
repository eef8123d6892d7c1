"""The shape of a model from its ``config.json``, as Hugging Face's transformers writes it.

Names and defaults are those of the configuration classes of huggingface/transformers 008e5743, like
``configuration_llama.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from trainyard.core.training.shape import Shape

SOURCE = "huggingface/transformers 008e5743, configuration classes"


class ConfigError(Exception):
    """What is wrong with a configuration, by the key at fault."""

    def __init__(self, key: str, message: str, help: str) -> None:
        super().__init__(message)
        self.key = key
        self.message = message
        self.help = help


class _Family(NamedTuple):
    """What an architecture with Llama's keys has where its file leaves it out; ``None``: as many as heads, or their
    part of the width. ``experts``: the key of their number; ``ffn``: that of the inner width."""

    tied: bool = False
    kv_heads: int | None = None
    head_size: int | None = None
    experts: str = ""
    ffn: str = "intermediate_size"


_FAMILIES = {
    "gemma": _Family(tied=True, kv_heads=16, head_size=256),
    "llama": _Family(),
    "mistral": _Family(kv_heads=8),
    "mixtral": _Family(kv_heads=8, experts="num_local_experts"),
    "phi3": _Family(),
    "qwen2": _Family(kv_heads=32),
    "qwen3": _Family(kv_heads=32, head_size=128),
    "qwen3_moe": _Family(kv_heads=4, experts="num_experts", ffn="moe_intermediate_size"),
}
ARCHITECTURES = tuple(sorted((*_FAMILIES, "gpt2", "gpt_neox", "t5")))
_MOST = 2**31


def shape_of(config: Mapping[str, Any]) -> Shape:
    """The shape that a configuration describes. Raises ``ConfigError``."""
    kind = config.get("model_type")
    if isinstance(kind, str) and kind in _FAMILIES:
        return _of_family(config, _FAMILIES[kind])
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


def _of_family(config: Mapping[str, Any], family: _Family) -> Shape:
    hidden = _number(config, "hidden_size")
    heads = _number(config, "num_attention_heads")
    experts, per_token = 1, 1
    if family.experts:
        _check_layers_are_alike(config)
        experts = _number(config, family.experts)
        per_token = _number(config, "num_experts_per_tok")
    return Shape(
        layers=_number(config, "num_hidden_layers"),
        hidden=hidden,
        heads=heads,
        kv_heads=_number(config, "num_key_value_heads", family.kv_heads or heads),
        head_size=_number(config, "head_dim", family.head_size or hidden // heads),
        ffn=_number(config, family.ffn),
        vocabulary=_number(config, "vocab_size"),
        tied=bool(config.get("tie_word_embeddings", family.tied)),
        experts=experts,
        experts_per_token=per_token,
    )


def _check_layers_are_alike(config: Mapping[str, Any]) -> None:
    """Layers without experts among those with them are not in a shape."""
    for key, plain in (("mlp_only_layers", []), ("decoder_sparse_step", 1)):
        if config.get(key, plain) not in (None, plain):
            raise ConfigError(
                key,
                f"by its `{key}` some layers have no experts, which is not supported",
                "remove `config`, and write `parameters`",
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
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST:
        raise ConfigError(key, f"its `{key}` is no size", f"write a whole number of 1 to {_MOST}")
    return value
