"""Lifts pod templates and their parts, for every kind that has them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from trainyard.core.pods.plan import (
    MISSPELT,
    Container,
    EnvVar,
    Misspelt,
    Mount,
    Pod,
    Resources,
    Volume,
)
from trainyard.language.units import Quantity
from trainyard.lift.reader import Places, Reader, as_text, unread
from trainyard.output.body import value_at
from trainyard.output.manifest import placeholder
from trainyard.plan.scheduling import NODEPOOL_LABEL, POOL_LABEL, Requirement, Taint, Toleration

_SOURCES = {"persistentVolumeClaim": "claimName", "hostPath": "path", "secret": "secretName"}


def taints(values: Reader) -> tuple[Taint, ...]:
    """core/v1 Taints."""
    return tuple(map(_taint, values.items()))


def _taint(body: Reader) -> Taint:
    return Taint((body / "key").word(), (body / "value").word(), (body / "effect").word())


def tolerations(values: Reader) -> tuple[Toleration, ...]:
    """core/v1 Tolerations."""
    return tuple(map(_toleration, values.items()))


def _toleration(body: Reader) -> Toleration:
    return Toleration(
        (body / "key").word(),
        (body / "operator").text() or "Equal",
        (body / "value").word(),
        (body / "effect").word(),
        (body / "tolerationSeconds").integer(),
    )


_HOSTNAME = "kubernetes.io/hostname"
_POOL_LABELS = {
    (NODEPOOL_LABEL, "In"),
    (NODEPOOL_LABEL, "DoesNotExist"),
    (POOL_LABEL, "In"),
    (POOL_LABEL, "DoesNotExist"),
}
PoolTerm = tuple[Requirement, ...]


def _required_nodes(spec: Reader) -> tuple[tuple[PoolTerm, ...], tuple[str, ...]] | None:
    """The pools to one of which required node affinity leads, by its terms about their labels, and the hosts that it
    keeps a pod from; ``None`` if it says anything else as well."""
    required = spec.follow("affinity", "nodeAffinity", _REQUIRED)
    pools: list[PoolTerm] = []
    hosts: set[tuple[str, ...]] = set()
    for term in (required / "nodeSelectorTerms").items():
        read = _read_term(term)
        if read is None:
            return None
        about_pools, excluded = read
        pools.append(about_pools)
        hosts.add(excluded)
    if len(hosts) != 1:
        return None
    if not any(pools):
        return (), hosts.pop()
    if not all(pools):
        return None
    return tuple(pools), hosts.pop()


def _read_term(term: Reader) -> tuple[PoolTerm, tuple[str, ...]] | None:
    """One node selector term: what it says of pools, and the hosts that it leaves out."""
    if set(term.mapping()) != {"matchExpressions"}:
        return None
    pools: list[Requirement] = []
    hosts: tuple[str, ...] = ()
    for expression in (term / "matchExpressions").items():
        key = (expression / "key").word()
        operator = (expression / "operator").word()
        values = (expression / "values").texts()
        if any(map(placeholder, values)):
            return None
        if key == _HOSTNAME and operator == "NotIn" and not hosts:
            hosts = values
        elif (key, operator) in _POOL_LABELS:
            pools.append(Requirement(key, operator, values))
        else:
            return None
    if not pools and not hosts:
        return None
    return tuple(pools), hosts


# What pods may have and the plan has no field for, by the name under which rules look for it.
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_UNREAD = {
    "host_ipc": ("hostIPC",),
    "node_affinity": ("affinity", "nodeAffinity", _REQUIRED),
    "node_preference": (
        "affinity",
        "nodeAffinity",
        "preferredDuringSchedulingIgnoredDuringExecution",
    ),
    "pod_affinity": ("affinity", "podAffinity", _REQUIRED),
}


_POD_PLACES = {
    "tolerations": ("spec", "tolerations"),
    "volumes": ("spec", "volumes"),
    "node_selector": ("spec", "nodeSelector"),
    "restart_policy": ("spec", "restartPolicy"),
    "grace_seconds": ("spec", "terminationGracePeriodSeconds"),
    "annotations": ("metadata", "annotations"),
    "labels": ("metadata", "labels"),
    "containers": ("spec", "containers"),
    "host_network": ("spec", "hostNetwork"),
    "init_containers": ("spec", "initContainers"),
    "excluded_nodes": ("spec", "affinity"),
    "pools": ("spec", "affinity"),
}


def pod(template: Reader) -> Pod:
    """A PodTemplateSpec, or the like of it in a patch."""
    spec = template / "spec"
    metadata = template / "metadata"
    required = _required_nodes(spec)
    paths = _UNREAD.items()
    unread = {name for name, path in paths if spec.follow(*path)}
    pools: tuple[PoolTerm, ...] = ()
    excluded: tuple[str, ...] = ()
    if required is not None:
        pools, excluded = required
        unread.discard("node_affinity")
    return Pod(
        at=template.at,
        unread=frozenset(unread),
        origins=Places(template.at, _POD_PLACES),
        containers=tuple(map(container, (spec / "containers").items())),
        node_selector=(spec / "nodeSelector").strings(),
        tolerations=tolerations(spec / "tolerations"),
        volumes=tuple(map(_volume, (spec / "volumes").items())),
        restart_policy=(spec / "restartPolicy").text(),
        grace_seconds=(spec / "terminationGracePeriodSeconds").integer(),
        service_account=(spec / "serviceAccountName").text(),
        priority_class=(spec / "priorityClassName").text(),
        host_network=bool((spec / "hostNetwork").flag()),
        labels=(metadata / "labels").strings(),
        annotations=(metadata / "annotations").strings(),
        init_containers=tuple(map(container, (spec / "initContainers").items())),
        excluded_nodes=excluded,
        pools=pools,
        pull_secrets=tuple(map(_name, (spec / "imagePullSecrets").items())),
        fs_group=spec.follow("securityContext", "fsGroup").integer(),
    )


def _name(body: Reader) -> str:
    return (body / "name").word()


_CONTAINER_PLACES = {
    "env": ("env",),
    "requests": ("resources", "requests"),
    "limits": ("resources", "limits"),
    "mounts": ("volumeMounts",),
    "command": ("command",),
    "args": ("args",),
    "image": ("image",),
    "privileged": ("securityContext", "privileged"),
    "pre_stop": ("lifecycle", "preStop"),
}


def container(body: Reader) -> Container:
    """core/v1 Container."""
    resources = body / "resources"
    security = body / "securityContext"
    hook = body.follow("lifecycle", "preStop")
    command = hook.follow("exec", "command").texts()
    requests = resources / "requests"
    limits = resources / "limits"
    unknown = unread(requests=requests, limits=limits, claims=resources / "claims")
    if hook and not command:
        unknown |= {"pre_stop"}
    requested, limited = requests.quantities(), limits.quantities()
    return Container(
        at=body.at,
        name=_name(body),
        image=(body / "image").text(),
        restart_policy=(body / "restartPolicy").text(),
        unread=unknown,
        pre_stop=command,
        origins=Places(body.at, _CONTAINER_PLACES),
        command=(body / "command").texts(),
        args=(body / "args").texts(),
        env=env(body / "env"),
        requests=as_meant(requested),
        limits=as_meant(limited),
        misspelt=misspelt(requests=requested, limits=limited),
        mounts=tuple(map(_mount, (body / "volumeMounts").items())),
        capabilities=security.follow("capabilities", "add").texts(),
        privileged=bool((security / "privileged").flag()),
        run_as_user=(security / "runAsUser").integer(),
        working_dir=(body / "workingDir").word(),
    )


def as_meant(amounts: Resources) -> Resources:
    """Amounts with the right names of devices for those that people write, so that a pod counts as what it asks for."""
    if amounts.keys().isdisjoint(MISSPELT):
        return amounts
    meant: dict[str, Quantity] = {}
    for name, amount in amounts.items():
        meant.setdefault(MISSPELT.get(name, name), amount)
    return meant


def misspelt(**fields: Resources) -> Misspelt:
    """The names of devices that no plugin offers, as they are written, each with the field that it is in."""
    names: list[tuple[str, str]] = []
    for field, amounts in fields.items():
        if not MISSPELT.keys().isdisjoint(amounts):
            names += [(field, name) for name in amounts if name in MISSPELT]
    return tuple(names)


def _mount(body: Reader) -> Mount:
    return Mount(
        _name(body),
        (body / "mountPath").word(),
        bool((body / "readOnly").flag()),
        (body / "subPath").word(),
    )


def env(values: Reader) -> tuple[EnvVar, ...]:
    """core/v1 EnvVars."""
    return tuple(map(_variable, values.mappings()))


def _variable(body: dict[str, Any]) -> EnvVar:
    name = as_text(body.get("name")) or ""
    value = as_text(body.get("value"))
    source = body.get("valueFrom")
    if source is None:
        return _literal(name, value)
    secret = value_at(source, "secretKeyRef")
    if secret is not None:
        return EnvVar(
            name, None, as_text(value_at(secret, "name")), as_text(value_at(secret, "key"))
        )
    path = as_text(value_at(source, "fieldRef", "fieldPath"))
    if path is not None:
        return EnvVar(name, pod_field=path)
    return _literal(name, value)


@lru_cache(maxsize=4096)
def _literal(name: str, value: str | None) -> EnvVar:
    """A variable with a value: most jobs of a set have the same."""
    return EnvVar(name, value)


def _volume(body: Reader) -> Volume:
    keys = [key for key, _ in body.entries()]
    kinds = [key for key in keys if key != "name"]
    kind = kinds[0] if kinds else ""
    name = _name(body)
    source = body / kind
    if kind == "emptyDir":
        size = (source / "sizeLimit").quantity()
        return Volume(name, kind, "", (source / "medium").word(), size)
    if kind == "ephemeral":
        spec = source.follow("volumeClaimTemplate", "spec")
        size = spec.follow("resources", "requests", "storage").quantity()
        return Volume(name, kind, (spec / "storageClassName").word(), size=size)
    field = _SOURCES.get(kind, "name")
    what = (source / field).word()
    if kind == "hostPath":
        return Volume(name, kind, what, host_type=(source / "type").word())
    return Volume(name, kind, what)
