"""What a job says in the spec: its own keys and those of its pool that affect it, bases included."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

from trainyard.eks.jobs.plan import TrainJob
from trainyard.language.models.renamed import as_before
from trainyard.language.places import Document, Route
from trainyard.language.source.inherit import EXTENDS

_POOLS = Route(("spec", "nodePools"))
_NOT_WORK = ("name", "rerun", "completed")
# What a job is made of: by type and EFA its share of a node, by taints what it tolerates, by topology how it is placed.
# How many nodes there are, where, and what else they carry, asks for no other run.
_REACHES_JOBS = ("instanceTypes", "efa", "taints", "topology")


class Words:
    """Digests of the words of one spec."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def asked(self, job: TrainJob) -> str:
        """What asked for the run: a job whose words are the same asks for no other run."""
        return digest([self._job(job), *self._landing(job), *self._patches(job)])

    def work(self, job: TrainJob) -> str:
        """What the run does, without its name: two jobs with the same work are one job twice."""
        words = dict(self._job(job))
        for key in _NOT_WORK:
            words.pop(key, None)
        landing = self._landing(job)
        return digest([words, *landing, job.namespace, *self._patches(job)])

    def _landing(self, job: TrainJob) -> list[str]:
        """What reaches the job of each pool that it may run on."""
        pools = (job.pool, *job.fallbacks)
        return [self._pools.get(pool, "") for pool in pools]

    def _patches(self, job: TrainJob) -> list[Any]:
        """What the spec's patches do to the job."""
        return [self._words(at / "patch") for at in job.patched]

    def _job(self, job: TrainJob) -> Mapping[str, Any]:
        words: dict[str, Any] = self._words(job.at)
        words.pop(EXTENDS, None)  # what it gave is among them
        return as_before(words)

    def _words(self, at: Route) -> Any:
        """What the spec says at a place."""
        node, _ = self._document.node(at)
        return node.to_python()

    @cached_property
    def _pools(self) -> dict[str, str]:
        pools = self._words(_POOLS)
        return {pool["name"]: digest(_reaching(pool)) for pool in pools}


def _reaching(pool: Mapping[str, Any]) -> list[Any]:
    """The words of a pool that reach its jobs."""
    words = [pool.get(key) for key in _REACHES_JOBS]
    capacity = pool.get("capacity") or {}
    if isinstance(capacity, dict):
        kinds = list(capacity)
    else:
        kinds = []
    split = kinds in (["reserved"], ["block"])
    placed = split or "topology" in pool
    always_on = placed and _always_on(pool.get("nodes"))
    return [*words, kinds == ["block"], split, always_on]


def _always_on(nodes: Any) -> bool:
    if not isinstance(nodes, dict):
        return True
    return nodes.get("min") == nodes.get("max")


def digest(value: Any) -> str:
    """Sixteen hex digits over a JSON value."""
    text = json.dumps(value, sort_keys=True)
    return sha256(text.encode()).hexdigest()[:16]
