"""What differs for one EKS add-on."""

from typing import Any

from pydantic import Field

from compiler.spec.base import SpecModel
from compiler.spec.types import (
    AddonVersion,
)


class AddonSettings(SpecModel):
    """An EKS add-on of the cluster's own, or what it changes of one that every cluster has."""

    version: AddonVersion | None = Field(
        None,
        description="The build of the add-on; derived: the release's, or the one that EKS takes for an add-on that "
        "the release does not know.",
        examples=["v1.63.1-eksbuild.1"],
    )
    values: dict[str, Any] = Field(
        {},
        description="The configuration of the add-on (configurationValues), over what Trainyard sets.",
        examples=[{"env": {"WARM_ENI_TARGET": "1"}}],
    )
