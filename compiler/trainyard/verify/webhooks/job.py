"""Job (k8s.io/kubernetes v1.36, pkg/apis/batch/validation)."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Any

from trainyard.output.body import value_at
from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault, Path, never_works, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._pods import template

GROUP = "batch"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from job_spec(("spec",), value_at(body, "spec") or {})


def job_spec(
    path: Path,
    spec: Any,
    *,
    restart_defaulted: bool = False,
    volumes: AbstractSet[str] = frozenset(),
) -> Iterator[Fault]:
    """Faults of a Job's spec. ``restart_defaulted``: a webhook fills in the restart policy, as JobSet's does;
    ``volumes``: volumes that somebody else gives the pods."""
    restart_policy = value_at(spec, "template", "spec", "restartPolicy")
    yield from template(
        (*path, "template"),
        value_at(spec, "template"),
        job=not restart_defaulted or bool(restart_policy),
        volumes=volumes,
    )
    node = value_at(spec, "template", "spec", "nodeName")
    if node:
        # Past the scheduler: Karpenter launches nothing for such a pod, and all pods of the job land on one node.
        yield never_works(
            (*path, "template", "spec", "nodeName"),
            f"every pod of the job is bound to node `{node}`",
            "remove `nodeName`, and select nodes by a label",
            warning=True,
        )
    is_indexed = value_at(spec, "completionMode") == "Indexed"
    needs_count = is_indexed and not restart_defaulted
    if needs_count and value_at(spec, "completions") is None:
        yield refused(
            (*path, "completions"),
            "an Indexed Job needs `completions`",
            help="write `completions`, equal to `parallelism`",
        )
    if value_at(spec, "podFailurePolicy") and restart_policy == "OnFailure":
        yield refused(
            (*path, "podFailurePolicy"),
            "`podFailurePolicy` needs restart policy `Never`",
            key=True,
            help="write `restartPolicy: Never` in the pod template",
        )
