"""A whole request, without the key that says whose file it is."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.extensions.hyperpod.formats.hyperpod.structure import kind_of
from trainyard.language.dataclass import dataclass
from trainyard.output.artifact import Artifact
from trainyard.output.emit.marker import KEY
from trainyard.verify.whole import Whole as AnyWhole


@dataclass(slots=True)
class Whole(AnyWhole):
    """A request of a kind."""

    kind: str = ""


def wholes(artifacts: Sequence[Artifact]) -> list[Whole]:
    """Each request of a set."""
    return [
        Whole(
            {key: value for key, value in artifact.body.items() if key != KEY},
            artifact,
            kind=kind_of(artifact.body),
        )
        for artifact in artifacts
    ]
