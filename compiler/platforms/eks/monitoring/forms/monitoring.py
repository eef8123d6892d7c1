"""What is said of monitoring: how long, how often, and what counts as too little."""

from pydantic import Field

from compiler.plan.units import Duration
from compiler.spec.base import SpecModel
from compiler.spec.types import Retention, ScrapeInterval, Size


class Monitoring(SpecModel):
    """Prometheus with what it scrapes. Its memory and disk follow from nodes, pods and series."""

    retention: Retention = Field(
        Duration(360 * 3600),
        description="How long Prometheus keeps samples; they are deleted when they are older.",
        examples=["360h"],
    )
    interval: ScrapeInterval = Field(
        Duration(30),
        description="How often each target is scraped, and each rule evaluated.",
        examples=["30s"],
    )
    disk: Size | None = Field(
        None,
        description="The size of Prometheus' EBS volume; derived: what `retention` needs for the series of the "
        "cluster.",
        examples=["50Gi"],
    )
    gpu_utilization: int = Field(
        50,
        ge=1,
        le=100,
        description="The share of time, in percent, that the GPUs of a job must be busy over an hour; below it an "
        "alert fires.",
        examples=[95],
    )
