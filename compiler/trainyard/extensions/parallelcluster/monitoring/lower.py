"""Lower: the stack of alarms, and the script by which the agent of each node measures its GPUs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from trainyard.extensions.parallelcluster.monitoring.metrics import SCRIPT
from trainyard.extensions.parallelcluster.monitoring.plan import (
    MEASURED,
    Alarm,
    ClusterAlarms,
    GpuMetrics,
)
from trainyard.output import Artifact
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import STACKS, tag_list, template
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan

_HEAD = "HeadNode"


def lower(plan: Plan) -> Iterator[Artifact]:
    """The alarms, which know the head node once it is there, and the script."""
    alarms = plan.one(ClusterAlarms)
    if alarms is not None:
        yield _stack(alarms)
    metrics = plan.one(GpuMetrics)
    if metrics is not None:
        yield _script(metrics)


def _stack(alarms: ClusterAlarms) -> Artifact:
    resources = {_logical(alarm.name): _alarm(alarm, alarms) for alarm in alarms.alarms}
    head = {"Type": "AWS::EC2::Instance::Id", "Description": "The head node"}
    body = template(f"Alarms of cluster {alarms.cluster}", resources, Parameters={_HEAD: head})
    return Artifact(body, f"{STACKS}/alarms.yaml", alarms.at, format="cloudformation")


def _logical(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("-"))


def _alarm(alarm: Alarm, alarms: ClusterAlarms) -> dict[str, Any]:
    """AWS::CloudWatch::Alarm (CloudFormation template reference)."""
    dimensions: dict[str, Any] = dict(alarm.dimensions)
    if alarm.of_head:
        dimensions["InstanceId"] = {"Ref": _HEAD}
    if alarm.namespace == "ParallelCluster":
        dimensions["ClusterName"] = alarms.cluster
    comparison, threshold = "GreaterThanThreshold", alarm.above
    missing = "notBreaching"
    if alarm.below is not None:
        comparison, threshold, missing = "LessThanThreshold", alarm.below, "breaching"
    properties = fields_given(
        AlarmName=f"{alarms.cluster}-{alarm.name}",
        AlarmDescription=f"Cluster {alarms.cluster}: {alarm.what}",
        Namespace=alarm.namespace,
        MetricName=alarm.metric,
        Dimensions=[{"Name": name, "Value": value} for name, value in sorted(dimensions.items())],
        Statistic=alarm.statistic,
        Period=60 * alarm.minutes,
        EvaluationPeriods=alarm.periods,
        ComparisonOperator=comparison,
        Threshold=threshold,
        TreatMissingData=missing,
        AlarmActions=list(alarms.topics) or None,
        OKActions=list(alarms.topics) or None,
        Tags=tag_list(alarms.tags) or None,
    )
    return {"Type": "AWS::CloudWatch::Alarm", "Properties": properties}


def _script(metrics: GpuMetrics) -> Artifact:
    package = "trainyard.extensions.parallelcluster.monitoring"
    text = rendered(
        package, "gpu-metrics.sh.j2", configuration=json.dumps(_configuration(metrics), indent=2)
    )
    return Artifact(path=f"bootstrap/nodes/{SCRIPT}.sh", at=metrics.at, text=text, format="shell")


def _configuration(metrics: GpuMetrics) -> dict[str, Any]:
    """What the agent measures besides: a metric for each GPU and each thing measured of it, with the cluster's name."""
    gpus = {
        "measurement": list(MEASURED),
        "metrics_collection_interval": metrics.seconds,
        "append_dimensions": {"ClusterName": metrics.cluster},
    }
    return {"metrics": {"metrics_collected": {"nvidia_gpu": gpus}}}
