"""Lower: the script that makes, changes and removes the nodes of HyperPod, and the page about it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

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
    yield _text(boot, f"{FOLDER}/README.md", "README.md.j2", "markdown")
    for name in ("up", "down"):
        yield _text(boot, f"{FOLDER}/{name}.sh", f"{name}.sh.j2", "shell")


def _text(boot: HyperPodBootstrap, path: str, template: str, kind: str) -> Artifact:
    package = "compiler.platforms.hyperpod.bootstrap"
    return Artifact(
        path=path, at=boot.at, text=partial(rendered, package, template, boot=boot), format=kind
    )
