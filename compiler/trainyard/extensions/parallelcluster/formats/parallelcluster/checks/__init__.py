"""What ParallelCluster's validators say of several keys together (aws-parallelcluster 3.16.1, pcluster/validators).

One module for each part of a configuration: each has ``faults(body)``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.parallelcluster.formats.parallelcluster.checks import (
    access,
    names,
    queues,
    slurm,
    storage,
)
from trainyard.verify.fault import Fault

_PARTS = (names, access, slurm, queues, storage)


def checked(body: dict[str, Any]) -> Iterator[Fault]:
    """The faults of a whole configuration."""
    for part in _PARTS:
        yield from part.faults(body)
