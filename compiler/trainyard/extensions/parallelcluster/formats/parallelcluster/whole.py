"""A whole configuration, whose queues are judged where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from trainyard.language.dataclass import dataclass
from trainyard.output.artifact import Artifact
from trainyard.verify.fault import UNKNOWN, Fault
from trainyard.verify.whole import Whole as AnyWhole


@dataclass(slots=True)
class Whole(AnyWhole):
    """A configuration. ``mended``: faults of places that are plain."""

    mended: list[Fault] = field(default_factory=list)


def wholes(artifacts: Sequence[Artifact]) -> list[Whole]:
    """Each configuration of a set."""
    found = [Whole(artifact.body, artifact) for artifact in artifacts]
    for whole in found:
        _mend(whole)
    return found


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
