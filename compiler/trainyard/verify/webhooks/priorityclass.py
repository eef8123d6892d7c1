"""PriorityClass (k8s.io/kubernetes v1.36, pkg/apis/scheduling/validation)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup

GROUP = "scheduling.k8s.io"
_SYSTEM = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
_MOST = 1_000_000_000


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    name = str(value_at(body, "metadata", "name") or "")
    value = value_at(body, "value")
    if name.startswith("system-"):
        if _SYSTEM.get(name) != value:
            yield refused(
                ("metadata", "name"),
                f"`{name}` has the prefix `system-`, which is reserved",
                "rename it",
            )
    elif isinstance(value, int) and value > _MOST:
        yield refused(
            ("value",),
            f"priority {value} is above {_MOST}, the most of a class that is not the system's",
            help=f"write at most {_MOST}",
        )
