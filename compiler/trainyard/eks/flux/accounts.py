"""The service accounts that Flux applies a cluster's folders with: each may write what its folder holds.

A Kustomization without a service account is applied by all rights that there are (kustomize-controller v1.10,
role-based access control). Rights to make roles are no rights to escalate: the API server lets nobody write a role with
rights that they do not have themselves (kubernetes.io, RBAC, privilege escalation prevention), so each account has
those that it hands out. What an account may make depends on no spec: an object that leaves git is deleted by the same
rights. So an account stays in the cluster when its stage leaves git: without it Flux deletes nothing of the stage
(kustomize-controller 1.9.5, which finds no account to impersonate).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainyard.eks.flux.stages import FLUX, account_of
from trainyard.eks.rbac.plan import Access, PolicyRule, ServiceAccount, Subject
from trainyard.language.places import Route
from trainyard.plan.base import PlanItem
from trainyard.plan.context import SPEC

_FOLDER = "flux"  # applied before the stages that need them
READ = ("get", "list", "watch")
_MAKE = (*READ, "create", "update", "patch", "delete")


def may_make(group: str, *resources: str) -> PolicyRule:
    """The right to apply objects, look at them, and delete them when they leave git."""
    return PolicyRule((group,), resources, _MAKE)


def may_read(group: str, *resources: str) -> PolicyRule:
    """The right to look at objects, by which Flux finds whether others are ready."""
    return PolicyRule((group,), resources, READ)


def deliverer(name: str, *rules: PolicyRule, namespace: str = "") -> Iterator[PlanItem]:
    """The account of a stage with its rights, of the whole cluster or of one namespace that is always there."""
    yield ServiceAccount(
        at=SPEC / "flux", name=account_of(name), namespace=FLUX, prune=False, folder=_FOLDER
    )
    yield Access(
        at=SPEC / "flux",
        name=account_of(name),
        namespace=namespace,
        rules=rules,
        subjects=(_subject(name),),
        prune=False,
        folder=_FOLDER,
    )


def deliverer_in(
    namespaces: Mapping[str, Route], name: str, *rules: PolicyRule
) -> Iterator[PlanItem]:
    """The account of a stage that has rights in namespaces of teams and nowhere else."""
    yield ServiceAccount(at=SPEC / "flux", name=account_of(name), namespace=FLUX)
    for namespace, at in namespaces.items():
        yield Access(
            at=at,
            name=account_of(name),
            namespace=namespace,
            rules=rules,
            subjects=(_subject(name),),
        )


def _subject(name: str) -> Subject:
    return Subject("ServiceAccount", account_of(name), FLUX)
