"""What the lessons have in common: ranks, text to learn from, checkpoints, and the signal to save.

Needs PyTorch 2.7 or later and nothing else. A job gives CHECKPOINT_EVERY_SECONDS, CHECKPOINT_KEEP and
CHECKPOINT_SIGNAL_FILE to its program.
"""

import os
import shutil
import time
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy

# A rank may wait until another has downloaded a model.
PATIENCE = timedelta(minutes=30)
MIXED = MixedPrecisionPolicy(torch.bfloat16, reduce_dtype=torch.float32)
# The state of the optimizer is named after its parameters, so that the stages of a pipeline can save into one
# checkpoint; frozen parameters are those of a model that is downloaded again.
STATE = StateDictOptions(flatten_optimizer_state_dict=True, ignore_frozen_params=True, strict=False)


def start(backend):
    """Join the other ranks, and return the device of this one. A program without torchrun is the only rank."""
    if backend == "nccl":
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(device)
    else:
        device = torch.device("cpu")
    if dist.is_torchelastic_launched():
        dist.init_process_group(backend, timeout=PATIENCE)
    else:
        dist.init_process_group(backend, store=dist.HashStore(), rank=0, world_size=1)
    return device


def all_ranks(device):
    return init_device_mesh(device.type, (dist.get_world_size(),))


def say(text):
    if dist.get_rank() == 0:
        print(text, flush=True)


class Text:
    """Windows of all programs and texts in a folder; each copy of the model draws windows of its own.

    `encode` makes tokens of bytes; without it each byte is a token.
    """

    def __init__(self, folder, length, encode=list, copy=None, copies=None):
        files = sorted(path for path in Path(folder).rglob("*") if path.suffix in {".py", ".txt"})
        text = b"".join(path.read_bytes() for path in files)
        self.tokens = torch.tensor(encode(text), dtype=torch.long)
        if len(self.tokens) <= length:
            raise SystemExit(f"{folder} has fewer than {length} tokens of .py and .txt")
        self.length = length
        self.copy = dist.get_rank() if copy is None else copy
        self.copies = copies or dist.get_world_size()

    def batch(self, step, size, device):
        """The same windows for the same step and copy, so that a run that resumes sees what it would have seen."""
        chance = torch.Generator().manual_seed(step * self.copies + self.copy)
        last = len(self.tokens) - self.length
        starts = torch.randint(last, (size,), generator=chance).tolist()
        windows = [self.tokens[start : start + self.length + 1] for start in starts]
        return torch.stack(windows).to(device)


def latest_step(folder):
    latest = Path(folder) / "latest"
    return int(latest.read_text()) if latest.exists() else None


class Checkpoints:
    """Sharded checkpoints of torch.distributed.checkpoint: every rank writes its part, any number of ranks reads.

    `latest` names the one that is whole: it is replaced after all ranks have written.
    """

    def __init__(self, folder, model, optimizer):
        self.folder = Path(folder)
        self.model = model
        self.optimizer = optimizer
        self.every = float(os.environ.get("CHECKPOINT_EVERY_SECONDS", "1800"))
        self.keep = int(os.environ.get("CHECKPOINT_KEEP", "10"))
        signal = os.environ.get("CHECKPOINT_SIGNAL_FILE")
        self.signal = Path(signal) if signal else None
        self.saved_at = time.monotonic()
        self.saved_step = None

    def resume(self):
        """Load the latest checkpoint, and return the step to begin with."""
        step = latest_step(self.folder)
        if step is None:
            return 0
        self.read(step)
        self.saved_step = step
        say(f"resumed at step {step}")
        return step

    def save_if_due(self, step, device):
        """Save when it is time, or when a pod is about to stop. All ranks must do the same, so they ask each other."""
        asked = self.signal is not None and self.signal.exists()
        is_due = asked or time.monotonic() - self.saved_at > self.every
        due = torch.tensor(int(is_due), device=device)
        dist.all_reduce(due, op=dist.ReduceOp.MAX)
        if due.item():
            self.save(step)

    def save(self, step):
        if step != self.saved_step:
            self.write(step)
            dist.barrier()
            if dist.get_rank() == 0:
                self._name_latest(step)
                self._remove_oldest()
            say(f"saved step {step}")
        dist.barrier()
        self.saved_at = time.monotonic()
        self.saved_step = step
        if self.signal is not None:
            self.signal.unlink(missing_ok=True)

    def read(self, step):
        model, optimizer = get_state_dict(self.model, self.optimizer, options=STATE)
        dcp.load(
            {"model": model, "optimizer": optimizer}, checkpoint_id=self.folder / f"step-{step}"
        )
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=model,
            optim_state_dict=optimizer,
            options=STATE,
        )

    def write(self, step):
        model, optimizer = get_state_dict(self.model, self.optimizer, options=STATE)
        dcp.save(
            {"model": model, "optimizer": optimizer}, checkpoint_id=self.folder / f"step-{step}"
        )

    def _name_latest(self, step):
        new = self.folder / "latest.new"
        new.write_text(str(step))
        new.replace(self.folder / "latest")

    def _remove_oldest(self):
        steps = sorted(int(path.name[5:]) for path in self.folder.glob("step-*"))
        for step in steps[: -self.keep]:
            shutil.rmtree(self.folder / f"step-{step}")


def learner(optimizer, loss_of):
    """What does one step of the optimizer with a batch, and returns the loss."""

    def learn(window):
        loss = loss_of(window)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return loss

    return learn


def train(learn, checkpoints, text, batch_size, steps, device):
    """Learn from the latest checkpoint on until `steps` are done, and save at the end."""
    began = time.monotonic()
    for step in range(checkpoints.resume(), steps):
        loss = learn(text.batch(step, batch_size, device))
        if step % 10 == 0:
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            mean = mean.item() / dist.get_world_size()
            say(f"step {step} loss {mean:.3f} after {time.monotonic() - began:.0f} s")
        checkpoints.save_if_due(step + 1, device)
    checkpoints.save(steps)
