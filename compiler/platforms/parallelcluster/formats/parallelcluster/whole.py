"""A whole configuration: a file of others as it is, or our own parts in the places of the variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from compiler.dataclass import dataclass
from compiler.output.artifact import Artifact
from compiler.places import Key
from compiler.verify.fault import UNKNOWN, Fault, Path
from compiler.verify.whole import Whole as AnyWhole

_QUEUES, _STORAGE, _ACCESS = "${QUEUES}", "${STORAGE}", "${ACCESS}"


@dataclass(slots=True)
class Whole(AnyWhole):
    """A configuration. ``mended``: faults of places that are plain."""

    mended: list[Fault] = field(default_factory=list)


def wholes(artifacts: Sequence[Artifact]) -> list[Whole]:
    """Each configuration of a set."""
    heads = [artifact for artifact in artifacts if "HeadNode" in artifact.body]
    others = [artifact for artifact in artifacts if "HeadNode" not in artifact.body]
    return [_whole(head, others) for head in heads] or [
        Whole(artifact.body, artifact) for artifact in others if "Scheduling" in artifact.body
    ]


def _whole(head: Artifact, others: Sequence[Artifact]) -> Whole:
    whole = Whole({}, head)
    queues = [part for part in others if "ComputeResources" in part.body]
    storage = [part for part in others if "MountDir" in part.body]
    access = [part for part in others if "BucketName" in part.body]
    items = {_QUEUES: queues, _STORAGE: storage, _ACCESS: access}
    whole.body = head.body
    if any(items.values()):
        whole.body = _filled(head.body, (), head, (), items, whole)
    _mend(whole)
    return whole


def _filled(
    value: Any,
    path: Path,
    artifact: Artifact,
    inside: Path,
    items: dict[str, list[Artifact]],
    whole: Whole,
) -> Any:
    """A value with parts in the places of their variables; where each part stands is noted."""
    if isinstance(value, dict):
        # A list without items is left out, as by the bootstrap.
        there = {key: child for key, child in value.items() if not _is_empty(child, items)}
        return {
            key: _filled(child, (*path, key), artifact, (*inside, key), items, whole)
            for key, child in there.items()
        }
    if isinstance(value, list | tuple):
        return [
            _filled(child, (*path, index), artifact, (*inside, index), items, whole)
            for index, child in enumerate(value)
        ]
    if not isinstance(value, str) or "$" not in value:
        return value
    if value in items:
        filled = []
        for index, part in enumerate(items[value]):
            at: tuple[Key, ...] = (*path, index)
            whole.sources[at] = (part, ())
            filled.append(_filled(part.body, at, part, (), items, whole))
        return filled
    return value


def _is_empty(value: Any, items: dict[str, list[Artifact]]) -> bool:
    return isinstance(value, str) and value in items and not items[value]


def _mend(whole: Whole) -> None:
    """Queues that stand beside ``Scheduling`` are judged where they belong."""
    body = whole.body
    queues, scheduling = body.get("SlurmQueues"), body.get("Scheduling")
    if not isinstance(scheduling, dict) or queues is None or "SlurmQueues" in scheduling:
        return
    whole.body = {key: value for key, value in body.items() if key != "SlurmQueues"}
    whole.body["Scheduling"] = {**scheduling, "SlurmQueues": queues}
    whole.sources["Scheduling", "SlurmQueues"] = (whole.artifact, ("SlurmQueues",))
    whole.mended.append(
        Fault(
            UNKNOWN,
            "SCH001",
            ("Scheduling", "SlurmQueues"),
            "`SlurmQueues` stands beside `Scheduling`, and belongs into it",
            "indent it below `Scheduling:`",
            key=True,
        )
    )
