"""Lift: the program of the exporters of checkpoints, and the exporters."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from trainyard.extensions.observability.checkpoints.plan import (
    CheckpointExporter,
    CheckpointProgram,
)
from trainyard.language.units import count
from trainyard.lift.reader import Reader, name_of, namespace_of
from trainyard.plan.base import PlanItem

_PROGRAM = "checkpoint_exporter.py"
_NODE_GROUP = "eks.amazonaws.com/nodegroup"


def config_map(body: Reader) -> Iterator[PlanItem]:
    """The ConfigMap that holds the program."""
    if (body / "data" / _PROGRAM).text() is not None:
        yield CheckpointProgram(at=body.at, name=name_of(body), namespace=namespace_of(body))


def deployment(body: Reader) -> Iterator[PlanItem]:
    """An exporter, by its program."""
    pod = body.follow("spec", "template", "spec")
    for container in (pod / "containers").items():
        command = (container / "command").texts()
        if any(word.endswith(_PROGRAM) for word in command):
            yield _exporter(body, pod, container)


def _exporter(body: Reader, pod: Reader, container: Reader) -> CheckpointExporter:
    options = _options(container)
    requests = container.follow("resources", "requests")
    cpu, memory = (requests / "cpu").quantity(), (requests / "memory").quantity()
    claim, top = _storage(pod, container)
    return CheckpointExporter(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        image=(container / "image").word(),
        job=options.get("job", ""),
        claim=claim,
        folder=_inside(options.get("folder") or top, top),
        sized="mount" in options,
        every=_number(options, "every"),
        look=_number(options, "look"),
        port=_number(options, "port"),
        system=(pod / "nodeSelector").strings().get(_NODE_GROUP, ""),
        cpu=cpu.milli if cpu is not None else 0,
        memory=memory.value // 2**20 if memory is not None else 0,
    )


def _inside(folder: str, top: str) -> str:
    """A folder as it is called below another one; that one itself where it is not known."""
    return posixpath.relpath(folder, top) if top else "."


def _options(container: Reader) -> dict[str, str]:
    """The options of its command."""
    found = {}
    for word in (container / "args").texts():
        name, _, value = word.partition("=")
        found[name.removeprefix("--")] = value
    return found


def _number(options: dict[str, str], name: str) -> int:
    return count(options.get(name)) or 0


def _storage(pod: Reader, container: Reader) -> tuple[str, str]:
    """The claim that it mounts, and where."""
    claims = {}
    for volume in (pod / "volumes").items():
        claim = volume.follow("persistentVolumeClaim", "claimName").text()
        if claim is not None:
            claims[(volume / "name").word()] = claim
    for mount in (container / "volumeMounts").items():
        name = (mount / "name").word()
        if name in claims:
            return claims[name], (mount / "mountPath").word()
    return "", "/"


KINDS = {"/ConfigMap": config_map, "apps/Deployment": deployment}
