"""What the lessons have in common: ranks, text to learn from, checkpoints, and the signal to save.

Needs PyTorch 2.6 or later and nothing else. A job gives CHECKPOINT_EVERY_SECONDS and
CHECKPOINT_SIGNAL_FILE to its program.
"""

import os
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict


def start(backend):
    """Join the other ranks, and return the device of this one."""
    if backend == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    else:
        device = torch.device("cpu")
    dist.init_process_group(backend)
    return device


def say(text):
    if dist.get_rank() == 0:
        print(text, flush=True)


class Text:
    """Windows of the bytes of all programs and texts in a folder; each rank draws windows of its own."""

    def __init__(self, folder, length):
        files = sorted(
            path for path in Path(folder).rglob("*") if path.suffix in {".py", ".txt"}
        )
        text = b"".join(path.read_bytes() for path in files)
        if len(text) <= length:
            raise SystemExit(f"{folder} has fewer than {length} bytes of .py and .txt")
        self.bytes = torch.tensor(list(text), dtype=torch.long)
        self.length = length

    def batch(self, step, size, device):
        """The same windows for the same step and rank, so that a run that resumes sees what it would have seen."""
        seed = step * dist.get_world_size() + dist.get_rank()
        chance = torch.Generator().manual_seed(seed)
        last = len(self.bytes) - self.length
        starts = torch.randint(last, (size,), generator=chance).tolist()
        windows = [self.bytes[start : start + self.length + 1] for start in starts]
        return torch.stack(windows).to(device)


class Checkpoints:
    """Sharded checkpoints of torch.distributed.checkpoint: every rank writes its part, any number of ranks reads.

    `latest` names the one that is whole: it is replaced after all ranks have written.
    """

    def __init__(self, folder, model, optimizer):
        self.folder = Path(folder)
        self.model = model
        self.optimizer = optimizer
        self.every = float(os.environ.get("CHECKPOINT_EVERY_SECONDS", "1800"))
        signal = os.environ.get("CHECKPOINT_SIGNAL_FILE")
        self.signal = Path(signal) if signal else None
        self.saved_at = time.monotonic()
        self.saved_step = None

    def resume(self):
        """Load the latest checkpoint, and return the step to begin with."""
        latest = self.folder / "latest"
        if not latest.exists():
            return 0
        step = int(latest.read_text())
        model, optimizer = get_state_dict(self.model, self.optimizer)
        dcp.load(
            {"model": model, "optimizer": optimizer},
            checkpoint_id=self.folder / f"step-{step}",
        )
        set_state_dict(
            self.model,
            self.optimizer,
            model_state_dict=model,
            optim_state_dict=optimizer,
        )
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
            model, optimizer = get_state_dict(self.model, self.optimizer)
            dcp.save(
                {"model": model, "optimizer": optimizer},
                checkpoint_id=self.folder / f"step-{step}",
            )
            if dist.get_rank() == 0:
                self._name_latest(step)
            say(f"saved step {step}")
        dist.barrier()
        self.saved_at = time.monotonic()
        self.saved_step = step
        if self.signal is not None:
            self.signal.unlink(missing_ok=True)

    def _name_latest(self, step):
        new = self.folder / "latest.new"
        new.write_text(str(step))
        new.replace(self.folder / "latest")


def train(model, optimizer, loss_of, text, batch_size, steps, folder, device):
    """Train to `steps` from the latest checkpoint on, and save at the end."""
    checkpoints = Checkpoints(folder, model, optimizer)
    began = time.monotonic()
    for step in range(checkpoints.resume(), steps):
        loss = loss_of(text.batch(step, batch_size, device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 10 == 0:
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            mean = mean.item() / dist.get_world_size()
            say(f"step {step} loss {mean:.3f} after {time.monotonic() - began:.0f} s")
        checkpoints.save_if_due(step + 1, device)
    checkpoints.save(steps)
    dist.destroy_process_group()
