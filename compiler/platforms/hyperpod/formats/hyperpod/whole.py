"""A whole request: a file of others as it is, or our own parts in the place of the variable."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.dataclass import dataclass
from compiler.emit.marker import KEY
from compiler.output.artifact import Artifact
from compiler.platforms.hyperpod.formats.hyperpod.structure import CLUSTER, GROUP, kind_of
from compiler.verify.whole import Whole as AnyWhole

GROUPS = "${INSTANCE_GROUPS}"
_AT_GROUPS = "InstanceGroups"


@dataclass(slots=True)
class Whole(AnyWhole):
    """A request of a kind."""

    kind: str = ""


def wholes(artifacts: Sequence[Artifact]) -> list[Whole]:
    """Each request of a set: groups that no request of it asks for stand alone."""
    heads = [artifact for artifact in artifacts if kind_of(artifact.body) == CLUSTER]
    groups = [artifact for artifact in artifacts if kind_of(artifact.body) == GROUP]
    open_heads = [head for head in heads if head.body[_AT_GROUPS] == GROUPS]
    found = []
    for artifact in artifacts:
        kind = kind_of(artifact.body)
        if kind == GROUP and open_heads:
            continue
        body = {key: value for key, value in artifact.body.items() if key != KEY}
        whole = Whole(body, artifact, kind=kind)
        if artifact in open_heads:
            _fill(whole, groups)
        found.append(whole)
    return found


def _fill(whole: Whole, groups: Sequence[Artifact]) -> None:
    """Put the groups in the place of the variable; where each stands is noted."""
    whole.body[_AT_GROUPS] = [
        {key: value for key, value in group.body.items() if key != KEY} for group in groups
    ]
    for index, group in enumerate(groups):
        whole.sources[_AT_GROUPS, index] = group, ()
