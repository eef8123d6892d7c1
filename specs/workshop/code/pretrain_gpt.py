"""Lessons 8 and 9: a GPT of 70 B parameters in the three dimensions of Megatron, with options called as Megatron's.

    torchrun --nproc-per-node 8 pretrain_gpt.py --tensor-model-parallel-size 8 --pipeline-model-parallel-size 4 \\
        --save /data/fsx/llama3-70b

Ranks next to each other share each matrix (and between matrices the places of a sequence); groups of them are the
stages of a pipeline; what is left of the ranks are copies, which draw texts of their own and share weights and the
state of the optimizer. It begins with weights of chance, and each byte is a token. On CPUs, with
--distributed-backend gloo, a pipeline needs PyTorch 2.8.

Source: "Efficient Large-Scale Language Model Training on GPU Clusters Using Megatron-LM" (arXiv:2104.04473).
"""

import argparse
from pathlib import Path

import torch
import torch.distributed as dist
from lesson import MIXED, Checkpoints, Text, latest_step, say, start, train
from llama import LLAMA_70B, Llama, Size, draw
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn import functional

PLACES = Shard(1)
WHOLE = Replicate()


def share_matrices(model, ranks):
    """What enters a layer is spread over the places of the sequence; matrices see all places, and each rank its part
    of their rows or columns."""
    for layer in model.layers.values():
        plan = {
            "input_layernorm": SequenceParallel(),
            "self_attn": gathered(),
            "self_attn.q_proj": ColwiseParallel(),
            "self_attn.k_proj": ColwiseParallel(),
            "self_attn.v_proj": ColwiseParallel(),
            "self_attn.o_proj": RowwiseParallel(output_layouts=PLACES),
            "post_attention_layernorm": SequenceParallel(),
            "mlp": gathered(),
            "mlp.gate_proj": ColwiseParallel(),
            "mlp.up_proj": ColwiseParallel(),
            "mlp.down_proj": RowwiseParallel(output_layouts=PLACES),
        }
        parallelize_module(layer, ranks, plan)
    ends = {}
    if model.is_first:
        ends["embed_tokens"] = RowwiseParallel(input_layouts=WHOLE, output_layouts=PLACES)
    if model.is_last:
        ends["norm"] = SequenceParallel()
        ends["lm_head"] = ColwiseParallel(
            input_layouts=PLACES, output_layouts=Shard(-1), use_local_output=False
        )
    parallelize_module(model, ranks, ends)


def gathered():
    return PrepareModuleInput(input_layouts=(PLACES,), desired_input_layouts=(WHOLE,))


def share_optimizer(model, copies):
    """Each copy keeps a part of the weights and their moments, and gathers the whole once a step."""
    for layer in model.layers.values():
        fully_shard(layer, mesh=copies, mp_policy=MIXED, reshard_after_forward=False)
    fully_shard(model, mesh=copies, mp_policy=MIXED, reshard_after_forward=False)


class Pipeline:
    def __init__(self, model, optimizer, mesh, device, passes):
        stages = mesh["stage"]
        stage = PipelineStage(
            model, stages.get_local_rank(), stages.size(), device, group=stages.get_group()
        )
        self.schedule = Schedule1F1B(stage, passes, loss_fn=loss_of)
        self.is_first = model.is_first
        self.is_last = model.is_last
        self.stages = stages.size()
        self.optimizer = optimizer
        self.device = device

    def learn(self, window):
        given = [window[:, :-1]] if self.is_first else []
        target = window[:, 1:] if self.is_last else None
        losses = []
        with loss_parallel():
            self.schedule.step(*given, target=target, losses=losses)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if not self.is_last:
            return torch.zeros((), device=self.device)
        # The mean is taken over all ranks, and those of one stage of them know the loss.
        return whole(torch.stack([whole(loss) for loss in losses]).mean()) * self.stages


def loss_of(scores, target):
    return functional.cross_entropy(scores.flatten(0, 1).float(), target.flatten())


def whole(loss):
    return loss.full_tensor() if isinstance(loss, DTensor) else loss


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tensor-model-parallel-size", type=int, default=1)
    parser.add_argument("--pipeline-model-parallel-size", type=int, default=1)
    parser.add_argument("--save", required=True)
    parser.add_argument("--data-path", default=Path(__file__).parent)
    parser.add_argument("--distributed-backend", default="nccl")
    parser.add_argument("--train-iters", type=int, default=1000)
    parser.add_argument("--micro-batch-size", type=int, default=1)
    parser.add_argument("--global-batch-size", type=int, help="derived: 32 a copy")
    parser.add_argument("--seq-length", type=int, default=4096)
    parser.add_argument("--lr", type=float, default=1.5e-4)
    parser.add_argument("--hidden-size", type=int, default=LLAMA_70B.width)
    parser.add_argument("--ffn-hidden-size", type=int, default=LLAMA_70B.hidden)
    parser.add_argument("--num-layers", type=int, default=LLAMA_70B.layers)
    parser.add_argument("--num-attention-heads", type=int, default=LLAMA_70B.heads)
    parser.add_argument("--num-query-groups", type=int, default=LLAMA_70B.groups)
    parser.add_argument("--vocab-size", type=int, default=LLAMA_70B.vocabulary)
    return parser.parse_args()


def mesh_of(options, device):
    """Ranks that share matrices are next to each other: on one node."""
    tensor = options.tensor_model_parallel_size
    stages = options.pipeline_model_parallel_size
    ranks = dist.get_world_size()
    if ranks % (tensor * stages):
        raise SystemExit(f"{ranks} ranks are no multiple of {tensor} × {stages}")
    shape = (stages, ranks // (tensor * stages), tensor)
    return init_device_mesh(device.type, shape, mesh_dim_names=("stage", "copy", "matrix"))


def main():
    options = arguments()
    device = start(options.distributed_backend)
    mesh = mesh_of(options, device)
    copies = mesh["copy"]
    size = Size(
        width=options.hidden_size,
        layers=options.num_layers,
        heads=options.num_attention_heads,
        hidden=options.ffn_hidden_size,
        groups=options.num_query_groups,
        vocabulary=options.vocab_size,
    )
    samples = options.global_batch_size or 32 * copies.size()
    per_copy, rest = divmod(samples, copies.size())
    passes, left = divmod(per_copy, options.micro_batch_size)
    if rest or left:
        raise SystemExit(f"{samples} samples do not divide into passes of every copy")
    stage = mesh["stage"]
    with torch.device("meta"):
        model = Llama(size, stage.get_local_rank(), stage.size())
    share_matrices(model, mesh["matrix"])
    share_optimizer(model, copies)
    model.to_empty(device=device)
    if latest_step(options.save) is None:
        draw(model)
    say(f"{mesh}, {passes} passes a step")
    optimizer = torch.optim.AdamW(model.parameters(), lr=options.lr)
    train(
        Pipeline(model, optimizer, mesh, device, passes).learn,
        Checkpoints(options.save, model, optimizer),
        Text(
            options.data_path,
            options.seq_length,
            copy=copies.get_local_rank(),
            copies=copies.size(),
        ),
        per_copy,
        options.train_iters,
        device,
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
