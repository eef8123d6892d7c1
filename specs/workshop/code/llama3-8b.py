"""Lessons 4 and 6: Llama 3 8B, all of its weights trained.

    torchrun --nproc-per-node 4 llama3-8b.py --deepspeed=config.json --output_dir=/data/fsx/llama3-8b
    torchrun --nproc-per-node 1 llama3-8b.py --backend=gloo --output_dir=/data/fsx/llama3-8b-cpu

With --deepspeed, DeepSpeed shards and offloads as its configuration says. Without, FSDP2 shards, with GPUs or without.
With HF_TOKEN it starts from the weights that Meta publishes, else from weights of chance.
"""

import argparse
import json
from functools import partial
from pathlib import Path

import torch
import torch.distributed as dist
from lesson import Checkpoints, Text, latest_step, learner, say, start, train
from llama import (
    LLAMA_8B,
    Llama,
    chosen,
    encoder,
    loss_of,
    published,
    sharded,
    size_arguments,
    size_of,
    tensors,
)


class EngineCheckpoints(Checkpoints):
    """Checkpoints as DeepSpeed writes them: as many ranks read them as have written them."""

    def __init__(self, folder, engine):
        super().__init__(folder, engine.module, engine.optimizer)
        self.engine = engine

    def read(self, step):
        self.engine.load_checkpoint(self.folder, tag=f"step-{step}")

    def write(self, step):
        self.engine.save_checkpoint(self.folder, tag=f"step-{step}", save_latest=False)


class Sharded:
    """The model by FSDP2, with GPUs or without."""

    def __init__(self, size, options, device, folder):
        model = sharded(size, device, folder, latest_step(options.output_dir) is not None)
        optimizer = torch.optim.AdamW(model.parameters(), lr=options.learning_rate)
        self.learn = learner(optimizer, partial(loss_of, model))
        self.checkpoints = Checkpoints(options.output_dir, model, optimizer)
        self.batch_size = options.batch_size

    def finish(self):
        """All that there is, the checkpoint has."""


class Engine:
    """The model by DeepSpeed. A batch of its configuration may take several passes."""

    def __init__(self, size, options, device, folder):
        import deepspeed

        deepspeed.init_distributed()
        torch.manual_seed(0)
        config = json.loads(Path(options.deepspeed).read_text())
        adam = {"type": "AdamW", "params": {"lr": options.learning_rate}}
        config.setdefault("optimizer", adam)
        stage = config.get("zero_optimization", {}).get("stage", 0)
        with deepspeed.zero.Init(config_dict_or_path=config, enabled=stage == 3):
            model = Llama(size)
        if folder is not None and latest_step(options.output_dir) is None:
            self._load(model, folder)
        self.engine, *_ = deepspeed.initialize(
            model=model, model_parameters=model.parameters(), config=config
        )
        self.folder = Path(options.output_dir)
        self.checkpoints = EngineCheckpoints(self.folder, self.engine)
        self.passes = self.engine.gradient_accumulation_steps()
        self.batch_size = self.engine.train_micro_batch_size_per_gpu() * self.passes

    def _load(self, model, folder):
        import deepspeed

        parameters = dict(model.named_parameters())
        for name, tensor in tensors(folder):
            parameter = parameters.pop(name)
            with deepspeed.zero.GatheredParameters(parameter, modifier_rank=0):
                if dist.get_rank() == 0:
                    parameter.detach().copy_(tensor)
        if parameters:
            raise SystemExit(f"{folder} has no {', '.join(sorted(parameters))}")

    def learn(self, window):
        losses = []
        for part in window.chunk(self.passes):
            loss = loss_of(self.engine, part)
            self.engine.backward(loss)
            self.engine.step()
            losses.append(loss.detach())
        return torch.stack(losses).mean()

    def finish(self):
        """The weights alone, in one file, where the configuration lets ranks gather them."""
        self.engine.save_16bit_model(self.folder, "weights.bin")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output_dir", required=True)
    parser.add_argument("--deepspeed", help="the configuration of DeepSpeed")
    parser.add_argument("--backend", default="nccl", choices=["nccl", "gloo"])
    parser.add_argument("--weights", help="a model of Hugging Face, or a folder")
    parser.add_argument("--data", default=Path(__file__).parent)
    parser.add_argument("--max_steps", type=int, default=200)
    parser.add_argument("--max_length", type=int, default=512)
    parser.add_argument("--batch_size", type=int, default=1, help="without DeepSpeed")
    parser.add_argument("--learning_rate", type=float, default=1e-5)
    size_arguments(parser, LLAMA_8B)
    return parser.parse_args()


def main():
    options = arguments()
    device = start(options.backend)
    weights = chosen(options.weights, "meta-llama/Meta-Llama-3-8B")
    folder = published(weights) if weights else None
    say(f"starts from {weights or 'weights of chance'}")
    way = Engine if options.deepspeed else Sharded
    run = way(size_of(options, LLAMA_8B), options, device, folder)
    train(
        run.learn,
        run.checkpoints,
        Text(options.data, options.max_length, encoder(folder) if folder else list),
        run.batch_size,
        options.max_steps,
        device,
    )
    run.finish()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
