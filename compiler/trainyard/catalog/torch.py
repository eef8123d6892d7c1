"""What torchrun does when its pod is stopped, and which PyTorch version an image's tag names.

On SIGTERM torchrun passes the signal on to its ranks, waits, and kills those that still run. It waits 30 seconds,
regardless of the pod's grace period. PyTorch 2.12 reads another number from ``TORCH_ELASTIC_SHUTDOWN_TIMEOUT`` or
``--shutdown-timeout`` (torch/distributed/launcher/api.py and elastic/agent/server/api.py of the wheels torch 2.11.0,
which has neither, and 2.12.0; pytorch/pytorch#172596).
"""

from __future__ import annotations

import re

SHUTDOWN_TIMEOUT = "TORCH_ELASTIC_SHUTDOWN_TIMEOUT"
SHUTDOWN_OPTION = "shutdown-timeout"
SHUTDOWN_SINCE = (2, 12)
SHUTDOWN_SECONDS = 30

# The first with torchrun (PyTorch 1.10, torch.distributed.run), and a major version of which there is none yet.
OLDEST, AFTER_NEWEST = (1, 10), (3, 0)

# AWS Deep Learning Containers (`pytorch-training:2.8.0-gpu-py312-…`) and Docker Hub's `pytorch/pytorch:2.8.0-cuda…`.
# NVIDIA's tags (`nvcr.io/nvidia/pytorch:24.12-py3`) are dates.
_NAMED = (
    r"(?:^|/)(?:pytorch/pytorch|(?:huggingface-)?pytorch-(?:training|inference)(?:-arm64|-neuronx)?)"
    r":(\d+)\.(\d+)\.\d+-(?:cpu|gpu|cuda|neuronx|transformers)"
)


def torch_of(image: str) -> tuple[int, int] | None:
    """Major and minor version of the PyTorch in an image; ``None`` where its tag does not say it."""
    version = re.search(_NAMED, image)
    if version is None:
        return None
    return int(version[1]), int(version[2])
