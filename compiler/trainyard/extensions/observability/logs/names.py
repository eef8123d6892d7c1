"""The names that logs go by: charts, namespace, ports and bucket."""

from __future__ import annotations

from trainyard.eks.addons.addon import Endpoint
from trainyard.extensions.observability.logs.spec import CloudWatch, LogsSection, Loki
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context
from trainyard.plan.naming import LONGEST_BUCKET, joined

LOKI, ALLOY, FLUENT_BIT = "loki", "alloy", "fluent-bit"
"""The charts, and the service accounts of their pods."""
LOKI_PORT, ALLOY_PORT = 3100, 12345
"""Where Loki takes lines and queries (Loki 3.7.6, server.http_listen_port), and where Alloy has its metrics (chart
alloy 1.11.1, alloy.listenPort)."""
CLASS = "logging"
"""The StorageClass of Loki's volume."""

TO_CLOUD_WATCH = Endpoint("logs", "logs are sent to CloudWatch", "EKS user guide, private-clusters")


def key_route() -> Route:
    """The place of the key in the spec."""
    return SPEC / "logs"


def loki_of(context: Context) -> Loki | None:
    """What the spec says of Loki, where logs are kept there."""
    logs = LogsSection.of(context.spec).logs
    return logs.loki if logs is not None else None


def cloud_watch_of(context: Context) -> CloudWatch | None:
    """What the spec says of CloudWatch, where logs are kept there."""
    logs = LogsSection.of(context.spec).logs
    return logs.cloud_watch if logs is not None else None


def to_cloud_watch(context: Context) -> bool:
    """Where the spec asks for CloudWatch, and so for Fluent Bit."""
    return cloud_watch_of(context) is not None


def kept(context: Context) -> bool:
    """Where logs are kept at all."""
    return LogsSection.of(context.spec).logs is not None


def log_group(context: Context) -> str:
    """The log group of CloudWatch."""
    return f"/trainyard/{context.name}/pods"


def is_wanted(context: Context) -> bool:
    """Where the spec asks for Loki, and so for Alloy."""
    return loki_of(context) is not None


def namespace(context: Context) -> str:
    """Where what keeps and collects lines is."""
    return context.release.chart(LOKI).namespace


def address(context: Context) -> str:
    """Where Loki answers inside the cluster."""
    return f"http://{LOKI}.{namespace(context)}.svc:{LOKI_PORT}"


def bucket_of(context: Context, loki: Loki) -> str:
    """The bucket of the logs; a bucket's name is its own in the whole partition (S3 user guide, bucketnamingrules)."""
    spec = context.spec
    if loki.bucket:
        return loki.bucket
    end = f"-{spec.account}-{spec.region}"
    return joined(context.name, LOKI, LONGEST_BUCKET - len(end)) + end
