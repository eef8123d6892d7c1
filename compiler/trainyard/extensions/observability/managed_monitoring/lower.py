"""Lower: the stack of workspaces, with the rules that AWS evaluates and the roles that write and read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.catalog.managed_policies import arn_of
from trainyard.extensions.observability.managed_monitoring.plan import (
    GrafanaWorkspace,
    MetricsWorkspace,
)
from trainyard.extensions.observability.monitoring.lower import groups_body
from trainyard.extensions.observability.monitoring.plan import RuleGroups
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.emit.yaml import dump
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import (
    STACKS,
    inline_policy,
    pod_identity,
    tag_list,
    template,
)
from trainyard.output.lowering.text import rendered
from trainyard.plan import Plan

_STACK = f"{STACKS}/monitoring.yaml"
_SCRIPT = "bootstrap/dashboards.sh"
_PACKAGE = "trainyard.extensions.observability.managed_monitoring"
_ARN = {"Fn::GetAtt": ["Workspace", "Arn"]}
GRAFANA_VERSION = "10.4"
"""Its data source of Prometheus signs requests itself; that of 12 is a plugin that people install (Amazon Managed
Grafana user guide, version-differences; Grafana, grafana-amazonprometheus-datasource)."""


def lower(plan: Plan) -> Iterator[Artifact]:
    """One stack, where AWS keeps the samples."""
    workspace = plan.one(MetricsWorkspace)
    if workspace is None:
        return
    grafana = plan.one(GrafanaWorkspace)
    resources = {
        "Workspace": _workspace(workspace),
        **_rules(workspace),
        **_writer(workspace),
        **_grafana(grafana),
    }
    body = template(f"Monitoring of cluster {workspace.cluster}", resources)
    properties = ("Resources", "Workspace", "Properties")
    origins: Places = {
        (*properties, "WorkspaceConfiguration"): workspace.where("days"),
        (*properties, "AlertManagerDefinition"): workspace.where("alertmanager"),
    }
    yield Artifact(body, _STACK, workspace.at, origins, format="cloudformation")
    if grafana is not None:
        yield Artifact(
            path=_SCRIPT,
            at=grafana.at,
            text=lambda: rendered(_PACKAGE, "dashboards.sh.j2", grafana=grafana),
            format="shell",
        )


def _workspace(workspace: MetricsWorkspace) -> dict[str, Any]:
    """AWS::APS::Workspace (CloudFormation template reference); the definition holds a text of YAML in one of YAML (AMP
    user guide, AMP-alertmanager-config)."""
    definition = None
    if workspace.alertmanager is not None:
        definition = dump({"alertmanager_config": dump(workspace.alertmanager)})
    properties = fields_given(
        Alias=workspace.cluster,
        AlertManagerDefinition=definition,
        WorkspaceConfiguration={"RetentionPeriodInDays": workspace.days},
        Tags=tag_list(workspace.tags),
    )
    return {"Type": "AWS::APS::Workspace", "Properties": properties}


def _rules(workspace: MetricsWorkspace) -> dict[str, Any]:
    """AWS::APS::RuleGroupsNamespace (CloudFormation template reference): the text of a file of Prometheus' rules."""
    return {_logical(groups): _namespace(groups) for groups in workspace.rules}


def _logical(groups: RuleGroups) -> str:
    words = groups.name.removeprefix("trainyard-").split("-")
    return "Rules" + "".join(word.capitalize() for word in words)


def _namespace(groups: RuleGroups) -> dict[str, Any]:
    properties = {
        "Workspace": _ARN,
        "Name": groups.name,
        "Data": dump({"groups": groups_body(groups)}),
    }
    return {"Type": "AWS::APS::RuleGroupsNamespace", "Properties": properties}


def _writer(workspace: MetricsWorkspace) -> dict[str, Any]:
    """The role of Prometheus, which may send samples to this workspace and nothing else."""
    statement = {"Effect": "Allow", "Action": ["aps:RemoteWrite"], "Resource": _ARN}
    role = {
        "AssumeRolePolicyDocument": dict(workspace.trust),
        "Policies": [inline_policy("monitoring", [statement])],
    }
    return pod_identity(role, workspace.cluster, workspace.namespace, workspace.service_account)


def _grafana(grafana: GrafanaWorkspace | None) -> dict[str, Any]:
    """AWS::Grafana::Workspace (CloudFormation template reference), and the role by which it asks."""
    if grafana is None:
        return {}
    properties = {
        "Name": grafana.cluster,
        "AccountAccessType": "CURRENT_ACCOUNT",
        "AuthenticationProviders": list(grafana.authentication),
        "DataSources": ["PROMETHEUS", "CLOUDWATCH"],
        "GrafanaVersion": GRAFANA_VERSION,
        "PermissionType": "CUSTOMER_MANAGED",
        "RoleArn": {"Fn::GetAtt": ["GrafanaRole", "Arn"]},
    }
    return {
        "GrafanaRole": {"Type": "AWS::IAM::Role", "Properties": _reader(grafana)},
        "Grafana": {"Type": "AWS::Grafana::Workspace", "Properties": properties},
    }


def _reader(grafana: GrafanaWorkspace) -> dict[str, Any]:
    """The role of Grafana: it asks this workspace, and CloudWatch (Amazon Managed Grafana user guide,
    AMG-manage-permissions and cross-service-confused-deputy-prevention)."""
    asks: list[dict[str, Any]] = [
        {"Effect": "Allow", "Action": ["aps:ListWorkspaces"], "Resource": "*"},
        {"Effect": "Allow", "Action": list(_ASKS), "Resource": _ARN},
    ]
    of_account = f"arn:{grafana.partition}:grafana:{grafana.region}:{grafana.account}:/workspaces/*"
    trust = {
        "Effect": "Allow",
        "Principal": {"Service": "grafana.amazonaws.com"},
        "Action": "sts:AssumeRole",
        "Condition": {
            "StringEquals": {"aws:SourceAccount": grafana.account},
            "StringLike": {"aws:SourceArn": of_account},
        },
    }
    return {
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]},
        "ManagedPolicyArns": [arn_of("AmazonGrafanaCloudWatchAccess", grafana.partition)],
        "Policies": [inline_policy("prometheus", asks)],
    }


_ASKS = (
    "aps:DescribeWorkspace",
    "aps:GetLabels",
    "aps:GetMetricMetadata",
    "aps:GetSeries",
    "aps:QueryMetrics",
)
