"""Rows of one's own for `model_fit.json`: plain training steps of Llamas of 1 to 8 billion parameters on one GPU.

    python benchmarks/model_steps.py                    # every model, both states, with and without recomputation
    python benchmarks/model_steps.py --model llama-3-8b --states bf16 --recomputation full

It needs PyTorch 2.5 or later alone, and prints rows in the form of the table, one a line, of what did not run out of
memory. `gib` is what the allocator reserved at most. The models' shapes and the machine are to be written into the
table beside them; a row's source is where its output is published. It has not been run on a GPU by this project.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

MODELS = json.loads(Path(__file__).with_name("model_fit.json").read_text(encoding="utf-8"))[
    "models"
]
CHOSEN = ("llama-3.2-1b", "llama-3.2-3b", "llama-3-8b")
_WARM_UP, _MEASURED = 3, 10


class Layer(nn.Module):
    """Attention with groups of heads, and a gated block."""

    def __init__(self, shape: dict[str, Any]) -> None:
        super().__init__()
        width, size = shape["hidden"], shape["head_size"]
        self.heads, self.kv_heads, self.size = shape["heads"], shape["kv_heads"], size
        self.before = nn.RMSNorm(width)
        self.between = nn.RMSNorm(width)
        self.query = nn.Linear(width, self.heads * size, bias=False)
        self.key_value = nn.Linear(width, 2 * self.kv_heads * size, bias=False)
        self.out = nn.Linear(self.heads * size, width, bias=False)
        self.gate = nn.Linear(width, shape["ffn"], bias=False)
        self.up = nn.Linear(width, shape["ffn"], bias=False)
        self.down = nn.Linear(shape["ffn"], width, bias=False)

    def forward(self, given: Tensor) -> Tensor:
        batch, length, _ = given.shape
        normed = self.before(given)
        query = self.query(normed).view(batch, length, self.heads, self.size)
        key, value = (
            self.key_value(normed).view(batch, length, 2 * self.kv_heads, self.size).chunk(2, 2)
        )
        parts = (part.transpose(1, 2) for part in (query, key, value))
        seen = functional.scaled_dot_product_attention(*parts, is_causal=True, enable_gqa=True)
        given = given + self.out(seen.transpose(1, 2).flatten(2))
        normed = self.between(given)
        return given + self.down(functional.silu(self.gate(normed)) * self.up(normed))


class Llama(nn.Module):
    """A decoder without rotations, which take neither memory nor time worth a row."""

    def __init__(self, shape: dict[str, Any], *, recomputed: bool) -> None:
        super().__init__()
        self.recomputed = recomputed
        self.embedding = nn.Embedding(shape["vocabulary"], shape["hidden"])
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape["layers"]))
        self.norm = nn.RMSNorm(shape["hidden"])
        self.scores = nn.Linear(shape["hidden"], shape["vocabulary"], bias=False)
        if shape.get("tied"):
            self.scores.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        hidden = self.embedding(tokens)
        for layer in self.layers:
            if self.recomputed:
                hidden = checkpoint(layer, hidden, use_reentrant=False)
            else:
                hidden = layer(hidden)
        return self.scores(self.norm(hidden))


def measured(shape: dict[str, Any], setup: dict[str, Any], device: str) -> dict[str, float]:
    """The tokens a second and the memory of some steps with AdamW."""
    pure = setup.get("pure", False)
    torch.set_default_dtype(torch.bfloat16 if pure else torch.float32)
    with torch.device(device):
        model = Llama(shape, recomputed=setup["recomputation"] == "full")
        tokens = torch.randint(shape["vocabulary"], (setup["micro_batch"], setup["sequence"] + 1))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    reset(device)
    began = 0.0
    for step in range(_WARM_UP + _MEASURED):
        if step == _WARM_UP:
            waited_for(device)
            began = time.perf_counter()
        with torch.autocast(device, torch.bfloat16, enabled=not pure):
            scores = model(tokens[:, :-1])
            loss = functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    waited_for(device)
    seconds = (time.perf_counter() - began) / _MEASURED
    found = {"tokens": round(setup["micro_batch"] * setup["sequence"] / seconds, 1)}
    if device == "cuda":
        found["gib"] = round(torch.cuda.max_memory_reserved() / 1024**3, 1)
    return found


def reset(device: str) -> None:
    """Forget what earlier models took."""
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def waited_for(device: str) -> None:
    """All that was started is done."""
    if device == "cuda":
        torch.cuda.synchronize()


def setups(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each model with each way to train it."""
    for model, states, way in product(options.model, options.states, options.recomputation):
        setup: dict[str, Any] = {
            "data": 1,
            "sequence": options.sequence,
            "micro_batch": options.micro_batch,
            "recomputation": way,
        }
        if states == "bf16":
            setup |= {"optimizer_bytes": 4, "pure": True}
        yield model, setup


def arguments() -> argparse.Namespace:
    """What to measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--model", nargs="+", choices=sorted(MODELS), default=CHOSEN)
    parser.add_argument("--states", nargs="+", choices=("fp32", "bf16"), default=("fp32", "bf16"))
    parser.add_argument(
        "--recomputation", nargs="+", choices=("none", "full"), default=("none", "full")
    )
    parser.add_argument("--sequence", type=int, default=4096)
    parser.add_argument("--micro-batch", type=int, default=1)
    parser.add_argument(
        "--device", choices=("cuda", "cpu"), default="cuda", help="cpu tries the program out"
    )
    return parser.parse_args()


def main() -> None:
    """Print a row for each setup that ends."""
    options = arguments()
    name = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
    for model, setup in setups(options):
        try:
            found = measured(MODELS[model], setup, options.device)
        except torch.OutOfMemoryError:
            print(f"{model} {setup}: out of memory")
            continue
        where = f"{name}, PyTorch {torch.__version__}"
        row = {"source": "own", "where": where, "model": model, "machine": name, "setup": setup}
        print(json.dumps({**row, "measured": found, "use": "test"}), flush=True)


if __name__ == "__main__":
    main()
