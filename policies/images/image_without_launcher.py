from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.images import facts_of
from trainyard.judge.model.command import program
from trainyard.judge.model.images import runs
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_LAUNCHERS = ("torchrun", "hyperpodrun", "deepspeed", "accelerate", "mpirun", "tune")


@rule("RUN145", pods=True, roles=True)
def image_without_launcher(work: Work) -> Iterator[Finding]:
    """A job starts torchrun, or another launcher, in an image with nothing but an operating system.

    Official images like `ubuntu`, `alpine` and `python` (docker-library/official-images) have no PyTorch and no MPI:
    containers end with `executable file not found`, on every node, after all nodes were launched.

    ## Fails

        jobs: [{name: llama, image: "alpine:3.20", command: [torchrun, train.py]}]

    ## Passes

        jobs: [{name: llama, image: "registry.test/train:1.0", command: [torchrun, train.py]}]

        jobs: [{name: llama, image: "python:3.12", command: [bash, -c, "pip install torch==2.8.0 && torchrun t.py"]}]

        jobs: [{name: llama, nodes: 1, image: "ubuntu:24.04", command: [bash, -c, "apt-get install -y x && x"]}]
    """
    node, image = runs(work)
    facts = facts_of(image)
    alone = facts is not None and facts.alone
    name = program(work.words)
    if name in _LAUNCHERS and alone:
        yield Finding(
            f"image `{image}` of {work.title} has no `{name}`",
            node.where("image"),
            label="no container starts",
            help="write an image with PyTorch, like one of AWS' Deep Learning Containers",
        )
