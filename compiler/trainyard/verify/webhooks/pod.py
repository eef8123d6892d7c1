"""Pod (k8s.io/kubernetes v1.36, pkg/apis/core/validation; kueue v0.19.2, pkg/controller/jobs/pod: groups)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._pods import pod_spec

GROUP = ""
_GROUP = "kueue.x-k8s.io/pod-group-name"
_COUNT = "kueue.x-k8s.io/pod-group-total-count"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from pod_spec(("spec",), value_at(body, "spec") or {})
    yield from _group(body)


def _group(body: Body) -> Iterator[Fault]:
    """Pods that Kueue admits together say of which group they are, and how many there are."""
    labels: Path = ("metadata", "labels")
    annotations: Path = ("metadata", "annotations")
    count = value_at(body, *annotations, _COUNT)
    if value_at(body, *labels, _GROUP) is not None and count is None:
        message = (
            f"the pod is of a group and does not say of how many: it has no annotation `{_COUNT}`"
        )
        help = f'write `annotations: {{{_COUNT}: "…"}}`'
        yield refused((*labels, _GROUP), message, help, key=True)
    elif count is not None and not (str(count).isdigit() and int(count) > 0):
        message = f"`{count}` is no number of pods"
        yield refused((*annotations, _COUNT), message, "write a number from 1 in quotes")
