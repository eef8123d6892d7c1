"""Lower: the script that makes, changes and removes the nodes of HyperPod, and the page about it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from compiler.core.cloud.plan import TerraformState
from compiler.lowering.text import rendered
from compiler.output import Artifact
from compiler.plan import Plan
from compiler.platforms.hyperpod.bootstrap.plan import HyperPodBootstrap

FOLDER = "bootstrap/hyperpod"


def lower(plan: Plan) -> Iterator[Artifact]:
    """No pool stands in them, so that they are the same in every branch."""
    boot = plan.one(HyperPodBootstrap)
    if boot is None:
        return
    terraform = plan.one(TerraformState) is not None
    package = "compiler.platforms.hyperpod.bootstrap"
    for name, kind in (("README.md", "markdown"), ("up.sh", "shell"), ("down.sh", "shell")):
        text = partial(rendered, package, f"{name}.j2", boot=boot, terraform=terraform)
        yield Artifact(path=f"{FOLDER}/{name}", at=boot.at, text=text, format=kind)
