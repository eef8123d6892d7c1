from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity

Version = tuple[int, int]

# The CUDA version that first compiles for an accelerator (CUDA Toolkit release notes 11.0, 11.8, 12.8); code for a
# compute capability runs on later ones of the same major version (CUDA programming guide, binary compatibility).
_NEEDS: dict[str, Version] = {
    "A100": (11, 0),
    "A10G": (11, 0),
    "L4": (11, 0),
    "L40S": (11, 0),
    "H100": (11, 8),
    "H200": (11, 8),
    "B200": (12, 8),
    "B300": (12, 8),
    "GB200": (12, 8),
    "RTX PRO 4500": (12, 8),
    "RTX PRO Server 6000": (12, 8),
}
# By release of NVIDIA's containers (NVIDIA Deep Learning frameworks, support matrix), newest first.
_CUDA_OF_RELEASE: tuple[tuple[Version, Version], ...] = (
    ((25, 1), (12, 8)),
    ((22, 9), (11, 8)),
    ((20, 6), (11, 0)),
)
_RELEASE = r"nvcr\.io/nvidia/(?:pytorch|nemo|jax|tensorflow):([0-9]{2})\.([0-9]{2})\b"
_TAG = r"[-_.](?:cuda(1[0-9])\.([0-9]+)|cu(1[0-9])([0-9]))(?![0-9])"


@rule("RUN076", severity=Severity.WARNING, params={"months": 24}, pods=True, roles=True)
def image_older_than_accelerators(work: Work, world: World) -> Iterator[Finding]:
    """The image of a job is older than its accelerators, or years old.

    Libraries of a CUDA version have code for the accelerators of their time: PyTorch for CUDA 12.1 on a B200 ends with
    "no kernel image is available for execution on the device" (CUDA Toolkit release notes: Hopper since 11.8,
    Blackwell since 12.8). Read from tags (`cu129`, `cuda12.8`), and from the month of NVIDIA's containers; of those
    that are older than `months` it is a note.

    ## Fails

        # params: {months: 600}
        jobs: [{name: llama, pool: new, nodes: 1, image: "docker.io/pytorch/pytorch:2.3.1-cuda12.1-cudnn8-devel",
          resources: {accelerators: 8}}]
        nodePools: [{name: gpu, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: {max: 4}},
          {name: new, instanceTypes: [p6-b200.48xlarge], zones: [us-west-2b], nodes: {max: 1}}]
        queues: [{name: research, namespaces: [team-a], quota: [{pool: gpu, nodes: 4}, {pool: new, nodes: 1}]}]

        # params: {months: 12}
        jobs: [{name: llama, image: "nvcr.io/nvidia/pytorch:23.10-py3"}]

    ## Passes

        # params: {months: 600}
        jobs: [{name: llama, image: "nvcr.io/nvidia/pytorch:23.10-py3"}]

        jobs: [{name: llama, image: "nvcr.io/nvidia/pytorch:26.06-py3"}]
    """
    node = work if work.image or work.main is None else work.main
    image = (node.image or "").partition("@")[0]
    if not image or not work.is_accelerated:
        return
    has = _cuda(image)
    accelerators = [instance.accelerator or "" for instance in work.types]
    newest = max(accelerators, key=_needed, default="")
    needs = _needed(newest)
    if has is not None and has < needs:
        wrong = f"has CUDA {_text(has)}, and `{newest}` needs {_text(needs)}"
        if _release(image):
            wrong = f"is older than CUDA {_text(needs)}, which `{newest}` needs"
        yield Finding(
            f"image `{image}` of {work.title} {wrong}",
            node.where("image"),
            label="its libraries have no code for this accelerator",
            help=f"take an image with CUDA {_text(needs)} or later",
        )
        return
    age = _months(image, world)
    if age > world.param("months"):
        yield Finding(
            f"image `{image}` of {work.title} is {age} months old",
            node.where("image"),
            help="take a later release of the container",
            severity=Severity.NOTE,
        )


def _needed(accelerator: str) -> Version:
    return _NEEDS.get(accelerator, (0, 0))


@lru_cache(maxsize=256)
def _cuda(image: str) -> Version | None:
    """The CUDA version of an image, as far as its tag says it: of NVIDIA's containers the latest of ``_NEEDS``."""
    release = _release(image)
    if release is not None:
        month = int(release[1]), int(release[2])
        known = [cuda for since, cuda in _CUDA_OF_RELEASE if month >= since]
        return known[0] if known else (10, 0)
    tag = re.search(_TAG, image.rpartition("/")[2])
    if tag is None:
        return None
    major = tag[1] or tag[3]
    minor = tag[2] or tag[4]
    return int(major), int(minor)


@lru_cache(maxsize=256)
def _release(image: str) -> re.Match[str] | None:
    if not image.startswith("nvcr.io/"):
        return None
    return re.match(_RELEASE, image)


def _months(image: str, world: World) -> int:
    """The age of a container of NVIDIA in months; 0 of others, and where the day is not known."""
    release = _release(image)
    if release is None or world.today.year < 2000:
        return 0
    years = world.today.year - 2000 - int(release[1])
    return years * 12 + world.today.month - int(release[2])


def _text(version: Version) -> str:
    return f"{version[0]}.{version[1]}"
