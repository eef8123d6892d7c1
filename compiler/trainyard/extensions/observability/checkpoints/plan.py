"""Checkpoints: what watches the folders to which jobs save."""

from __future__ import annotations

from trainyard.core.jobs.plan import SaveWatcher
from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointProgram(PlanItem):
    """The program of the exporters of a namespace."""

    name: str
    namespace: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointExporter(SaveWatcher):
    """A Deployment that says when ``job`` saved last: a pod on the system's nodes that mounts ``claim`` to read.

    ``folder``: that of the checkpoints, from the top of the storage. ``sized``: the storage has a size, which it says
    too. ``every``: the seconds between two saves, and ``look`` those between two looks. ``system``: the node group that
    it is bound to, where it is one. ``cpu`` and ``memory``: what it requests (milli-cores, MiB).
    """

    name: str
    image: str
    claim: str
    folder: str
    sized: bool
    every: int
    look: int
    port: int
    system: str
    cpu: int
    memory: int
