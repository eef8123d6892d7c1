"""Lower: the script that makes, changes and removes the nodes of HyperPod, and the page about it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from trainyard.core.cloud.plan import TerraformState
from trainyard.extensions.hyperpod.bootstrap.plan import HyperPodBootstrap
from trainyard.output import Artifact
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan

FOLDER = "bootstrap/hyperpod"


def lower(plan: Plan) -> Iterator[Artifact]:
    """No pool stands in them, so that they are the same in every branch."""
    boot = plan.one(HyperPodBootstrap)
    if boot is None:
        return
    terraform = plan.one(TerraformState) is not None
    package = "trainyard.extensions.hyperpod.bootstrap"
    for name, kind in (("README.md", "markdown"), ("up.sh", "shell"), ("down.sh", "shell")):
        text = partial(rendered, package, f"{name}.j2", boot=boot, terraform=terraform)
        yield Artifact(path=f"{FOLDER}/{name}", at=boot.at, text=text, format=kind)
