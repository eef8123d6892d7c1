"""What is made for images beside them: instructions of a Dockerfile, caches of registries."""

from __future__ import annotations

from typing import ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(PlanItem):
    """An instruction of a Dockerfile: FROM with its image, RUN with its commands, ENV and ARG with `NAME=value`. It is
    lifted alone, since the plan says the same in a ``Recipe``. ``inside``: of FROM, whether the image is an earlier
    stage."""

    carried: ClassVar[bool] = False

    path: str
    instruction: str
    words: tuple[str, ...] = ()
    inside: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCache(PlanItem):
    """A pull-through cache of the account's ECR registry. No manifest carries it. ``upstream``: what ECR calls the
    registry, ``url`` its address; ``secret``: the ARN of its login."""

    carried: ClassVar[bool] = False

    name: str
    cluster: str
    upstream: str
    url: str
    prefix: str
    secret: str | None = None
