"""RayCluster of ray.io/v1 (kuberay v1.6.2, ray-operator/controllers/ray/utils/validation.go, pkg/webhooks/v1)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks.rayjob import groups

GROUP = "ray.io"

_CLUSTER: Path = ("spec",)


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    cluster = value_at(body, *_CLUSTER)
    if isinstance(cluster, dict):
        yield from groups(cluster, _CLUSTER)
