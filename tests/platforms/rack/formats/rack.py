"""Machines and tasks, as YAML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from trainyard.core.pods.plan import EnvVar
from trainyard.extensions.rack.machines.plan import Machines
from trainyard.extensions.rack.tasks.plan import Task
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.output.artifact import Artifact
from trainyard.output.emit.yaml import encoded
from trainyard.plan import PlanItem
from trainyard.plan.scheduling import INSTANCE_TYPE, POOL_LABEL, ZONE, Requirement
from trainyard.verify.formats import Setting

LATE = False
SUBJECTS = (Machines, Task)
TAGS: Mapping[str, str] = {}


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """A task without a command does nothing."""
    return [
        error("SCH012", "a task has no command", Route((artifact.id,)), help="write `command`")
        for artifact in artifacts
        if "task" in artifact.body and not artifact.body["command"]
    ]


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterator[PlanItem]:
    """The machines and the tasks."""
    for artifact in artifacts:
        if "task" in artifact.body:
            yield _task(artifact)
        else:
            yield _machines(artifact)


def _machines(artifact: Artifact) -> Machines:
    body, at = artifact.body, Route((artifact.id,))
    return Machines(
        at=at,
        name=body["machines"],
        labels={POOL_LABEL: body["machines"]},
        requirements=(
            Requirement(INSTANCE_TYPE, "In", tuple(body["types"])),
            Requirement(ZONE, "In", tuple(body["zones"])),
        ),
        limits={"nodes": Quantity.of(body["count"])},
        efa=body["efa"],
        own_kubelet=True,
        origins={"limits": at / "count"},
    )


def _task(artifact: Artifact) -> Task:
    body, at = artifact.body, Route((artifact.id,))
    asked = {name: Quantity.parse(amount) for name, amount in body["requests"].items()}
    return Task(
        at=at,
        name=body["task"],
        namespace=body["namespace"],
        kind="Task",
        pool=body["pool"],
        nodes=body["machines"],
        image=body["image"],
        command=tuple(body["command"]),
        env=tuple(EnvVar(name, value) for name, value in body["env"].items()),
        requests=asked,
        limits=asked,
        selector={POOL_LABEL: body["pool"]},
        queue=body["queue"],
        source_name=body["task"],
        origins={
            "nodes": at / "machines",
            "image": at / "image",
            "command": at / "command",
            "requests": at / "requests",
            "limits": at / "requests",
            "queue": at / "queue",
        },
    )


def hinted(text: str) -> bool:
    """By its first key."""
    return re.search(r"(?m)^(machines|task):", text) is not None


def recognised(body: Any) -> bool:
    """By its keys."""
    return isinstance(body, dict) and ("task" in body or "machines" in body)


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """It is one part."""
    yield "RackFile", True


def written(artifact: Artifact) -> bytes:
    """YAML."""
    return encoded(artifact.body)
