"""What differs for one component."""

from typing import Any

from pydantic import Field

from compiler.spec.base import SpecModel
from compiler.spec.types import ChartDigest, ComponentVersion


class Component(SpecModel):
    """What differs from the release for one component."""

    version: ComponentVersion | None = Field(
        None,
        description="The version of the component; derived: the release's, or the one that another component needs.",
        examples=["0.19.2"],
    )
    digest: ChartDigest | None = Field(
        None,
        description="The digest of its chart in an OCI registry, which Flux then takes whatever its tag means by then; "
        "goes with `version`, whose chart it is.",
        examples=["sha256:" + "3b0c" * 16],
    )
    values: dict[str, Any] = Field(
        {},
        description="Values of its chart, over Trainyard's: mappings merge by key, lists and scalars replace, `null` "
        "removes a value of Trainyard's.",
        examples=[{"controllerManager": {"replicas": 3}}],
    )
