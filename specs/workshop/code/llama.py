"""Llama 3 in PyTorch alone, and the weights that Meta publishes on Hugging Face.

Parameters are called as there, without the prefix `model.`. Only what downloads and reads weights needs more than
PyTorch: huggingface-hub, safetensors and tokenizers, which the image `train` has.

Sources: config.json of meta-llama/Meta-Llama-3-8B, Llama-3.2-1B and Meta-Llama-3-70B; "The Llama 3 Herd of Models"
(arXiv:2407.21783), table 3.
"""

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path

import torch
import torch.distributed as dist
from lesson import MIXED, all_ranks
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, set_model_state_dict
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint


@dataclass
class Size:
    width: int
    layers: int
    heads: int
    hidden: int  # the width within a layer's second half
    groups: int = 8  # heads that share keys and values are a group
    vocabulary: int = 128256
    tied: bool = False  # the matrix that embeds tokens also scores them
    stretched: float = 1.0  # how much slower the slow rotations are


LLAMA_1B = Size(2048, 16, 32, 8192, tied=True, stretched=32.0)
LLAMA_8B = Size(4096, 32, 32, 14336)
LLAMA_70B = Size(8192, 80, 64, 28672)
SMALLER = ("width", "layers", "heads", "hidden", "groups", "vocabulary")


def size_arguments(parser, size):
    """Options with which a model of the same kind fits a laptop."""
    for name in SMALLER:
        parser.add_argument(f"--{name}", type=int, default=getattr(size, name))


def size_of(options, size):
    return replace(size, **{name: getattr(options, name) for name in SMALLER})


def rotations(size, length, device):
    """How far each pair of a head's numbers turns at each place, as cosine and sine."""
    half = size.width // size.heads // 2
    speed = 500000.0 ** -(torch.arange(half, device=device).float() / half)
    if size.stretched != 1.0:
        # Full speed from four turns in 8192 places on, slowed down below one turn, and in between a mean.
        turns = 8192 * speed / (2 * math.pi)
        full = ((turns - 1) / 3).clamp(0, 1)
        speed = speed * full + speed / size.stretched * (1 - full)
    angles = torch.outer(torch.arange(length, device=device).float(), speed)
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def turn(vectors, cosine, sine):
    first, second = vectors.chunk(2, dim=-1)
    turned = torch.cat([-second, first], dim=-1)
    return (vectors * cosine + turned * sine).to(vectors.dtype)


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.head = size.width // size.heads
        shared = self.head * size.groups
        self.q_proj = nn.Linear(size.width, size.width, bias=False)
        self.k_proj = nn.Linear(size.width, shared, bias=False)
        self.v_proj = nn.Linear(size.width, shared, bias=False)
        self.o_proj = nn.Linear(size.width, size.width, bias=False)

    def forward(self, hidden):
        cosine, sine = rotations(self.size, hidden.shape[1], hidden.device)
        # Where heads are spread over ranks, a rank sees its own alone: their number follows from the width.
        query, key, value = (
            matrix(hidden).unflatten(-1, (-1, self.head)).transpose(1, 2)
            for matrix in (self.q_proj, self.k_proj, self.v_proj)
        )
        mixed = functional.scaled_dot_product_attention(
            turn(query, cosine, sine),
            turn(key, cosine, sine),
            value,
            is_causal=True,
            enable_gqa=True,
        )
        return self.o_proj(mixed.transpose(1, 2).flatten(2))


