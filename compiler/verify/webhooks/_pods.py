"""Pod specs: what the API server's own code refuses (k8s.io/kubernetes v1.36, pkg/apis/core/validation)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from compiler.output.body import at, items
from compiler.subjects.jobs.plan import MISSPELT
from compiler.verify.amounts import amount as exact
from compiler.verify.fault import Fault, Path, nearest, refused

Amounts = tuple[tuple[str, Any], ...]

_OPERATORS = (
    "Equal",
    "Exists",
    "Lt",
    "Gt",
)  # the last two behind a gate (Kubernetes 1.35)
_NATIVE = frozenset({"cpu", "memory", "ephemeral-storage"})


def pod_spec(
    path: Path, spec: Any, *, job: bool = False, volumes: AbstractSet[str] = frozenset()
) -> Iterator[Fault]:
    """Faults of a pod spec at a path. ``job``: its restart policy must be one that a Job allows."""
    known = {*volumes, *(volume.get("name") for volume in items(spec, "volumes"))}
    seen: dict[str, Path] = {}
    for field in ("initContainers", "containers"):
        for index, container in enumerate(items(spec, field)):
            here = (*path, field, index)
            yield from _name(here, str(container.get("name")), seen)
            yield from _mounts(here, container, known)
            yield from resources((*here, "resources"), container.get("resources"))
    if job and at(spec, "restartPolicy") in (None, "Always"):
        message = f"a Job's pods cannot have restart policy `{at(spec, 'restartPolicy') or 'Always'}`"
        yield refused((*path, "restartPolicy"), message, "use `Never` or `OnFailure`")
    yield from tolerations((*path, "tolerations"), items(spec, "tolerations"))


def template(
    path: Path,
    template: Any,
    *,
    job: bool = False,
    selector: Any = None,
    volumes: AbstractSet[str] = frozenset(),
) -> Iterator[Fault]:
    """Faults of a pod template; ``selector`` is the label selector that must match its labels, if there is one."""
    yield from pod_spec(
        (*path, "spec"), at(template, "spec") or {}, job=job, volumes=volumes
    )
    labels = at(template, "metadata", "labels") or {}
    for key, value in (at(selector, "matchLabels") or {}).items():
        if labels.get(key) != value:
            got = f"has `{labels[key]}`" if key in labels else "does not have it"
            yield refused(
                ("spec", "selector", "matchLabels", key),
                f"selector wants `{key}: {value}`, the template {got}",
                help=f"add the label `{key}: {value}` to the template",
            )


def tolerations(path: Path, found: list[dict[str, Any]]) -> Iterator[Fault]:
    """Faults of a list of tolerations."""
    for index, toleration in enumerate(found):
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
    if (
        first is not path and first[-2] != path[-2]
    ):  # within one list the schema's list keys tell it
        yield refused(
            (*path, "name"),
            f"container `{name}` is also in `{first[-2]}`",
            help="rename one of the two",
        )


def _mounts(
    path: Path, container: dict[str, Any], volumes: set[Any]
) -> Iterator[Fault]:
    places: dict[Any, int] = {}
    for index, mount in enumerate(items(container, "volumeMounts")):
        if mount.get("name") not in volumes:
            yield refused(
                (*path, "volumeMounts", index, "name"),
                f"volume `{mount.get('name')}` is not one of this pod",
                help=nearest(
                    str(mount.get("name")), map(str, volumes), "add it to `volumes`"
                ),
            )
        if places.setdefault(mount.get("mountPath"), index) != index:
            yield refused(
                (*path, "volumeMounts", index, "mountPath"),
                f"`{mount.get('mountPath')}` is mounted twice",
                help="mount it once",
            )


def resources(path: Path, found: Any) -> Iterator[Fault]:
    """Faults of a container's requests and limits."""
    limits, requests = (at(found, field) or {} for field in ("limits", "requests"))
    if not _faultless(tuple(limits.items()), tuple(requests.items())):
        yield from _resources(path, limits, requests)


@lru_cache(maxsize=1024)
def _faultless(limits: Amounts, requests: Amounts) -> bool:
    """Whether amounts have no fault: most jobs of a set ask for the same."""
    return not any(True for _ in _resources((), dict(limits), dict(requests)))


def _resources(
    path: Path, limits: Mapping[str, Any], requests: Mapping[str, Any]
) -> Iterator[Fault]:
    for name in sorted({*limits, *requests}):
        limit, request = limits.get(name), requests.get(name)
        if not _is_resource(name):
            field = "limits" if limit is not None else "requests"
            yield refused(
                (*path, field, name),
                f"`{name}` is not a resource of a container",
                _device(name),
                key=True,
            )
        for field, text in (("limits", limit), ("requests", request)):
            yield from _amount((*path, field, name), name, text)
        if not _is_whole(name):
            if limit is not None and request is not None and _above(request, limit):
                yield refused(
                    (*path, "requests", name),
                    f"request {request} of `{name}` is above its limit {limit}",
                    help="raise the limit, or lower the request",
                )
        elif limit is None:
            yield refused(
                (*path, "requests", name),
                f"`{name}` is requested without a limit",
                "give both, equal",
            )
        elif request is not None and exact(request) != exact(limit):
            yield refused(
                (*path, "requests", name),
                f"request {request} of `{name}` is not its limit {limit}",
                "give both, equal",
            )
    if any(name.startswith("hugepages-") for name in limits) and not {
        "cpu",
        "memory",
    } & {*limits, *requests}:
        yield refused(
            (*path, "limits"),
            "huge pages need a request or limit of `cpu` or `memory` beside them",
            help="add `cpu` and `memory` to requests and limits",
        )


def _is_whole(name: str) -> bool:
    """Devices and huge pages: never overcommitted, so request and limit are equal."""
    return name.startswith("hugepages-") or (
        "/" in name and name.partition("/")[0] != "kubernetes.io"
    )


def _is_resource(name: str) -> bool:
    return name in _NATIVE or "/" in name or name.startswith("hugepages-")


def _amount(path: Path, name: str, text: Any) -> Iterator[Fault]:
    if text is None:
        return
    number = exact(text)
    if number is None:
        return  # told by the schema's pattern
    if number < 0:
        yield refused(
            path,
            f"`{name}` is negative: {text}",
            help="write an amount above 0, or leave it out",
        )
    elif "/" in name and number.denominator != 1:
        yield refused(
            path, f"`{name}` is not a whole number: {text}", help="write a whole number"
        )


def _device(name: str) -> str:
    return (
        f"did you mean `{MISSPELT[name]}`?"
        if name in MISSPELT
        else "devices are `DOMAIN/NAME`"
    )


def _above(request: Any, limit: Any) -> bool:
    requested, allowed = exact(request), exact(limit)
    return requested is not None and allowed is not None and requested > allowed
