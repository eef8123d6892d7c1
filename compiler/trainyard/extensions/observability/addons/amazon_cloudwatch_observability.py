"""The CloudWatch agent with what it brings, where the spec asks for it: `platform.eks.addons`.

Chart amazon-cloudwatch-observability 6.4.0 (aws-observability/helm-charts 71a298f, values.yaml), which the EKS add-on
is made of: all of its agents tolerate every taint. It has an exporter of DCGM of its own, and a monitor of Neuron. Of
the profiling counters, a GPU lets one host engine read at a time (NVIDIA/dcgm-exporter #7), which is that of our
exporter where there is `monitoring`; so both are off then. The keys are in the chart since 8de9850 (2025-07-22).
"""

from __future__ import annotations

from typing import Any

from trainyard.catalog import InstanceType
from trainyard.core.pods.plan import NEURON
from trainyard.eks.addons.addon import OWN, AddOn, Controller, Daemon, Endpoint, Setting, on_gpus
from trainyard.eks.settings.spec import AT_EKS, ClusterSection
from trainyard.extensions.observability.logs.names import TO_CLOUD_WATCH
from trainyard.extensions.observability.monitoring.names import is_wanted as monitored
from trainyard.plan.context import Context

NAME = "amazon-cloudwatch-observability"
_SOURCE = "amazon-cloudwatch-observability 6.4.0 chart values"


def wanted(context: Context) -> bool:
    """Where the spec names it."""
    return NAME in ClusterSection.of(context.spec).eks.addons


def values(setting: Setting) -> dict[str, Any]:
    """One reader of the counters of GPUs and Neuron devices."""
    if not monitored(setting.context):
        return {}
    return {"dcgmExporter": {"enabled": False}, "neuronMonitor": {"enabled": False}}


def _on_neuron(instance: InstanceType) -> bool:
    return instance.accelerator_resource == NEURON


def agents(context: Context) -> tuple[Daemon, ...]:
    """The two exporters of accelerators, where they are on."""
    if monitored(context):
        return ()
    return (
        Daemon(
            "cloudwatch-dcgm-exporter",
            250,
            128,
            _SOURCE,
            on=on_gpus,
            kept=False,
            resources=("dcgmExporter", "resources"),
        ),
        Daemon(
            "cloudwatch-neuron-monitor",
            256,
            128,
            _SOURCE,
            on=_on_neuron,
            kept=False,
            resources=("neuronMonitor", "resources"),
        ),
    )


def endpoints(context: Context) -> tuple[Endpoint, ...]:
    """Where its agents send lines and metrics."""
    source = "CloudWatch user guide, cloudwatch-and-interface-VPC"
    return (TO_CLOUD_WATCH, Endpoint("monitoring", "the CloudWatch agent writes metrics", source))


ADD_ON = AddOn(
    component=NAME,
    by=OWN,
    wanted=wanted,
    at=AT_EKS / "addons" / NAME,
    values=values,
    endpoints=endpoints,
    daemons=(
        Daemon("cloudwatch-agent", 250, 128, _SOURCE, kept=False, resources=("agent", "resources")),
        Daemon(
            "cloudwatch-fluent-bit",
            50,
            25,
            _SOURCE,
            kept=False,
            resources=("containerLogs", "fluentBit", "resources"),
        ),
    ),
    agents=agents,
    controllers=(Controller("cloudwatch-operator", 1, 100, 64, _SOURCE),),
)
