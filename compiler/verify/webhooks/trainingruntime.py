"""TrainingRuntime (trainer v2.3.0, pkg/webhooks/trainingruntime_webhook.go)."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.manifest import Body
from compiler.verify.fault import Fault
from compiler.verify.webhooks import Lookup
from compiler.verify.webhooks._runtimes import runtime

GROUP = "trainer.kubeflow.org"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from runtime(body)
