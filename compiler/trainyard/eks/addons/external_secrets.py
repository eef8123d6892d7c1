"""External Secrets, which makes Secrets of what AWS Secrets Manager keeps."""

from __future__ import annotations

from typing import Any

from trainyard.core.secrets.spec import SecretsSection
from trainyard.eks.addons.addon import OURS, AddOn, Controller, Endpoint, Setting
from trainyard.eks.addons.placing import BUDGET, REPLICAS
from trainyard.output.lowering.body import resources
from trainyard.plan.context import SPEC, Context

COMPONENT = "external-secrets"
ACCOUNT = "external-secrets"
"""The service account of the controller: the name of the release (external-secrets 2.9.0, templates/_helpers.tpl)."""
ROLE = "ExternalSecrets-{}"
"""The name of the controller's role in AWS, by the cluster's name: it may read just the secrets of the spec."""

_CPU, _MEMORY = 50, 128
_RESOURCES = resources(_CPU, _MEMORY)


def wanted(context: Context) -> bool:
    """Where the spec has secrets."""
    return bool(SecretsSection.of(context.spec).secrets)


def values(setting: Setting) -> dict[str, Any]:
    """external-secrets 2.9.0 chart values; its webhook has to answer for every edit of a secret."""
    return {
        "replicaCount": REPLICAS,
        "leaderElect": True,
        "podDisruptionBudget": dict(BUDGET),
        "resources": _RESOURCES,
        "serviceAccount": {"name": ACCOUNT},
        "webhook": {
            "replicaCount": REPLICAS,
            "podDisruptionBudget": dict(BUDGET),
            "resources": _RESOURCES,
        },
        "certController": {"resources": _RESOURCES},
    }


def endpoints(context: Context) -> tuple[Endpoint, ...]:
    """It reads secrets."""
    source = "Secrets Manager user guide, vpc-endpoint-overview"
    return (Endpoint("secretsmanager", "External Secrets reads secrets", source),)


ADD_ON = AddOn(
    component=COMPONENT,
    wanted=wanted,
    at=SPEC / "secrets",
    values=values,
    endpoints=endpoints,
    controllers=(
        Controller(
            "external-secrets",
            REPLICAS,
            _CPU,
            _MEMORY,
            OURS,
            resources=("resources",),
            replicas=("replicaCount",),
        ),
        Controller(
            "external-secrets-webhook",
            REPLICAS,
            _CPU,
            _MEMORY,
            OURS,
            resources=("webhook", "resources"),
            replicas=("webhook", "replicaCount"),
        ),
        Controller(
            "external-secrets-cert-controller",
            1,
            _CPU,
            _MEMORY,
            OURS,
            resources=("certController", "resources"),
            replicas=("certController", "replicaCount"),
        ),
    ),
)
