"""Pod specs: what the API server's own code refuses (k8s.io/kubernetes v1.36, pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from trainyard.core.pods.plan import MISSPELT
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.words import with_article
from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body
from trainyard.verify.amounts import amount as exact
from trainyard.verify.fault import Fault, Path, nearest, refused

Amounts = tuple[tuple[str, Any], ...]

_OPERATORS = ("Equal", "Exists", "Lt", "Gt")
"""Of tolerations; the last two are behind a gate (Kubernetes 1.35)."""
_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})


def pod_spec(
    path: Path, spec: Any, *, job: bool = False, volumes: AbstractSet[str] = frozenset()
) -> Iterator[Fault]:
    """Faults of a pod spec at a path. ``job``: its restart policy must be one that a Job allows."""
    declared = mappings_at(spec, "volumes")
    own_volumes = {volume.get("name") for volume in declared}
    seen: dict[str, Path] = {}
    for field in ("initContainers", "containers"):
        for index, container in enumerate(mappings_at(spec, field)):
            here = (*path, field, index)
            name = str(container.get("name"))
            yield from _name(here, name, seen)
            yield from _mounts(here, container, own_volumes | volumes)
            yield from _unsaid(here, container)
            place = (*here, "resources")
            yield from resources(place, container.get("resources"))
    if job and value_at(spec, "restartPolicy") in (None, "", "Always"):
        message = "a Job's pods cannot have restart policy `Always`"
        yield refused((*path, "restartPolicy"), message, "use `Never` or `OnFailure`")
    taints = mappings_at(spec, "tolerations")
    yield from tolerations((*path, "tolerations"), taints)


_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_HANDLERS = ("httpGet", "tcpSocket", "grpc", "exec")
_SOURCES = ("configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef")
_SETS = ("configMapRef", "secretRef")


def _unsaid(path: Path, container: Mapping[str, Any]) -> Iterator[Fault]:
    """What does not say what it is about: probes, and variables from elsewhere."""
    parts: list[tuple[Path, Any, tuple[str, ...]]] = [
        ((*path, probe), container.get(probe), _HANDLERS) for probe in _PROBES
    ]
    for index, variable in enumerate(mappings_at(container, "env")):
        place = (*path, "env", index, "valueFrom")
        parts.append((place, variable.get("valueFrom"), _SOURCES))
    for index, variables in enumerate(mappings_at(container, "envFrom")):
        parts.append(((*path, "envFrom", index), variables, _SETS))
    for place, part, choices in parts:
        if isinstance(part, dict) and all(part.get(choice) is None for choice in choices):
            yield refused(place, f"none of {listed(choices)} is given", "write one")


def template(
    path: Path,
    template: Any,
    *,
    job: bool = False,
    selector: Any = None,
    volumes: AbstractSet[str] = frozenset(),
) -> Iterator[Fault]:
    """Faults of a pod template; ``selector`` is the label selector that must match its labels, if there is one."""
    if not isinstance(template, dict):
        return  # the schema has its own fault
    spec = template.get("spec") or {}
    if not spec:
        yield refused((*path, "spec"), "pods without a container", "write `containers:`")
    yield from pod_spec((*path, "spec"), spec, job=job, volumes=volumes)
    labels = value_at(template, "metadata", "labels") or {}
    wanted = value_at(selector, "matchLabels") or {}
    for key, value in wanted.items():
        if labels.get(key) != value:
            got = "does not have it"
            if key in labels:
                got = f"has `{labels[key]}`"
            yield refused(
                ("spec", "selector", "matchLabels", key),
                f"selector requires `{key}: {value}`, the template {got}",
                help=f"add the label `{key}: {value}` to the template",
            )


def always_restarted(
    body: Body, kind: str, volumes: AbstractSet[str] = frozenset()
) -> Iterator[Fault]:
    """Faults of an object of apps/v1: its selector, and its pods, which Kubernetes always restarts. ``volumes``: of
    its claims."""
    path = ("spec", "template")
    selector = value_at(body, "spec", "selector")
    if isinstance(selector, dict) and not any(selector.values()):
        yield refused(
            ("spec", "selector"), "it selects no pods", "write `matchLabels:` with a label of them"
        )
    yield from template(path, value_at(body, *path), selector=selector, volumes=volumes)
    policy = value_at(body, *path, "spec", "restartPolicy")
    if policy not in (None, "", "Always"):
        yield refused(
            (*path, "spec", "restartPolicy"),
            f"pods of {with_article(kind)} restart always, not `{policy}`",
            "leave it out",
        )


def tolerations(path: Path, values: list[dict[str, Any]]) -> Iterator[Fault]:
    """Faults of a list of tolerations."""
    for index, toleration in enumerate(values):
        operator = toleration.get("operator") or "Equal"
        if isinstance(operator, str) and operator not in _OPERATORS:
            yield refused(
                (*path, index, "operator"),
                f"`{operator}` is no operator of a toleration",
                help=nearest(operator, _OPERATORS),
            )
        if not toleration.get("key") and operator != "Exists":
            yield refused(
                (*path, index),
                "a toleration without `key` needs `operator: Exists`",
                help="write `operator: Exists` to tolerate every taint, or name a `key`",
            )
        if operator == "Exists" and toleration.get("value"):
            yield refused(
                (*path, index, "value"),
                "a toleration with `operator: Exists` has no value",
                "leave it out",
                key=True,
            )
        if (
            toleration.get("tolerationSeconds") is not None
            and toleration.get("effect") != "NoExecute"
        ):
            message = "`tolerationSeconds` is for effect `NoExecute` only"
            yield refused(
                (*path, index, "tolerationSeconds"),
                message,
                key=True,
                help="leave it out, or write `effect: NoExecute`",
            )


def _name(path: Path, name: str, seen: dict[str, Path]) -> Iterator[Fault]:
    first = seen.setdefault(name, path)
    if first[-2] != path[-2]:  # within one list the schema's list keys report it
        message = f"container `{name}` is also in `{first[-2]}`"
        yield refused((*path, "name"), message, "rename one of the two")


def _mounts(path: Path, container: dict[str, Any], volumes: set[Any]) -> Iterator[Fault]:
    for index, mount in enumerate(mappings_at(container, "volumeMounts")):
        name = mount.get("name")
        if name not in volumes:
            message = f"volume `{name}` is not one of this pod"
            help = nearest(str(name), map(str, volumes), "add it to `volumes`")
            yield refused((*path, "volumeMounts", index, "name"), message, help)


def resources(path: Path, requirements: Any) -> Iterator[Fault]:
    """Faults of a container's requests and limits."""
    limits = value_at(requirements, "limits") or {}
    requests = value_at(requirements, "requests") or {}
    limited = tuple(limits.items())
    requested = tuple(requests.items())
    if not _are_right(limited, requested):
        yield from _resource_faults(path, limits, requests)