class Mlp(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate_proj = nn.Linear(size.width, size.hidden, bias=False)
        self.up_proj = nn.Linear(size.width, size.hidden, bias=False)
        self.down_proj = nn.Linear(size.hidden, size.width, bias=False)

    def forward(self, hidden):
        opened = functional.silu(self.gate_proj(hidden)) * self.up_proj(hidden)
        return self.down_proj(opened)


class Layer(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.input_layernorm = nn.RMSNorm(size.width, eps=1e-5)
        self.self_attn = Attention(size)
        self.post_attention_layernorm = nn.RMSNorm(size.width, eps=1e-5)
        self.mlp = Mlp(size)

    def forward(self, hidden):
        hidden = hidden + self.self_attn(self.input_layernorm(hidden))
        return hidden + self.mlp(self.post_attention_layernorm(hidden))


class Llama(nn.Module):
    """All layers, or those of one stage of a pipeline: the first stage also embeds tokens, the last one scores them."""

    def __init__(self, size, stage=0, stages=1):
        super().__init__()
        self.is_first = stage == 0
        self.is_last = stage == stages - 1
        if self.is_first:
            self.embed_tokens = nn.Embedding(size.vocabulary, size.width)
        here = range(size.layers * stage // stages, size.layers * (stage + 1) // stages)
        self.layers = nn.ModuleDict({str(number): Layer(size) for number in here})
        if self.is_last:
            self.norm = nn.RMSNorm(size.width, eps=1e-5)
            self.lm_head = nn.Linear(size.width, size.vocabulary, bias=False)
        if size.tied:
            self.lm_head.weight = self.embed_tokens.weight

    def forward(self, hidden):
        """Tokens, or what the stage before made of them. What a layer computes is computed again on the way back."""
        if self.is_first:
            hidden = self.embed_tokens(hidden)
        for layer in self.layers.values():
            hidden = checkpoint(layer, hidden, use_reentrant=False)
        if not self.is_last:
            return hidden
        return self.lm_head(self.norm(hidden))


def loss_of(model, window):
    """How badly the model foretells each token of a window from those before it."""
    scores = model(window[:, :-1])
    return functional.cross_entropy(scores.flatten(0, 1).float(), window[:, 1:].flatten())


def sharded(size, device, folder, has_checkpoint, change=None):
    """A model whose layers are gathered when they compute, and given back after it (FSDP2). `change` sees it whole.

    Its weights are those of the folder, or of chance; where a checkpoint follows, nobody reads them.
    """
    with torch.device("meta"):
        model = Llama(size)
    if change is not None:
        change(model)
    ranks = all_ranks(device)
    for layer in model.layers.values():
        fully_shard(layer, mesh=ranks, mp_policy=MIXED)
    fully_shard(model, mesh=ranks, mp_policy=MIXED)
    model.to_empty(device=device)
    if has_checkpoint:
        return model
    if folder is None:
        draw(model)
    else:
        load(model, folder)
    return model


def draw(model):
    """Weights of chance; of a parameter that is spread over ranks, each rank draws its own part."""
    chance = torch.Generator(next(model.parameters()).device)
    chance.manual_seed(dist.get_rank())
    for name, parameter in model.named_parameters():
        here = parameter.detach()
        if isinstance(here, DTensor):
            here = here.to_local()
        if "norm" in name:
            here.fill_(1.0)
        else:
            here.normal_(std=0.02, generator=chance)


def published(name):
    """The folder with the weights of a model of Hugging Face; `name` may be a folder that has them.

    One rank downloads to HF_HOME, which all of them must see.
    """
    if Path(name).is_dir():
        return Path(name)
    from huggingface_hub import snapshot_download

    files = ["*.safetensors", "tokenizer.json"]
    if dist.get_rank() == 0:
        snapshot_download(name, allow_patterns=files)
    dist.barrier()
    return Path(snapshot_download(name, allow_patterns=files, local_files_only=True))


def chosen(weights, usual):
    """What a program starts from: the weights that its options name, else with a token of Hugging Face the usual ones,
    else None, for weights of chance."""
    if weights is None and os.environ.get("HF_TOKEN"):
        return usual
    return weights


def tensors(folder):
    """Each name with its tensor, in the same order on every rank."""
    from safetensors import safe_open

    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            for name in file.keys():  # noqa: SIM118 – no dictionary
                yield name.removeprefix("model."), file.get_tensor(name)


def load(model, folder):
    """Fill the model, of which each rank takes its part."""
    whole = StateDictOptions(full_state_dict=True, strict=False)
    missing = {name for name, _ in model.named_parameters()}
    for name, tensor in tensors(folder):
        missing.discard(name)
        set_model_state_dict(model, {name: tensor}, options=whole)
    if missing:
        raise SystemExit(f"{folder} has no {', '.join(sorted(missing))}")


def encoder(folder):
    """What makes tokens of bytes, as the model in that folder was taught."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))

    def encode(text):
        words = text.decode(errors="replace")
        return tokenizer.encode(words, add_special_tokens=False).ids

    return encode
