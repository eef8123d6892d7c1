"""Lower: the scripts of the way up and down, what nodes run when they are set up, and the page about all of it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainyard.extensions.parallelcluster.bootstrap.plan import SlurmBootstrap
from trainyard.output import Artifact
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan

FOLDER = "bootstrap"
_SCRIPTS = ("up", "down", "data")
_OF_NODES = ("head-node", "compute-node", "accept", "jobs")
"""What nodes run: the bootstrap puts them into the bucket of scripts."""


def lower(plan: Plan) -> Iterator[Artifact]:
    """No job, pool or storage stands in them, so that they are the same in every branch."""
    boot = plan.one(SlurmBootstrap)
    if boot is None:
        return
    yield _text(boot, f"{FOLDER}/README.md", "README.md.j2", "markdown")
    for name in _SCRIPTS:
        yield _text(boot, f"{FOLDER}/{name}.sh", f"{name}.sh.j2", "shell")
    for name in _OF_NODES:
        yield _text(boot, f"{FOLDER}/nodes/{name}.sh", f"{name}.sh.j2", "shell")


def _text(boot: SlurmBootstrap, path: str, template: str, kind: str) -> Artifact:
    package = "trainyard.extensions.parallelcluster.bootstrap"
    return Artifact(
        path=path, at=boot.at, text=partial(rendered, package, template, boot=boot), format=kind
    )
