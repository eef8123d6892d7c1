"""Who has access to the cluster: administrators and teams."""

from __future__ import annotations

import re
from hashlib import sha256

from trainyard.core.teams.spec import Namespace, NamespacesSection
from trainyard.eks.cluster.plan import AccessEntry
from trainyard.eks.settings.spec import ClusterSection
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

ADMIN_POLICY = "arn:{}:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy"


def short_name(arn: str) -> str:
    """A name of letters, digits and dashes for a principal; a digest makes two that read the same different."""
    _, _, name = arn.rpartition("/")
    plain = re.sub(r"[^A-Za-z0-9]+", "-", name)
    words = plain[:40].strip("-")
    digest = sha256(arn.encode()).hexdigest()[:6]
    return f"{words}-{digest}"


def groups_of(namespace: Namespace) -> tuple[str, ...]:
    """The Kubernetes groups that may see what is in a namespace: the one that it names, and one for each principal.

    A principal has a group of its own because EKS has one entry a principal: with a group for each of its namespaces
    the entry would be another one with each namespace that takes it.
    """
    own = tuple(_own_group(arn) for arn in namespace.principals)
    if namespace.group is None:
        return own
    return (namespace.group, *own)


def _own_group(arn: str) -> str:
    return f"trainyard:{short_name(arn)}"


def access_entries(context: Context) -> tuple[AccessEntry, ...]:
    """One entry a principal, since EKS takes no second (EKS user guide, creating access entries)."""
    admin_policy = ADMIN_POLICY.format(context.partition)
    admins = ClusterSection.of(context.spec).eks.admins
    groups: dict[str, set[str]] = {arn: set() for arn in admins}
    for namespace in NamespacesSection.of(context.spec).namespaces:
        for arn in namespace.principals:
            of_principal = groups.setdefault(arn, set())
            of_principal.add(_own_group(arn))
            if namespace.group is not None:
                of_principal.add(namespace.group)
    places = _places(context)
    entries = []
    for arn in sorted(groups):
        entry = AccessEntry(
            arn,
            policy=admin_policy if arn in admins else None,
            groups=tuple(sorted(groups[arn])),
            at=places[arn],
        )
        entries.append(entry)
    return tuple(entries)


def _places(context: Context) -> dict[str, Route]:
    """Where the spec names each principal first."""
    places: dict[str, Route] = {}
    admins = SPEC / ("platform", "eks", "admins")
    of_cluster = ClusterSection.of(context.spec).eks.admins
    for index, arn in enumerate(of_cluster):
        places.setdefault(arn, admins / index)
    declared = NamespacesSection.of(context.spec).namespaces
    for number, namespace in enumerate(declared):
        principals = SPEC / ("namespaces", number, "principals")
        for index, arn in enumerate(namespace.principals):
            places.setdefault(arn, principals / index)
    return places
