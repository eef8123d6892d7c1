"""Who may do what in the cluster: service accounts, roles and their bindings."""

from __future__ import annotations

from dataclasses import field

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount(PlanItem):
    """A ServiceAccount of training pods, or of Flux; it mounts no token. ``prune``: whether Flux deletes it when it
    leaves git; ``folder``: where it is written."""

    name: str
    namespace: str
    automount: bool = False
    prune: bool = True
    folder: str = field(default="platform", compare=False)


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """A rule of a Role or ClusterRole; ``names`` are the objects that it is about, all without."""

    groups: tuple[str, ...]
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """Whom a binding is for: a Group or ServiceAccount."""

    kind: str
    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Access(PlanItem):
    """A role and its binding of the same name; cluster-wide where ``namespace`` is empty. ``prune``: whether Flux
    deletes both when they leave git; ``folder``: where both are written."""

    name: str
    namespace: str
    rules: tuple[PolicyRule, ...]
    subjects: tuple[Subject, ...]
    prune: bool = True
    folder: str = field(default="platform", compare=False)
