"""What the report says of HyperPod on EKS: what its instance groups cost, and how sick nodes are replaced."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainyard.catalog.prices import dearest, sagemaker
from trainyard.extensions.forecast.blocks import Block, Heading, paragraph, table
from trainyard.extensions.forecast.costs import Item, prices_known, usd_of
from trainyard.extensions.forecast.eks import report as of_eks
from trainyard.extensions.forecast.planned import PlannedCluster
from trainyard.extensions.hyperpod.cluster.plan import HyperPodCluster
from trainyard.extensions.hyperpod.settings.spec import HyperPodSection

__all__ = ["costs", "repair"]

_PLAN = "training plan: paid when it is bought"
"""SageMaker developer guide, reserve-capacity-with-training-plans; for how long, the plan says and not the spec."""


def costs(planned: PlannedCluster) -> Iterator[Item]:
    """What is paid beside storage. Instances of HyperPod have prices of their own (``ml.`` types), which are
    estimated by EC2's."""
    groups = {pool.name for pool in planned.pools()}
    for item in of_eks.costs(planned):
        if item.node and item.name in groups:
            named = ", ".join(f"ml.{name}" for name in item.what.split(", "))
            names = item.what.split(", ")
            price = dearest(sagemaker(planned.catalog, name, planned.spec.region) for name in names)
            item = replace(
                item, what=named, usd=usd_of(price), prices=prices_known(price), block=None
            )
            planned_ahead = item.name in HyperPodSection.of(planned.spec).own.training_plans
            yield replace(item, how=_PLAN, block=0.0) if planned_ahead else item
        else:
            yield item


def repair(planned: PlannedCluster) -> Iterator[Block]:
    """Whether sick nodes are replaced by themselves."""
    cluster = planned.plan.one(HyperPodCluster)
    assert cluster is not None
    yield Heading("Repair of nodes")
    if cluster.recovery == "Automatic":
        yield paragraph(
            "HyperPod's agent watches nodes and reboots or replaces sick ones (`NodeRecovery: Automatic`); "
            "a job with retries starts again on others."
        )
    else:
        yield paragraph(
            "HyperPod's agent marks nodes that are sick and leaves them (`NodeRecovery: None`): replace them by "
            "`aws sagemaker batch-replace-cluster-nodes`."
        )
    rows = [(pool.name, str(pool.nodes.max)) for pool in planned.pools()]
    yield table(("instance group", "nodes:"), rows)
