"""Jobs on SageMaker HyperPod: which run there, and what HyperPod reads of them."""

from __future__ import annotations

from trainyard.catalog.hyperpod import PREFIX
from trainyard.core.pools.plan import Pool
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup
from trainyard.extensions.hyperpod.jobs.resuming import AUTO_RESUME, MOST_RETRIES, resumes_in
from trainyard.judge.model.work import Work
from trainyard.plan.scheduling import INSTANCE_TYPE

__all__ = ["AUTO_RESUME", "MOST_RETRIES", "in_catalog", "is_on_hyperpod", "resumes_in"]

_LABELS = "sagemaker.amazonaws.com/"
_TYPES = PREFIX


def is_on_hyperpod(work: Work) -> bool:
    """Whether its pods are known to land on instance groups: by labels that only these have, or by its pools."""
    selector = work.selector
    if any(key.startswith(_LABELS) for key in selector):
        return True
    if selector.get(INSTANCE_TYPE, "").startswith(_TYPES):
        return True
    return bool(work.pools) and all(isinstance(pool, InstanceGroup) for pool in work.pools)


def in_catalog(pool: Pool, key: str, value: str) -> str:
    """The value of a label as the catalog has it: nodes of instance groups have HyperPod's names of types, with `ml.`;
    EC2's own is none of theirs."""
    if key != INSTANCE_TYPE or not isinstance(pool, InstanceGroup):
        return value
    return value.removeprefix(PREFIX) if value.startswith(PREFIX) else ""
