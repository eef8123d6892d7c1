"""TrainingRuntime (trainer v2.3.0, pkg/webhooks/trainingruntime_webhook.go)."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.manifest import Body
from trainyard.verify.fault import Fault
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._runtimes import runtime

GROUP = "trainer.kubeflow.org"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    yield from runtime(body)
