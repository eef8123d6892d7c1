"""Lower: the objects that the spec includes, one file each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy

from trainyard.eks.overrides.plan import IncludedObject
from trainyard.output.lowering.body import guarded, object_path
from trainyard.output.manifest import Body, Manifest, ref_of
from trainyard.plan import Plan

_UNFIT = r"[^A-Za-z0-9._:-]"
_LONGEST = 180  # of a name in a file's name, which has 255 bytes


def lower(plan: Plan) -> Iterator[Manifest]:
    """The objects word for word, but for the annotation that keeps Flux from filling in ``${…}``."""
    for node in plan.of(IncludedObject):
        body = guarded(deepcopy(dict(node.body)))
        path = _path(node, body)
        yield Manifest(body, path, node.at, key=node.file, whole=node.at)


def _path(node: IncludedObject, body: Body) -> str:
    """Kinds of several groups may have one name, so the group is a part of it."""
    ref = ref_of(body)
    if ref.group:
        kind = f"{ref.kind}.{ref.group}"
    else:
        kind = ref.kind
    name = re.sub(_UNFIT, "_", ref.name)[:_LONGEST]
    return object_path(node.folder, kind, name, ref.namespace)
