from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.model.command import program
from compiler.model.images import runs
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule

_BARE = re.compile(
    r"(?:(?:docker\.io/)?(?:library/)?|public\.ecr\.aws/docker/library/)"
    r"(?:alpine|busybox|hello-world|scratch|ubuntu|debian|amazonlinux|fedora|rockylinux|bash|nginx|redis|node|golang)(?=[:@])"
)
_LAUNCHERS = ("torchrun", "deepspeed", "accelerate", "mpirun", "tune")


@rule("RUN145", pods=True)
def image_without_launcher(work: Work) -> Iterator[Finding]:
    """A job starts torchrun, or another launcher, in an image of an operating system alone.

    Official images like `ubuntu` and `alpine` (docker-library/official-images) have no PyTorch and no MPI: containers
    end with `executable file not found`, on every node, after all nodes were launched.

    ## Fails

        jobs: [{name: llama, image: "alpine:3.20", command: [torchrun, train.py]}]

    ## Passes

        jobs: [{name: llama, image: "registry.test/train:1.0", command: [torchrun, train.py]}]

        jobs: [{name: llama, nodes: 1, image: "ubuntu:24.04", command: [bash, -c, "apt-get install -y x && x"]}]
    """
    node, image = runs(work)
    name = program(work.words)
    if name in _LAUNCHERS and _BARE.match(image):
        yield Finding(
            f"image `{image}` of {work.title} has no `{name}`",
            node.where("image"),
            label="no container starts",
            help="write an image with PyTorch, like one of AWS' Deep Learning Containers",
        )
