from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule

_FOR_GPUS = r"(^|[-_.])(gpu|cu\d{3}|cuda[\d.]+)($|[-_.])"


@rule("RUN065", severity=Severity.WARNING)
def gpu_image_on_cpu(work: Work) -> Iterator[Finding]:
    """A job on nodes without accelerators runs an image for GPUs.

    The image for CPUs has the same PyTorch in a third of the bytes: every node pulls CUDA and NCCL before the first
    step, and again when it is replaced (AWS Deep Learning Containers, available images: `-gpu-` and `-cpu-`). Found
    where the tag says `gpu` or a version of CUDA, and every type that the job can land on is known.

    ## Fails

        nodePools: [{name: cpu, instanceTypes: [c7i.48xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        queues: [{name: research, namespaces: [team-a], quota: [{pool: cpu, nodes: 4}]}]
        jobs: [{name: llama, pool: cpu, launcher: {mpi: {}}, command: [mpirun, python, t.py],
          image: "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2"}]

    ## Passes

        nodePools: [{name: cpu, instanceTypes: [c7i.48xlarge], zones: [us-west-2b], nodes: {max: 4}}]
        queues: [{name: research, namespaces: [team-a], quota: [{pool: cpu, nodes: 4}]}]
        jobs: [{name: llama, pool: cpu, launcher: {mpi: {}}, command: [mpirun, python, t.py],
          image: "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-cpu-py312-ubuntu22.04-ec2"}]

        jobs: [{name: llama, image: "pytorch/pytorch:2.9.1-cuda13.0-cudnn9-runtime"}]
    """
    node = work if work.image or work.main is None else work.main
    image = (node.image or "").partition("@")[0]
    tag = image.rpartition("/")[2].partition(":")[2]
    types = work.types
    if not types or not re.search(_FOR_GPUS, tag):
        return
    if any(instance.accelerators or instance.accelerator for instance in types):
        return
    yield Finding(
        f"image `{image}` of {work.title} is for GPUs, and `{types[0].name}` has none",
        node.where("image"),
        label="CUDA and NCCL for nothing, on every node",
        help="take the image for CPUs: its tag says `cpu`",
    )
