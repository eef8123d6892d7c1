"""Lower: Provider and Alert of Flux (notification-controller v1.9.3), and the stack of Alertmanager's role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.extensions.observability.notifications.plan import (
    API,
    FluxAlert,
    FluxProvider,
    TopicPublisher,
)
from trainyard.output import Artifact
from trainyard.output.lowering.body import fields_given, file_of, object_head
from trainyard.output.lowering.templates import STACKS, inline_policy, pod_identity, template
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan

_FOLDER = "flux"
"""What Flux says of itself is beside its Kustomizations, so that it also speaks of those."""
_STACK = f"{STACKS}/notifications.yaml"


def lower(plan: Plan) -> Iterator[Artifact]:
    """A file an object, and a stack where a topic is a receiver."""
    for provider in plan.of(FluxProvider):
        yield _in_flux(provider_body(provider), provider)
    for alert in plan.of(FluxAlert):
        yield _in_flux(alert_body(alert), alert)
    publisher = plan.one(TopicPublisher)
    if publisher is not None:
        body = template(f"Notifications of cluster {publisher.cluster}", _role(publisher))
        yield Artifact(body, _STACK, publisher.at, format="cloudformation")


def _in_flux(body: Body, node: FluxProvider | FluxAlert) -> Manifest:
    return Manifest(body, file_of(_FOLDER, body, flat=True), node.at)


def provider_body(provider: FluxProvider) -> Body:
    """Provider; its URL is in the Secret, under `address`."""
    spec = fields_given(
        type=provider.type, channel=provider.channel, secretRef={"name": provider.secret}
    )
    return {
        **object_head(f"{API}/v1beta3", "Provider", provider.name, provider.namespace),
        "spec": spec,
    }


def alert_body(alert: FluxAlert) -> Body:
    """Alert."""
    spec = fields_given(
        providerRef={"name": alert.provider},
        eventSeverity=alert.severity,
        eventSources=[{"kind": kind, "name": name} for kind, name in alert.sources],
        eventMetadata=dict(alert.metadata),
    )
    return {**object_head(f"{API}/v1beta3", "Alert", alert.name, alert.namespace), "spec": spec}


def _role(publisher: TopicPublisher) -> dict[str, Any]:
    """The role of Alertmanager, which may publish to these topics and nothing else."""
    statements = [
        {"Effect": "Allow", "Action": ["sns:Publish"], "Resource": list(publisher.topics)}
    ]
    if publisher.keys:
        # SNS developer guide, sns-key-management: what a publisher to an encrypted topic needs.
        actions = ["kms:GenerateDataKey", "kms:Decrypt"]
        statements.append({"Effect": "Allow", "Action": actions, "Resource": list(publisher.keys)})
    policy = inline_policy("notifications", statements)
    role = {"AssumeRolePolicyDocument": dict(publisher.trust), "Policies": [policy]}
    return pod_identity(role, publisher.cluster, publisher.namespace, publisher.service_account)
