"""Jobs on SageMaker HyperPod: which run there, and what HyperPod reads of them."""

from __future__ import annotations

from trainyard.catalog.hyperpod import PREFIX
from trainyard.extensions.hyperpod.groups.plan import InstanceGroup
from trainyard.extensions.hyperpod.jobs.resuming import AUTO_RESUME, MOST_RETRIES, resumes_in
from trainyard.judge.model.work import Work
from trainyard.plan.scheduling import INSTANCE_TYPE

__all__ = ["AUTO_RESUME", "MOST_RETRIES", "is_on_hyperpod", "resumes_in"]

_LABELS = "sagemaker.amazonaws.com/"


def is_on_hyperpod(work: Work) -> bool:
    """Whether its pods are known to land on instance groups: by labels that only these have, or by its pools."""
    selector = work.selector
    if any(key.startswith(_LABELS) for key in selector):
        return True
    if selector.get(INSTANCE_TYPE, "").startswith(PREFIX):
        return True
    return bool(work.pools) and all(isinstance(pool, InstanceGroup) for pool in work.pools)
