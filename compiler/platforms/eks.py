"""Amazon EKS with Karpenter: nodes come when jobs ask for them."""

from __future__ import annotations

from compiler.platforms.platform import Platform
from compiler.subjects.bootstrap import resolve as bootstrap
from compiler.subjects.cluster import resolve as cluster
from compiler.subjects.delivery import resolve as delivery
from compiler.subjects.health import resolve as health
from compiler.subjects.jobs import resolve as jobs
from compiler.subjects.namespaces import resolve as namespaces
from compiler.subjects.pools import resolve as pools
from compiler.subjects.queues import resolve as queues
from compiler.subjects.storage import resolve as storage
from compiler.subjects.system import resolve as system

EKS = Platform(
    "eks",
    (
        pools,
        queues,
        storage,
        system,
        cluster,
        jobs,
        namespaces,
        delivery,
        health,
        bootstrap,
    ),
)
