"""Stages of created file systems: a Kustomization each, into which Flux substitutes the ids that AWS assigned.

Each reads a ConfigMap of its own, which the bootstrap's script writes as a whole, so that a volume is applied with all
of its values or not at all. Of a key that a ConfigMap lacks Flux makes an empty text (fluxcd/pkg/kustomize v1.35.6,
varSubstitution), and a volume's source cannot be changed afterwards: hence one for each file system. The Kustomization
above them never changes with them, and jobs wait for that one alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from trainyard.core.storage.storages import Storage
from trainyard.eks.flux.accounts import deliverer, may_make
from trainyard.eks.flux.stages import FLUX, stage
from trainyard.eks.flux.terminating import of_volumes
from trainyard.eks.volumes.resolve import made_folder
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

FOLDER = "storage"
VOLUMES = "volumes"
"""The account that makes volumes, of what the bootstrap makes and of disks."""


def accounts() -> Iterator[PlanItem]:
    """The accounts of both stages, without storage as well: Flux deletes volumes that leave git by their rights."""
    yield from deliverer(VOLUMES, may_make("", "persistentvolumes", "persistentvolumeclaims"))
    yield from deliverer(
        FOLDER, may_make("kustomize.toolkit.fluxcd.io", "kustomizations"), namespace=FLUX
    )


def stages(context: Context, storages: Iterable[Storage]) -> Iterator[PlanItem]:
    """The stage of all made file systems that are mounted, and in it one for each."""
    yield stage(context, FOLDER, "platform", account=FOLDER)
    for storage in storages:
        name = f"{FOLDER}-{storage.spec.name}"
        made = stage(
            context,
            name,
            account=VOLUMES,
            inside=made_folder(storage.spec.name),
            values=(f"trainyard-{name}",),
            folder=FOLDER,
            health=of_volumes(),
        )
        settings = ("v1", "ConfigMap", FLUX, made.values[0])
        context.external.add(settings)
        yield made
