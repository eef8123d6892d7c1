"""Lesson 7: Llama 3 8B, whose layers multiply in FP8 (8 bits a number), sharded over the GPUs of one node by FSDP2.

    torchrun --nproc-per-node 8 llama3-8b-fp8.py --output-dir /data/fsx/llama3-8b-fp8

Weights stay in FP32 and activations in BF16; the factors of each product are scaled to what FP8 can hold. With
HF_TOKEN it starts from the weights that Meta publishes, which stay in HF_HOME, else from weights of chance. CPUs
multiply in FP8 from PyTorch 2.8 on.

Source: "FP8 Formats for Deep Learning" (arXiv:2209.05433): E4M3 for weights and activations, E5M2 for gradients.
"""

import argparse
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist
from lesson import Checkpoints, Text, latest_step, learner, say, start, train
from llama import LLAMA_8B, chosen, encoder, loss_of, published, sharded, size_arguments, size_of
from torch import nn

FINE = torch.float8_e4m3fn
WIDE = torch.float8_e5m2


class Scaled:
    """A matrix in FP8, and what its numbers are to be multiplied by."""

    def __init__(self, matrix, kind):
        largest = matrix.abs().amax().float().clamp(min=1e-12)
        self.factor = largest / torch.finfo(kind).max
        self.numbers = (matrix.float() / self.factor).to(kind)

    def turned(self):
        other = object.__new__(Scaled)
        other.factor = self.factor
        other.numbers = self.numbers.t().contiguous()
        return other


def product(left, right):
    """The product of a matrix with the transpose of another: tensor cores read the rows of both."""
    return torch._scaled_mm(
        left.numbers,
        right.numbers.t(),
        scale_a=left.factor,
        scale_b=right.factor,
        out_dtype=torch.bfloat16,
    )


class Multiply(torch.autograd.Function):
    @staticmethod
    def forward(context, rows, weight):
        context.rows = Scaled(rows, FINE)
        context.weight = Scaled(weight, FINE)
        return product(context.rows, context.weight)

    @staticmethod
    def backward(context, gradient):
        wide = Scaled(gradient, WIDE)
        of_rows = product(wide, context.weight.turned())
        of_weight = product(wide.turned(), context.rows.turned())
        return of_rows, of_weight


class Linear8(nn.Linear):
    """Every size must be a multiple of 16."""

    def forward(self, hidden):
        rows = Multiply.apply(hidden.flatten(0, -2), self.weight)
        return rows.unflatten(0, hidden.shape[:-1])


def in_eight_bits(model):
    """What embeds tokens and what scores them stays in BF16."""
    for layer in model.layers.values():
        for module in layer.modules():
            if isinstance(module, nn.Linear):
                module.__class__ = Linear8


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output-dir", required=True)
    parser.add_argument("--precision", default="fp8", choices=["fp8", "bf16"])
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])
    parser.add_argument("--weights", help="a model of Hugging Face, or a folder")
    parser.add_argument("--data", default=Path(__file__).parent)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--length", type=int, default=2048)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    size_arguments(parser, LLAMA_8B)
    return parser.parse_args()


def main():
    options = arguments()
    device = start(options.backend)
    weights = chosen(options.weights, "meta-llama/Meta-Llama-3-8B")
    say(f"starts from {weights or 'weights of chance'}")
    folder = published(weights) if weights else None
    model = sharded(
        size_of(options, LLAMA_8B),
        device,
        folder,
        latest_step(options.output_dir) is not None,
        in_eight_bits if options.precision == "fp8" else None,
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
    train(
        learner(optimizer, partial(loss_of, model)),
        Checkpoints(options.output_dir, model, optimizer),
        Text(options.data, options.length, encoder(folder) if folder else list),
        options.batch_size,
        options.steps,
        device,
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
