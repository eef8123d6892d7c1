"""EKS Auto Mode: EKS runs Karpenter, the device plugins and the CSI driver of EBS, and chooses the nodes' image."""

from typing import Self

from pydantic import Field, model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import fault
from trainyard.language.models.types import Period
from trainyard.language.units import Duration

LIFE = Duration(504 * 3600)
"""A node of Auto Mode lives 21 days at most (EKS user guide, auto-security): the API server refuses a NodePool whose
`expireAfter` and `terminationGracePeriod` are more together (aws-controllers-k8s/test-infra#1000, 2026-06)."""
_LEAST, _MOST = Duration(3600), Duration(480 * 3600)
_GRACE = Duration(168 * 3600)  # leaves 336h, Auto Mode's own `expireAfter`


class AutoMode(SpecModel):
    """A cluster whose nodes EKS launches, patches, repairs and replaces (EKS Auto Mode)."""

    termination_grace_period: Period | None = Field(
        None,
        description="How long a run goes on where its node has reached its age, which is 504h less this; derived: "
        "`168h`.",
        examples=["240h"],
    )

    @model_validator(mode="after")
    def _within_the_life(self) -> Self:
        grace = self.grace
        if not _LEAST <= grace <= _MOST:
            raise fault(
                f"`{grace}` of the {LIFE} that a node lives",
                f"write between `{_LEAST}` and `{_MOST}`",
                "terminationGracePeriod",
                source="EKS user guide, auto-security: maximum lifetime of 21 days",
            )
        return self

    @property
    def grace(self) -> Duration:
        """How long a run goes on where its node has reached its age."""
        return self.termination_grace_period or _GRACE

    @property
    def expire_after(self) -> Duration:
        """The age at which a node gets no more pods."""
        return Duration(LIFE.seconds - self.grace.seconds)
