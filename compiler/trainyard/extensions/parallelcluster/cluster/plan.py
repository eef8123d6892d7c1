"""The cluster of ParallelCluster: its head node, and what holds for all of its nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar

from trainyard.core.cloud.plan import RegionalCluster
from trainyard.extensions.parallelcluster.settings.node_scripts import NodeScripts
from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem

CLUSTER_TAG = "trainyard-cluster"
"""The tag of AWS that everything of a cluster has."""
LOGIN_POOL = "login"
"""The name of the pool of login nodes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountingDatabase(PlanItem):
    """The MySQL database of Slurm's accounting; ``password``: the ARN of the secret that has it."""

    uri: str
    user: str
    password: str
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginPool(PlanItem):
    """The nodes that people log in to. ``grace_minutes``: how long they have when a node goes."""

    count: int
    instance_type: str
    subnet: str
    allowed_cidr: str | None = None
    grace_minutes: int | None = None
    security_groups: tuple[str, ...] = ()
    scripts: NodeScripts = NodeScripts()


@dataclass(frozen=True, slots=True, kw_only=True)
class SlurmCluster(RegionalCluster):
    """A cluster. ``idle_minutes``: how long a node without a job stays; ``head_gib``, ``head_iops`` and
    ``head_throughput``: the root volume of the head node.

    ``settings`` are parameters of ``slurm.conf``. ``scripts``: what the head node runs when it is set up.
    ``head_minutes`` and ``node_minutes``: how long it and compute nodes may take for that. ``has_logs``: whether
    CloudWatch has logs of nodes, and ``logs_end_with_it``: whether they are deleted with the cluster. What a file of
    others does not say is ``None``.
    """

    single: ClassVar[bool] = True

    os: str
    head_type: str
    head_subnet: str
    head_gib: int | None = None
    head_iops: int | None = None
    head_throughput: int | None = None
    key_name: str | None = None
    allowed_cidr: str | None = None
    security_groups: tuple[str, ...] = ()
    idle_minutes: int | None = None
    settings: tuple[tuple[str, str | int], ...] = ()
    database: AccountingDatabase | None = None
    login: LoginPool | None = None
    policies: tuple[str, ...] = ()
    log_days: int | None = None
    has_logs: bool = True
    logs_end_with_it: bool = False
    detailed_monitoring: bool = False
    tags: Mapping[str, str] = field(default_factory=dict)
    scripts: NodeScripts = NodeScripts()
    head_minutes: int | None = None
    node_minutes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStack(PlanItem):
    """What the bootstrap makes for all nodes: the security group of who mounts file systems, the bucket of scripts, the
    policy by which they read these, images and secrets; and a budget. ``secrets``: their names; ``keys``: the ARNs of
    the KMS keys that encrypt them, where they are not the service's own; ``objects``: scripts of the spec, as
    BUCKET/KEY; ``topics``: what jobs publish to, and ``topic_keys`` what encrypts these."""

    carried: ClassVar[bool] = False

    cluster: str
    account: str
    region: str
    partition: str
    vpc: str
    bucket: str
    export: str
    policy: str
    secrets: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    topic_keys: tuple[str, ...] = ()
    budget: int | None = None
    emails: tuple[str, ...] = ()
    tags: Mapping[str, str] = field(default_factory=dict)
