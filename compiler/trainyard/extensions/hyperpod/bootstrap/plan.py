"""What people or CI run to make and to take down the nodes of HyperPod."""

from __future__ import annotations

from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodBootstrap(PlanItem):
    """What its script and its page say. ``governed``: SageMaker makes the queues. ``operator`` is the add-on of
    HyperPod's training operator, where jobs need it."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    region: str
    partition: str
    account: str
    path: str
    scripts: str
    bucket: str
    governed: bool = False
    operator: str = ""
