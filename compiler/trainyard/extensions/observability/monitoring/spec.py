"""The spec of monitoring: one key, since pools, queues, jobs and storage say what there is to watch."""

from typing import Literal

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.section import Section
from trainyard.language.models.types import Retention, ScrapeInterval, Size
from trainyard.language.units import Duration


class ManagedGrafana(SpecModel):
    """A workspace of Amazon Managed Grafana."""

    authentication_providers: list[Literal["AWS_SSO", "SAML"]] = Field(
        min_length=1,
        max_length=2,
        description="How people log in: by IAM Identity Center (`AWS_SSO`), by SAML, or both.",
        examples=[["AWS_SSO"]],
    )


class ManagedMonitoring(SpecModel):
    """Amazon Managed Service for Prometheus in place of the Prometheus and the Alertmanager of the cluster."""

    grafana: ManagedGrafana | None = Field(
        None,
        description="A workspace of Amazon Managed Grafana; unset: none is made, for a Grafana that you have.",
        examples=[{"authenticationProviders": ["AWS_SSO"]}],
    )


class OpenCost(SpecModel):
    """OpenCost, by the prices that Trainyard knows: nothing about it is to be set."""


class Monitoring(SpecModel):
    """Prometheus with what it scrapes. Its memory and disk follow from nodes, pods and series."""

    retention: Retention = Field(
        Duration(360 * 3600),
        description="How long samples are kept, with `managed` in whole days; they are deleted when they are older.",
        examples=["360h"],
    )
    interval: ScrapeInterval = Field(
        Duration(30),
        description="How often each target is scraped, and each rule evaluated; with `managed` AWS evaluates them each "
        "minute.",
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
        le=99,
        description="The share of time, in percent, that the GPUs of a job must be busy over an hour; below it an "
        "alert fires.",
        examples=[95],
    )
    managed: ManagedMonitoring | None = Field(
        None,
        description="Services of AWS keep samples and evaluate rules; unset: Prometheus, Alertmanager and Grafana in "
        "the cluster.",
        examples=[{"grafana": {"authenticationProviders": ["AWS_SSO"]}}],
    )
    open_cost: OpenCost | None = Field(
        None,
        description="OpenCost, which divides what nodes and volumes cost among pods; unset: it is not installed.",
        examples=[{}],
    )


class MonitoringSection(Section):
    """Metrics, and alerts over them."""

    monitoring: Monitoring | None = Field(
        None,
        description="Prometheus and Alertmanager with exporters and alerts; unset: none of them.",
        examples=[{}],
    )


SECTION = MonitoringSection
