"""Stages: the order in which Flux applies folders."""

from __future__ import annotations

from typing import Any

from trainyard.core.delivery.folder import folder
from trainyard.core.delivery.spec import DeliverySection
from trainyard.eks.flux.plan import Stage
from trainyard.plan.context import SPEC, Context

FLUX = "flux-system"
PREFIX = "trainyard"


def account_of(name: str) -> str:
    """The service account of a stage (``delivery/accounts.py``); none of no stage."""
    if not name:
        return ""
    return f"{PREFIX}-{name}"


def stage(
    context: Context, name: str, *after: str | None, account: str, inside: str = "", **more: Any
) -> Stage:
    """The Kustomization of a folder of the cluster's, which is called like it but for ``inside``; it is applied after
    other ones, by the rights of ``account``: the name of a stage, or empty for all rights that there are."""
    return Stage(
        at=SPEC / "flux",
        name=f"{PREFIX}-{name}",
        namespace=FLUX,
        path=f"./{folder(context)}/{inside or name}",
        source=DeliverySection.of(context.spec).flux.source,
        depends_on=tuple(f"{PREFIX}-{other}" for other in after if other),
        account=account_of(account),
        **more,
    )


def root_stage(context: Context) -> Stage:
    """The Kustomization that people apply: it carries the others."""
    return Stage(
        at=SPEC / "flux",
        name=PREFIX,
        namespace=FLUX,
        path=f"./{folder(context)}/flux",
        source=DeliverySection.of(context.spec).flux.source,
        wait=False,
        root=True,
    )
