"""The bootstrap: what its scripts and its page say."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import ClusterFolder
from trainyard.extensions.parallelcluster.bootstrap.plan import SlurmBootstrap
from trainyard.extensions.parallelcluster.settings.names import scripts_bucket
from trainyard.extensions.parallelcluster.settings.spec import AT, ClusterSection
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

# ParallelCluster user guide, pcluster ssh: the default users of operating systems.
_USERS = {"alinux2023": "ec2-user", "rhel8": "ec2-user", "rhel9": "ec2-user"}


def resolve(context: Context) -> Iterator[PlanItem]:
    """The scripts and the page."""
    own = ClusterSection.of(context.spec).own
    path = f"{context.output}/{context.name}"
    yield ClusterFolder(path=path)
    yield SlurmBootstrap(
        at=AT,
        cluster=context.name,
        region=context.spec.region,
        account=context.spec.account,
        partition=context.partition,
        path=path,
        version=context.version("parallelcluster"),
        user=_USERS.get(own.os, "ubuntu"),
        bucket=scripts_bucket(context),
        accounting=own.accounting is not None,
        budget=own.budget is not None,
        apparmor=own.os == "ubuntu2404",
        key_name=own.ssh.key_name,
    )
