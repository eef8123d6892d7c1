"""Logs: the bucket that keeps lines, who may write to them, and how much is expected."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import iam
from trainyard.core.storage.made import check_key
from trainyard.core.storage.plan import MadeBucket
from trainyard.eks.addons import installed
from trainyard.eks.settings.volumes import encrypted_class
from trainyard.eks.teams.plan import NetworkPolicy, NetworkRule, Peer
from trainyard.eks.teams.resolve import IMDS, NAMESPACE, POD_IDENTITY, privileged_namespace
from trainyard.extensions.observability.logs import sizing
from trainyard.extensions.observability.logs.names import (
    ALLOY_PORT,
    CLASS,
    FLUENT_BIT,
    LOKI,
    LOKI_PORT,
    bucket_of,
    cloud_watch_of,
    kept,
    key_route,
    log_group,
    loki_of,
    namespace,
)
from trainyard.extensions.observability.logs.plan import LogBucket, LogGroup, LogSize
from trainyard.extensions.observability.logs.spec import CloudWatch, Loki
from trainyard.language.units import Duration
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

_OBSERVER = "kube-prometheus-stack"
"""Scrapes Loki and Alloy, and has the Alertmanager that Loki tells of what its rules find."""
_DAY = 24 * 3600
_TENANT = "fake/"
"""What the keys of lines begin with where nobody says a tenant (Loki 3.7.6, auth_enabled; schema v13)."""
_LONGER = 2
"""Days by which S3 keeps lines longer than Loki, whose compactor deletes them by its own list: what S3 deleted before
would be an error of the compactor (Loki, operations/storage/retention)."""


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing where the spec does not ask for it."""
    if kept(context):
        yield from _apart(context)
    loki = loki_of(context)
    if loki is not None:
        yield from _loki(context, loki)
    cloud_watch = cloud_watch_of(context)
    if cloud_watch is not None:
        yield from _cloud_watch(context, cloud_watch)


def _apart(context: Context) -> Iterator[PlanItem]:
    """The namespace of what keeps and collects lines. Nobody has a password there, so who reaches Loki says a policy:
    Alloy, Prometheus and who asks from its namespace."""
    name = namespace(context)
    yield privileged_namespace(context, name, key_route())
    own = Peer(pods={})
    ingress = [NetworkRule(peers=(own,))]
    egress = [
        NetworkRule(peers=(own,)),
        NetworkRule(
            peers=(Peer(namespaces={NAMESPACE: "kube-system"}),), ports=(("UDP", 53), ("TCP", 53))
        ),
        # S3 or CloudWatch, and the API server, whose addresses nobody knows before it is made.
        NetworkRule(peers=(Peer(cidr="0.0.0.0/0", excluded=(IMDS,)),), ports=(("TCP", 443),)),
        # EKS user guide, pod-id-how-it-works: where the agent of the node hands out credentials.
        NetworkRule(peers=(Peer(cidr=POD_IDENTITY),), ports=(("TCP", 80),)),
    ]
    observed = any(addon.component == _OBSERVER for addon in installed(context))
    if observed and loki_of(context) is not None:
        observer = Peer(namespaces={NAMESPACE: context.release.chart(_OBSERVER).namespace})
        ports = (("TCP", LOKI_PORT), ("TCP", ALLOY_PORT))
        ingress.append(NetworkRule(peers=(observer,), ports=ports))
        egress.append(NetworkRule(peers=(observer,), ports=(("TCP", 9093),)))
    yield NetworkPolicy(
        at=key_route(), name=name, namespace=name, ingress=tuple(ingress), egress=tuple(egress)
    )


def _loki(context: Context, loki: Loki) -> Iterator[PlanItem]:
    place = key_route() / "loki"
    size = sizing.volume(context, loki.per_pod_day, loki.retention)
    if size.a_day.value > sizing.MOST_A_DAY.value:
        context.doubt(
            "RES340",
            f"{size.working} pods of jobs and {size.others} others write {size.a_day} a day, and one pod of Loki takes "
            f"some {sizing.MOST_A_DAY}",
            place / "perPodDay",
            "write a smaller `perPodDay`, if jobs write less, or have them write less",
            source="chart loki 18.11.0, values.yaml: deploymentMode Monolithic",
        )
    check_key(context, loki.kms_key, place)
    bucket = bucket_of(context, loki)
    made = None
    if loki.bucket is None:
        made = _made(context, loki, bucket)
    where = namespace(context)
    yield LogBucket(
        at=place,
        cluster=context.name,
        bucket=bucket,
        partition=context.partition,
        namespace=where,
        service_account=LOKI,
        trust=iam.pod_identity_trust(context.cluster_arn, where, LOKI),
        key=loki.kms_key,
        made=made,
    )
    yield encrypted_class(context, CLASS, place)
    yield _size(context, size, str(loki.retention))


def _cloud_watch(context: Context, cloud_watch: CloudWatch) -> Iterator[PlanItem]:
    place = key_route() / "cloudWatch"
    check_key(context, cloud_watch.kms_key, place)
    days = cloud_watch.retention_in_days
    size = sizing.volume(context, cloud_watch.per_pod_day, Duration(days * _DAY))
    group, where = log_group(context), namespace(context)
    owner = f"arn:{context.partition}:logs:{context.spec.region}:{context.spec.account}"
    yield LogGroup(
        at=place,
        cluster=context.name,
        group=group,
        arn=f"{owner}:log-group:{group}",
        days=days,
        namespace=where,
        service_account=FLUENT_BIT,
        trust=iam.pod_identity_trust(context.cluster_arn, where, FLUENT_BIT),
        key=cloud_watch.kms_key,
        tags=context.spec.tags,
        origins={"days": place / "retentionInDays", "key": place / "kmsKey"},
    )
    yield _size(context, size, f"{days} days")


def _made(context: Context, loki: Loki, bucket: str) -> MadeBucket:
    """A bucket without versions: lines are written once, and what is deleted is to be gone."""
    place = key_route() / "loki"
    days = loki.retention.seconds // _DAY + _LONGER
    context.derive(
        "logs",
        "bucket",
        bucket,
        f"the bootstrap makes it; S3 deletes lines after {days} days, {_LONGER} after Loki does",
        "Loki, operations/storage/retention",
        follows=place / "retention",
    )
    return MadeBucket(
        at=place,
        name=LOKI,
        cluster=context.name,
        key=loki.kms_key,
        tags={**context.spec.tags, "trainyard-storage": f"{context.name}.{LOKI}"},
        bucket=bucket,
        partition=context.partition,
        versioning=False,
        expiration=(_TENANT, days),
        origins={
            "bucket": place / "bucket",
            "versioning": place,
            "key": place / "kmsKey",
            "transitions": place / "retention",
        },
    )


def _size(context: Context, size: sizing.Volume, retention: str) -> LogSize:
    context.derive(
        "logs",
        "kept",
        size.kept,
        f"{size.working} pods of jobs with {size.per_pod} a day and {size.others} others with {sizing.OTHERS}, for "
        f"{retention}, as they are written",
        "set by Trainyard",
    )
    return LogSize(
        at=key_route(),
        working=size.working,
        others=size.others,
        per_pod=size.per_pod,
        a_day=size.a_day,
        kept=size.kept,
        retention=retention,
    )
