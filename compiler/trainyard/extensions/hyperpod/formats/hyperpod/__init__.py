"""Requests of SageMaker HyperPod: CreateCluster, or the parts of which ours is made, and those of task governance.

``structure`` has their keys, ``whole`` puts the parts together, ``checks`` holds what SageMaker says of several keys,
and ``reading`` reads it back. Source: botocore 1.44.5, sagemaker/2017-07-24.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from trainyard.extensions.hyperpod.formats.hyperpod.checks import checked
from trainyard.extensions.hyperpod.formats.hyperpod.reading import nodes
from trainyard.extensions.hyperpod.formats.hyperpod.structure import kind_of, structure
from trainyard.extensions.hyperpod.formats.hyperpod.whole import Whole, wholes
from trainyard.language.diagnostics import Diagnostic
from trainyard.output.artifact import Artifact
from trainyard.output.body import value_at
from trainyard.output.manifest import placeholder
from trainyard.plan import PlanItem
from trainyard.verify.fault import Fault, as_they_stand
from trainyard.verify.formats import Setting
from trainyard.verify.verifier import diagnostic
from trainyard.verify.walk import walk

__all__ = ["LATE", "TAGS", "hinted", "lifted", "parts", "recognised", "verified", "written"]

LATE = False
MACHINES = True
TAGS: Mapping[str, str] = {}
_KEYS = ("InstanceGroups", "InstanceGroupName", "SchedulerConfig", "ComputeQuotaConfig")
_KEY = re.compile(rf"""(?:^|[{{,])\s*["']?(?:{"|".join(_KEYS)})["']?\s*:""", re.MULTILINE)


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that SageMaker would refuse, as far as the request itself shows it."""
    return [
        diagnostic(*whole.place(fault))
        for whole in wholes(artifacts)
        for fault in _faults(whole, setting)
    ]


def _faults(whole: Whole, setting: Setting) -> list[Fault]:
    shape = as_they_stand(
        walk(structure(whole.kind), whole.body), partial(_is_open, whole), closed=setting.closed
    )
    return [*shape, *checked(whole.kind, whole.body)]


def _is_open(whole: Whole, fault: Fault) -> bool:
    """Whether a fault is about a value that is filled in later."""
    if fault.key:
        return False
    value = value_at(whole.body, *fault.path)
    return isinstance(value, str) and placeholder(value)


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """The cluster, and its instance groups."""
    for whole in wholes(artifacts):
        yield from nodes(whole)


def hinted(text: str) -> bool:
    """Whether a text has the keys of a request."""
    named = [key for key in _KEYS if key in text]
    return bool(named) and _KEY.search(text) is not None


def recognised(body: Any) -> bool:
    """Whether a document is a request of HyperPod."""
    return bool(kind_of(body))


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """A request is judged as a whole."""
    yield kind_of(artifact.body) or "ClusterRequest", True


def written(artifact: Artifact) -> bytes:
    """One JSON object over several lines."""
    text = json.dumps(artifact.body, indent=1, ensure_ascii=False)
    return f"{text}\n".encode()
