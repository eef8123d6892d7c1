"""Loki in one process, whose lines and rules are in S3.

One process takes what a training cluster writes, and is one pod on the system's nodes; what it holds is in a bucket
and, until then, on its volume (docs/adr/0028). Nothing that could keep a password in git is on: no gateway, no tenants.
Its two caches of memory, 8 and 1 GiB by the chart's defaults, are off: they serve many readers.
"""

from __future__ import annotations

from typing import Any

from trainyard.eks.addons.addon import OURS, AddOn, Controller, Setting
from trainyard.extensions.observability.logs import sizing
from trainyard.extensions.observability.logs.names import (
    CLASS,
    LOKI,
    bucket_of,
    is_wanted,
    key_route,
    loki_of,
)
from trainyard.extensions.observability.monitoring.names import alertmanager
from trainyard.extensions.observability.monitoring.names import is_wanted as monitored
from trainyard.output.lowering.body import resources
from trainyard.plan.context import Context

_RESOURCES = ("singleBinary", "resources")


def memory(context: Context) -> int:
    """MiB that it requests."""
    loki = loki_of(context)
    assert loki is not None, "logs are not kept in Loki"
    return sizing.memory(sizing.volume(context, loki.per_pod_day, loki.retention))


def values(setting: Setting) -> dict[str, Any]:
    """loki 18.11.0 chart values (Loki 3.7.6)."""
    context = setting.context
    needed = memory(context)
    return {
        "deploymentMode": "Monolithic",
        "loki": _loki(context),
        "singleBinary": {
            "replicas": 1,
            "resources": resources(sizing.cpu(needed), needed),
            "persistence": {"size": str(sizing.DISK), "storageClass": CLASS},
        },
        "serviceAccount": {"name": LOKI},
        "sidecar": {"rules": {"enabled": False}},
        "test": {"enabled": False},
        **{name: {"enabled": False} for name in _OFF},
        **{name: {"replicas": 0} for name in _OF_OTHER_MODES},
    }


_OFF = ("gateway", "lokiCanary", "chunksCache", "resultsCache")
# The chart refuses to make one process beside those of another mode, which it has by default (templates/validate.yaml).
_OF_OTHER_MODES = ("read", "write", "backend")


def _loki(context: Context) -> dict[str, Any]:
    loki = loki_of(context)
    assert loki is not None, "logs are not kept in Loki"
    bucket = bucket_of(context, loki)
    return {
        # One tenant, so that nobody has a password: who reaches Loki says a NetworkPolicy.
        "auth_enabled": False,
        "commonConfig": {"replication_factor": 1},
        "schemaConfig": {"configs": [_SCHEMA]},
        "storage": {
            "type": "s3",
            "bucketNames": {"chunks": bucket, "ruler": bucket},
            "s3": {"region": context.spec.region},
        },
        "limits_config": {
            "retention_period": str(loki.retention),
            "allow_structured_metadata": True,
            # All ranks of a job that fails write at once; the defaults are 4 and 6 MB, 3 and 15 MB a second.
            "ingestion_rate_mb": 32,
            "ingestion_burst_size_mb": 64,
            "per_stream_rate_limit": "16MB",
            "per_stream_rate_limit_burst": "64MB",
        },
        "compactor": {"retention_enabled": True, "delete_request_store": "s3"},
        "rulerConfig": _ruler(context),
        "analytics": {"reporting_enabled": False},
    }


# Not later than the oldest line: a schema of before the cluster holds for all its days (Loki 3.7.6, schema_config).
_SCHEMA = {
    "from": "2024-04-01",
    "store": "tsdb",
    "object_store": "s3",
    "schema": "v13",
    "index": {"prefix": "index_", "period": "24h"},
}


def _ruler(context: Context) -> dict[str, Any]:
    """Rules over lines are in the bucket too, and their alerts go where all alerts go."""
    if not monitored(context):
        return {}
    return {"alertmanager_url": alertmanager(context), "enable_alertmanager_v2": True}


def sized(context: Context) -> tuple[Controller, ...]:
    """Its one pod, by the streams of the cluster."""
    needed = memory(context)
    return (Controller(LOKI, 1, sizing.cpu(needed), needed, OURS, resources=_RESOURCES),)


ADD_ON = AddOn(
    component=LOKI,
    wanted=is_wanted,
    at=key_route() / LOKI,
    values=values,
    sized=sized,
    needs=("aws-ebs-csi-driver",),
)
