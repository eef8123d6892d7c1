from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.pods.plan import GPU
from trainyard.judge.model.images import known, runs
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("RUN120", pods=True, roles=True)
def image_without_efa_plugin(work: Work, world: World) -> Iterator[Finding]:
    """The image of a job that talks over EFA is known to have no EFA plugin.

    NCCL talks over EFA by the plugin aws-ofi-nccl and libfabric of the image (EC2 user guide, efa-start-nccl); nodes
    have only the driver. With `NCCL_NET: AWS Libfabric` NCCL stops without it, and otherwise it uses TCP, many times
    slower. Images that are known, with the source of each: `catalog/data/images.json`. PyTorch's and Ray's of
    Docker Hub have none, nor has `nvcr.io/nvidia/pytorch:26.06-py3` (NVIDIA-NeMo/Megatron-Bridge PR 5033). Of an image
    that is built here its recipe counts. A command that installs the plugin, a mount at its place, and
    `NCCL_NET_PLUGIN` by hand are believed.

    ## Fails

        jobs: [{name: llama, image: "docker.io/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime"}]

        jobs: [{name: llama, image: "nvcr.io/nvidia/pytorch:26.06-py3"}]

        jobs: [{name: llama,
          image: "111122223333.dkr.ecr.us-west-2.amazonaws.com/docker-hub/rayproject/ray:2.49.0-gpu"}]

        jobs: [{name: llama, image: "docker.io/rayproject/ray-ml:2.40.0-py310-gpu", kind: RayJob,
          command: [python, train.py], nodes: 4}]

    ## Passes

        jobs: [{name: llama, image: "nvcr.io/nvidia/pytorch:25.06-py3"}]

        jobs: [{name: llama, nodes: 1, image: "docker.io/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime"}]

        jobs: [{name: llama, image: "docker.io/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-devel",
          command: [bash, -c, "./efa_installer.sh -y -g --skip-kmod && exec torchrun train.py"]}]

        jobs: [{name: llama,
          image: "111122223333.dkr.ecr.us-west-2.amazonaws.com/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime"}]

        jobs: [{name: llama, image: "docker.io/pytorch/pytorch:2.9.1-cuda12.8-cudnn9-runtime", env: {NCCL_NET: Socket}}]
    """
    talks = work.gang and work.efa
    if not talks or work.accelerator is None or work.accelerator[0] != GPU:
        return
    node, image = runs(work)
    facts = known(world.plan, image)
    if facts is None or facts.efa is not False or facts.devices == "cpu":
        return  # RUN037 reports an image for CPUs
    if _brought(work):
        return
    yield Finding(
        f"image `{image}` of {work.title} has no EFA plugin, and its {work.largest} nodes talk over EFA",
        node.where("image"),
        label="NCCL stops, or talks over TCP",
        help="take an image with libfabric and aws-ofi-nccl, like a Deep Learning Container of AWS "
        "(`public.ecr.aws/deep-learning-containers/pytorch-training`), or run the EFA installer when it is built",
        spec_help=_spec_help(work),
        notes=(f"known by {facts.source}",),
    )


def _spec_help(work: Work) -> str:
    """What to write in a spec; clusters of Slurm build no images."""
    images = "a Deep Learning Container of AWS"
    if work.has_pods:
        images += ", or one of `images:` with `efaInstaller`"
    return f"write `image:` with one that brings libfabric and aws-ofi-nccl: {images}; or take one node"


_INSTALLS = ("efa_installer", "aws-ofi-nccl", "aws_ofi_nccl", "libnccl-ofi")
_PLACES = ("/opt/amazon", "/opt/aws-ofi-nccl")
_OTHER_NETS = ("socket", "ib")


def _brought(work: Work) -> bool:
    """Whether a job brings the plugin itself, or uses none."""
    if "NCCL_NET_PLUGIN" in work.env:
        return True
    net = work.env.get("NCCL_NET") or ""
    if net.lower() in _OTHER_NETS:
        return True
    if any(name in word for word in work.words for name in _INSTALLS):
        return True
    return any(folder.path.startswith(_PLACES) for folder in work.folders)
