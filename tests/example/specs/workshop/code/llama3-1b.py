"""Lesson 5: Llama 3.2 1B on one GPU. Its weights stay as they are, and small matrices beside them learn (LoRA).

    python llama3-1b.py --batch-size 16 --output-dir /data/fsx/llama3-1b

At rank 16 these have 11,272,192 parameters. With HF_TOKEN it starts from the weights that Meta publishes, else from
weights of chance.
"""

import argparse
from pathlib import Path

import torch
import torch.distributed as dist
from lesson import Checkpoints, Text, learner, say, start, train
from llama import (
    LLAMA_1B,
    Llama,
    chosen,
    draw,
    encoder,
    load,
    loss_of,
    published,
    size_arguments,
    size_of,
)
from torch import nn


class Adapted(nn.Module):
    """A frozen matrix, and the product of two small ones that is added to it; the product begins as zero."""

    def __init__(self, frozen, rank):
        super().__init__()
        self.frozen = frozen
        device = frozen.weight.device
        self.narrow = nn.Linear(frozen.in_features, rank, bias=False, device=device)
        self.widen = nn.Linear(rank, frozen.out_features, bias=False, device=device)
        nn.init.zeros_(self.widen.weight)

    def forward(self, hidden):
        return self.frozen(hidden) + 2 * self.widen(self.narrow(hidden))


def adapt(model, rank):
    """Freeze the model, and adapt every matrix of its layers."""
    model.requires_grad_(False)
    for layer in model.layers.values():
        for block in (layer.self_attn, layer.mlp):
            for name, child in list(block.named_children()):
                setattr(block, name, Adapted(child, rank))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output-dir", required=True)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])
    parser.add_argument("--weights", help="a model of Hugging Face, or a folder")
    parser.add_argument("--data", default=Path(__file__).parent)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--learning-rate", type=float, default=2e-4)
    size_arguments(parser, LLAMA_1B)
    return parser.parse_args()


def main():
    options = arguments()
    device = start(options.backend)
    torch.manual_seed(0)
    weights = chosen(options.weights, "meta-llama/Llama-3.2-1B")
    say(f"starts from {weights or 'weights of chance'}")
    folder = published(weights) if weights else None
    with device:
        model = Llama(size_of(options, LLAMA_1B)).to(torch.bfloat16)
    if folder is None:
        draw(model)
    else:
        load(model, folder)
    adapt(model, options.rank)
    learning = [each for each in model.parameters() if each.requires_grad]
    trained = sum(each.numel() for each in learning)
    total = sum(each.numel() for each in model.parameters())
    say(f"{trained:,} of {total:,} parameters are trained")
    optimizer = torch.optim.AdamW(learning, lr=options.learning_rate)

    def mixed_loss(window):
        with torch.autocast(device.type, torch.bfloat16):
            return loss_of(model, window)

    train(
        learner(optimizer, mixed_loss),
        Checkpoints(options.output_dir, model, optimizer),
        Text(options.data, options.length, encoder(folder) if folder else list),
        options.batch_size,
        options.steps,
        device,
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
