"""The spec of monitoring: one key, since pools, queues, jobs and storage say what there is to watch."""

from typing import Literal

from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field
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
        bound="`AWS_SSO`, `SAML`; one of them at least; in a Region that has Amazon Managed Grafana",
        source="Amazon Managed Grafana API, CreateWorkspace (botocore 1.44.5); CloudFormation registry by "
        "Region, as in cfn-lint 1.58.0",
        codes=("RES361",),
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
        bound="2h or more; what it needs fits on a volume of EBS; with `managed` whole days, 1095 at most",
        source="Prometheus, storage: blocks of two hours; AMP user guide, AMP-workspace-configuration",
        codes=("RES330", "RES357"),
    )
    interval: ScrapeInterval = Field(
        Duration(30),
        description="How often each target is scraped, and each rule evaluated; with `managed` AWS evaluates them each "
        "minute.",
        examples=["30s"],
        bound="5s to 2m",
        source="DCGM's host engine reads each second; Prometheus looks back five minutes",
    )
    disk: Size | None = Field(
        None,
        description="The size of Prometheus' EBS volume; derived: what `retention` needs for the series of the "
        "cluster.",
        examples=["50Gi"],
        bound="whole GiB, 1 to 65536; what `retention` needs; none with `managed`",
        source="EC2 API CreateVolume Size (botocore 1.44.5); Prometheus, storage, operational aspects",
        codes=("RES180", "RES330", "RES356"),
    )
    gpu_utilization: int = Field(
        50,
        ge=1,
        le=99,
        description="The share of time, in percent, that the GPUs of a job must be busy over an hour; below it an "
        "alert fires.",
        examples=[95],
        bound="1 to 99",
        source="a percentage, below which an alert fires",
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
