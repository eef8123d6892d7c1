"""The configuration of AWS ParallelCluster: the file that ``pcluster`` reads.

``structure`` has its keys, ``checks`` holds what its validators say of several keys, and ``reading`` reads it back.
Source: aws-parallelcluster 3.16.1, pcluster/schemas and pcluster/validators.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from trainyard.core.cloud.plan import LinkedFolder
from trainyard.core.pools.plan import FixedPool, Pool
from trainyard.extensions.parallelcluster.cluster.plan import SlurmCluster
from trainyard.extensions.parallelcluster.formats.parallelcluster.checks import checked
from trainyard.extensions.parallelcluster.formats.parallelcluster.reading import nodes
from trainyard.extensions.parallelcluster.formats.parallelcluster.structure import structure
from trainyard.extensions.parallelcluster.formats.parallelcluster.whole import Whole, wholes
from trainyard.extensions.parallelcluster.partitions.plan import Partition
from trainyard.language.diagnostics import Diagnostic
from trainyard.output.artifact import Artifact
from trainyard.output.body import value_at
from trainyard.output.emit.yaml import dump
from trainyard.output.manifest import placeholder
from trainyard.plan import PlanItem
from trainyard.verify.fault import Fault, as_they_stand
from trainyard.verify.formats import Setting
from trainyard.verify.verifier import diagnostic
from trainyard.verify.walk import walk

__all__ = ["LATE", "TAGS", "hinted", "lifted", "parts", "recognised", "verified", "written"]

LATE = False
SUBJECTS = (Pool, FixedPool, Partition, SlurmCluster, LinkedFolder)
TAGS: Mapping[str, str] = {}
_NAME = re.compile(r"[A-Z][A-Z0-9_]+")
_KEYS = ("HeadNode", "Scheduling", "SlurmQueues")
_KEY = re.compile(rf"^(?:{'|'.join(_KEYS)}):", re.MULTILINE)


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that ``pcluster create-cluster`` would refuse, as far as the file itself shows it."""
    return [
        diagnostic(*whole.place(fault))
        for whole in wholes(artifacts)
        for fault in _faults(whole, setting)
    ]


def _faults(whole: Whole, setting: Setting) -> list[Fault]:
    shape = as_they_stand(
        walk(structure(), whole.body), partial(_is_open, whole), closed=setting.closed
    )
    return [*whole.mended, *shape, *checked(whole.body)]


def _is_open(whole: Whole, fault: Fault) -> bool:
    """Whether a fault is about a value that is filled in later."""
    if fault.key:
        return False
    value = value_at(whole.body, *fault.path)
    if isinstance(value, dict) and len(value) == 1:
        ((name, inner),) = value.items()
        return inner is None and _NAME.fullmatch(str(name)) is not None  # `{SUBNET}` without quotes
    if not isinstance(value, str):
        return False
    return placeholder(value) or (
        _NAME.fullmatch(value.strip("{}")) is not None and value[0] == "{"
    )


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """The cluster, its partitions and its file systems."""
    for whole in wholes(artifacts):
        yield from nodes(whole)


def hinted(text: str) -> bool:
    """Whether a text has the keys of a cluster."""
    named = [key for key in _KEYS if key in text]
    return len(named) > 1 and len(set(_KEY.findall(text))) > 1


def recognised(body: Any) -> bool:
    """Whether a document is a configuration of ParallelCluster 3."""
    if not isinstance(body, dict) or "apiVersion" in body:
        return False
    return sum(key in body for key in _KEYS) > 1


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """A configuration is judged as a whole."""
    yield "ClusterConfiguration", True


def written(artifact: Artifact) -> bytes:
    """One YAML document."""
    return dump(artifact.body).encode()
