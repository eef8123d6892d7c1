"""Lessons 2 and 3: an encoder and decoder of T5-large's size (24 layers each, width 1024), sharded by FSDP2.

    torchrun --nproc-per-node 8 t5-fsdp.py --epochs 10 --batch-size 4 --save-path /data/fsx/t5-large

It reads the first half of each window of text and learns to write the second, from weights of chance.
"""

import argparse
from pathlib import Path

import torch
import torch.distributed as dist
from lesson import MIXED, Checkpoints, Text, all_ranks, learner, start, train
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn import functional


class EncoderDecoder(nn.Module):
    def __init__(self, vocabulary, width, layers, heads, length):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(length, width)
        self.body = nn.Transformer(
            width, heads, layers, layers, 4 * width, dropout=0.0, batch_first=True, norm_first=True
        )
        self.out = nn.Linear(width, vocabulary, bias=False)

    def forward(self, read, written):
        mask = self.body.generate_square_subsequent_mask(
            written.shape[1], device=written.device, dtype=self.out.weight.dtype
        )
        hidden = self.body(
            self._embed(read), self._embed(written), tgt_mask=mask, tgt_is_causal=True
        )
        return self.out(hidden)

    def _embed(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.tokens(tokens) + self.places(places)


def shard(model, ranks):
    """Each layer is gathered when it computes, and given back after it."""
    for layer in [*model.body.encoder.layers, *model.body.decoder.layers]:
        fully_shard(layer, mesh=ranks, mp_policy=MIXED)
    fully_shard(model, mesh=ranks, mp_policy=MIXED)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--steps-per-epoch", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--save-path", required=True)
    parser.add_argument("--data", default=Path(__file__).parent)
    parser.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--layers", type=int, default=24)
    return parser.parse_args()


def main():
    options = arguments()
    device = start(options.backend)
    torch.manual_seed(0)
    with device:
        model = EncoderDecoder(32128, options.width, options.layers, 16, 512)
    shard(model, all_ranks(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def loss_of(window):
        read, rest = window[:, :256], window[:, 256:]
        scores = model(read, rest[:, :-1])
        return functional.cross_entropy(scores.flatten(0, 1).float(), rest[:, 1:].flatten())

    train(
        learner(optimizer, loss_of),
        Checkpoints(options.save_path, model, optimizer),
        Text(options.data, 512),
        options.batch_size,
        options.epochs * options.steps_per_epoch,
        device,
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
