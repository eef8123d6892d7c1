"""Shapes from a `config.json`: counts of published models, defaults of the classes, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from trainyard.core.training.huggingface import ARCHITECTURES, ConfigError, shape_of

LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


# The parameters are those of the weights that the models' repositories on Hugging Face have.
@pytest.mark.parametrize(
    ("config", "parameters"),
    [
        (LLAMA, 8_030_261_248),
        (
            {
                **LLAMA,
                "model_type": "mixtral",
                "vocab_size": 32000,
                "num_local_experts": 8,
                "num_experts_per_tok": 2,
            },
            46_702_792_704,
        ),
        (
            {
                "model_type": "qwen3_moe",
                "hidden_size": 2048,
                "moe_intermediate_size": 768,
                "intermediate_size": 6144,
                "num_attention_heads": 32,
                "num_hidden_layers": 48,
                "num_key_value_heads": 4,
                "head_dim": 128,
                "num_experts": 128,
                "num_experts_per_tok": 8,
                "vocab_size": 151936,
                "mlp_only_layers": [],
            },
            30_532_122_624,
        ),
        (
            {
                "model_type": "gpt_neox",
                "hidden_size": 6144,
                "intermediate_size": 24576,
                "num_attention_heads": 64,
                "num_hidden_layers": 44,
                "vocab_size": 50432,
            },
            20_554_567_680,
        ),
        (
            {
                "model_type": "gpt2",
                "n_embd": 1600,
                "n_head": 25,
                "n_layer": 48,
                "n_inner": None,
                "vocab_size": 50257,
            },
            1_557_611_200,
        ),
        (
            {
                "model_type": "t5",
                "d_model": 1024,
                "d_kv": 64,
                "d_ff": 4096,
                "num_layers": 24,
                "num_heads": 16,
                "vocab_size": 32128,
            },
            737_668_096,
        ),
        (
            {
                "model_type": "gemma",
                "hidden_size": 3072,
                "intermediate_size": 24576,
                "num_attention_heads": 16,
                "num_hidden_layers": 28,
                "vocab_size": 256000,
            },
            8_537_680_896,
        ),
    ],
    ids=lambda value: value["model_type"] if isinstance(value, dict) else None,
)
def test_parameters_are_those_of_the_published_weights(
    config: dict[str, Any], parameters: int
) -> None:
    assert shape_of(config).parameters == pytest.approx(parameters, rel=0.005)


def test_what_a_file_leaves_out_is_the_default_of_its_class() -> None:
    plain = {key: value for key, value in LLAMA.items() if key != "num_key_value_heads"}
    assert shape_of(plain).kv_heads == 32
    assert shape_of({**plain, "model_type": "mistral"}).kv_heads == 8
    assert shape_of({**plain, "model_type": "qwen3", "hidden_size": 1024}).head_size == 128
    assert not shape_of(plain).tied
    assert shape_of({**plain, "model_type": "gemma"}).tied
    assert shape_of({**plain, "tie_word_embeddings": True}).tied


@pytest.mark.parametrize(
    "key", [key for key in LLAMA if key not in ("model_type", "num_key_value_heads")]
)
@pytest.mark.parametrize("value", [None, 0, -1, 4.5, True, "32", 10**400])
def test_each_size_is_a_whole_number(key: str, value: object) -> None:
    with pytest.raises(ConfigError) as refused:
        shape_of({**LLAMA, key: value})
    assert refused.value.key == key


@pytest.mark.parametrize("kind", [None, "mamba", ["llama"], {}])
def test_an_unknown_architecture_is_refused_with_the_known_ones(kind: object) -> None:
    with pytest.raises(ConfigError) as refused:
        shape_of({**LLAMA, "model_type": kind})
    assert all(name in refused.value.help for name in ARCHITECTURES)


def test_layers_of_two_kinds_are_refused() -> None:
    mixed = {**LLAMA, "model_type": "qwen3_moe", "mlp_only_layers": [0]}
    with pytest.raises(ConfigError, match="mlp_only_layers"):
        shape_of(mixed)
