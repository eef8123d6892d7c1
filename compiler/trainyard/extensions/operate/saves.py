"""When jobs saved last: what the exporters beside them print."""

from __future__ import annotations

import re

from trainyard.eks.checkpoints.plan import CheckpointExporter
from trainyard.extensions.operate.api import Api, path_of
from trainyard.extensions.operate.faults import RefusedError

_LINE = re.compile(r"last write: (\d+)")


def last_save(api: Api, exporter: CheckpointExporter) -> int | None:
    """When the job of an exporter saved last, in seconds since 1970, and 0 where it never did; ``None`` where that is
    not known: the exporter does not run, cannot read the folder, or may not be asked."""
    labels = {
        "app.kubernetes.io/name": "checkpoint-exporter",
        "app.kubernetes.io/instance": exporter.job,
    }
    path = path_of("v1", "pods", exporter.namespace)
    last = None
    try:
        for pod in api.items(path, labels):
            name = pod["metadata"]["name"]
            for line in api.lines(f"{path}/{name}/log", {"tailLines": "1"}, endless=False):
                last = line
    except RefusedError:
        return None
    found = _LINE.match(last or "")
    return None if found is None else int(found[1])
