"""What the spec says of a job: its own words and those of its pool, bases included."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

from compiler.plan.jobs import TrainJob
from compiler.source import Document, Route

_POOLS = Route(("spec", "nodePools"))
_NOT_WORK = ("name", "rerun", "done")


class Words:
    """Digests of the words of one spec."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def asked(self, job: TrainJob) -> str:
        """What asked for the run: a job whose words are the same asks for no other run."""
        return digest([self._job(job), self._pools.get(job.pool, "")])

    def work(self, job: TrainJob) -> str:
        """What the run does, by whatever name: two jobs with the same work are one job twice."""
        words = {key: value for key, value in self._job(job).items() if key not in _NOT_WORK}
        return digest([words, self._pools.get(job.pool, ""), job.namespace])

    def _job(self, job: TrainJob) -> Mapping[str, Any]:
        words: Mapping[str, Any] = self._document.node(job.at)[0].to_python()
        return words

    @cached_property
    def _pools(self) -> dict[str, str]:
        pools = self._document.node(_POOLS)[0].to_python()
        return {pool["name"]: digest([pool]) for pool in pools}


def digest(value: Any) -> str:
    """Sixteen hex digits over a JSON value."""
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