@lru_cache(maxsize=1024)
def _are_right(limits: Amounts, requests: Amounts) -> bool:
    """Whether amounts have no fault: most jobs of a set ask for the same."""
    return not list(_resource_faults((), dict(limits), dict(requests)))


def _resource_faults(
    path: Path, limits: Mapping[str, Any], requests: Mapping[str, Any]
) -> Iterator[Fault]:
    names = {*limits, *requests}
    for name in sorted(names):
        limit = limits.get(name)
        request = requests.get(name)
        if not is_resource(name):
            field = "limits" if limit is not None else "requests"
            message = f"`{name}` is not a resource of a container"
            yield refused((*path, field, name), message, _device(name), key=True)
        yield from _amount((*path, "limits", name), name, limit)
        yield from _amount((*path, "requests", name), name, request)
        breach = _breach(name, request, limit)
        if breach is not None:
            yield refused((*path, "requests", name), *breach)
    has_huge_pages = any(name.startswith("hugepages-") for name in limits)
    if has_huge_pages and names.isdisjoint({"cpu", "memory"}):
        yield refused(
            (*path, "limits"),
            "huge pages need a request or limit of `cpu` or `memory` as well",
            help="add `cpu` and `memory` to requests and limits",
        )


def _breach(name: str, request: Any, limit: Any) -> tuple[str, str] | None:
    """What is wrong between a request and its limit, and what to write; ``None`` where nothing is."""
    if not _is_whole(name):
        if request is None or limit is None:
            return None
        if not _is_above(request, limit):
            return None
        fact = f"request {request} of `{name}` is above its limit {limit}"
        return fact, "raise the limit, or lower the request"
    if request is None and limit is None:
        return f"`{name}` has no amount, and so is not asked for", "write how many, or leave it out"
    if limit is None:
        return f"`{name}` is requested without a limit", "give both, equal"
    if request is None or exact(request) == exact(limit):
        return None
    return f"request {request} of `{name}` is not its limit {limit}", "give both, equal"


def _is_whole(name: str) -> bool:
    """Devices and huge pages: never overcommitted, so request and limit are equal."""
    domain, slash, _ = name.partition("/")
    is_device = bool(slash) and domain != "kubernetes.io"
    return is_device or name.startswith("hugepages-")


def is_resource(name: str) -> bool:
    """Whether containers may ask for a resource of this name."""
    if name in _NATIVE or "/" in name:
        return True
    return name.startswith("hugepages-")


def _amount(path: Path, name: str, text: Any) -> Iterator[Fault]:
    if text is None:
        number = None
    else:
        number = exact(text)
    if number is None:
        return  # a text that is no quantity is reported by the schema's pattern
    if number < 0:
        message = f"`{name}` is negative: {text}"
        yield refused(path, message, "write an amount above 0, or leave it out")
    elif "/" in name and number.denominator != 1:
        message = f"`{name}` is not a whole number: {text}"
        yield refused(path, message, "write a whole number")


def _device(name: str) -> str:
    if name in MISSPELT:
        return f"did you mean `{MISSPELT[name]}`?"
    return "devices are `DOMAIN/NAME`"


def _is_above(request: Any, limit: Any) -> bool:
    requested = exact(request)
    allowed = exact(limit)
    if requested is None or allowed is None:
        return False
    return requested > allowed
