"""Stages: which folder Flux applies after which."""

from __future__ import annotations

from typing import Any

from compiler.resolve.context import SPEC, Context
from compiler.subjects.delivery.plan import Stage

FLUX = "flux-system"
PREFIX = "trainyard"


def folder(context: Context) -> str:
    """The cluster's folder in the repository."""
    return context.spec.flux.path or f"{context.output}/{context.name}"


def stage(context: Context, name: str, after: str | None, **more: Any) -> Stage:
    """The Kustomization of a folder of the cluster's, applied after another one."""
    return Stage(
        at=SPEC / "flux",
        name=f"{PREFIX}-{name}",
        namespace=FLUX,
        path=f"./{folder(context)}/{name}",
        source=context.spec.flux.source,
        depends_on=(f"{PREFIX}-{after}",) if after else (),
        **more,
    )


def root_stage(context: Context) -> Stage:
    """The Kustomization that people apply: it carries the others."""
    return Stage(
        at=SPEC / "flux",
        name=PREFIX,
        namespace=FLUX,
        path=f"./{folder(context)}/flux",
        source=context.spec.flux.source,
        wait=False,
        root=True,
    )
