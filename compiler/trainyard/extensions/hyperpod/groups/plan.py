"""Instance groups of HyperPod: one for each pool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from trainyard.catalog.hyperpod import PREFIX
from trainyard.core.pools.plan import FixedPool
from trainyard.language.dataclass import dataclass

_DOMAIN = "sagemaker.amazonaws.com"
HEALTH = f"{_DOMAIN}/node-health-status"
GROUP = f"{_DOMAIN}/instance-group-name"
"""The label of a node with the name of its instance group."""
SCHEDULABLE = "Schedulable"
"""The label of a node by which HyperPod says that jobs may run on it, and its value then."""


def own_labels(group: str) -> Mapping[str, str]:
    """The labels that HyperPod gives to the nodes of a group (SageMaker developer guide, sagemaker-hyperpod-eks)."""
    return {HEALTH: SCHEDULABLE, f"{_DOMAIN}/compute-type": "hyperpod", GROUP: group}


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceGroup(FixedPool):
    """An item of ``InstanceGroups`` of CreateCluster (SageMaker API, botocore 1.44.5).

    Its nodes have the EFA devices of their type, whether a request says so or not. Its types are EC2's names: what
    HyperPod calls them is written with ``ml.``. ``role``: the ARN of its execution role; ``scripts`` and
    ``on_create``: the prefix of S3 with its lifecycle scripts, and the first of them; ``checks``: deep health checks
    of new nodes; ``plan``: the ARN of the training plan that its nodes come from;
    ``volume``: the size of its second volume in GiB; ``security_groups``: those of its nodes, where they are not all of
    the cluster's.
    """

    single: ClassVar[bool] = False
    type_prefix: ClassVar[str] = PREFIX

    role: str = ""
    scripts: str = ""
    on_create: str = ""
    checks: tuple[str, ...] = ()
    plan: str | None = None
    volume: int | None = None
    security_groups: tuple[str, ...] = ()
