from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from compiler.diagnostics import Severity
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule
from compiler.subjects.jobs.plan import GPU, NEURON

_OF_AWS = ("763104351884.dkr.ecr.", "public.ecr.aws/deep-learning-containers/")
_NEURON = r"neuron|(^|[-_.:])(trn|inf)\d"
_OTHERS = r"(^|[-_.])(gpu|cpu|cu\d+|cuda[\d.]*)($|[-_.])"
_CPU = r"(^|[-_.:])cpu($|[-_.])"


@rule("RUN037", aliases=("image-of-other-software",), pods=True)
def image_accelerator_mismatch(work: Work) -> Iterator[Finding]:
    """The image of a job does not fit its accelerators or the architecture of its nodes.

    AWS Deep Learning Containers say what they are for: `-gpu-`, `-cpu-` or `-neuronx-` in the tag, `-arm64` in the name
    of the repository (AWS Deep Learning Containers, available images). PyTorch for CPUs finds no GPU and trains on the
    CPU, or ends at once; an image of another architecture ends with `exec format error`. A third-party image whose tag
    says `cpu` is a warning.

    ## Fails

        jobs: [{name: llama, image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.8.0-cpu-py312"}]

        jobs: [{name: llama,
          image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training-neuronx:2.7.0-neuronx-py310-sdk2.24"}]

        jobs: [{name: llama,
          image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training-arm64:2.7.0-gpu-py312"}]

        jobs: [{name: llama, image: "ghcr.io/team/train:1.0-cpu"}]

    ## Passes

        jobs: [{name: llama, image: "763104351884.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:2.8.0-gpu-py312"}]
    """
    node = work if work.image or work.main is None else work.main
    image = node.image or ""
    if not image or work.accelerator is None:
        return
    name = image.partition("@")[0]
    ours = image.startswith(_OF_AWS)
    resource = work.accelerator[0]
    wrong = _software(name, resource)
    if not wrong and ours:
        wrong = _machine(name, work)
    if wrong:
        yield Finding(
            f"image `{image}` of {work.title} {wrong}",
            node.where("image"),
            severity=None if ours else Severity.WARNING,
            help="take the image for these nodes: its tag says `gpu` or `neuronx`, its name `arm64`",
        )


@lru_cache(maxsize=1024)
def _software(name: str, resource: str) -> str:
    """What is wrong between an image and the accelerators that are asked for. Most jobs of a set have the same."""
    path, _, tag = name.rpartition("/")[2].partition(":")
    if resource == GPU and re.search(_NEURON, f"{path}:{tag}"):
        return "is for Neuron devices, and the job asks for GPUs"
    if resource == GPU and "cpu" in tag and re.search(_CPU, tag):
        return "is for CPUs, and the job asks for GPUs"
    if resource == NEURON and re.search(_OTHERS, tag) and not re.search(_NEURON, name):
        return "is for CPUs or GPUs, and the job asks for Neuron devices"
    return ""


def _machine(name: str, work: Work) -> str:
    """What is wrong between a Deep Learning Container and the architecture of the nodes."""
    arches = {instance.arch for instance in work.types}
    wanted = "arm64" if "arm64" in name else "amd64"
    if arches and wanted not in arches:
        return f"is for `{wanted}`, and its nodes are `{min(arches)}`"
    return ""
