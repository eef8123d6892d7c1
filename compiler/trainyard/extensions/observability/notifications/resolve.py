"""Notifications: receivers are there and of use, Secrets have what they read, and what Flux sends."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog import iam
from trainyard.core.notifications.spec import Notifications, Receiver
from trainyard.core.notifications.uses import check_topic, notifications_of, receivers
from trainyard.core.secrets.spec import SecretsSection
from trainyard.eks.flux.stages import FLUX
from trainyard.eks.secrets.plan import AwaitedSecret
from trainyard.extensions.observability.monitoring import names as monitoring
from trainyard.extensions.observability.notifications.alertmanager import routed
from trainyard.extensions.observability.notifications.names import (
    ACCOUNT,
    alerts_of,
    key_route,
    namespaces,
)
from trainyard.extensions.observability.notifications.plan import (
    FluxAlert,
    FluxProvider,
    TopicPublisher,
)
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.plan.context import Context

_ADDRESS = "address"
"""The key of a Secret in which Flux looks for a URL (notification-controller v1.9.3, v1beta3 Provider, secretRef)."""
_FAILING = ("GitRepository", "Kustomization", "HelmRelease")


def resolve(context: Context) -> Iterator[PlanItem]:
    """Nothing where the spec does not ask for it."""
    notifications = notifications_of(context)
    if notifications is None:
        return
    context.reading.update(namespaces(context))
    names = [receiver.name for receiver in notifications.receivers]
    _check_watchdog(context, notifications)
    if notifications.default is not None and not monitoring.is_wanted(context):
        context.fault(
            "RES352",
            "alerts are sent by Alertmanager, and the spec has no `monitoring`",
            key_route() / "default",
            "write `monitoring: {}`, or remove `default`, `critical`, `teams` and `watchdog`: `flux` needs none",
        )
    places: dict[str, Route] = {}
    for index, name in enumerate(names):
        places.setdefault(name, key_route() / "receivers" / index)
    if alerts_of(context) is not None:
        yield from _of_alerts(context, notifications, places)
    for receiver in notifications.receivers:
        if receiver.name == notifications.flux:
            yield from _of_flux(context, receiver, places[receiver.name])


def _check_watchdog(context: Context, notifications: Notifications) -> None:
    known = receivers(context, notifications)
    watchdog = known.get(notifications.watchdog or "")
    if watchdog is not None and (watchdog.slack or watchdog.pager_duty):
        context.fault(
            "RES354",
            f"`Watchdog` always fires, and receiver `{watchdog.name}` is read by people",
            key_route() / "watchdog",
            "name a `webhook` or `sns` of a service that raises an alarm when it hears nothing",
        )


def _of_alerts(
    context: Context, notifications: Notifications, places: dict[str, Route]
) -> Iterator[PlanItem]:
    """The Secrets that Alertmanager reads, and its role for topics."""
    namespace = monitoring.namespace(context)
    topics, keys = [], []
    for receiver in routed(notifications):
        place = places[receiver.name]
        yield from _awaited(context, receiver, namespace, place)
        if receiver.sns is not None:
            check_topic(context, receiver.sns.topic_arn, place / "sns" / "topicArn")
            topics.append(receiver.sns.topic_arn)
            if receiver.sns.kms_key is not None:
                keys.append(receiver.sns.kms_key)
    if topics:
        yield TopicPublisher(
            at=key_route() / "receivers",
            cluster=context.name,
            namespace=namespace,
            service_account=ACCOUNT,
            trust=iam.pod_identity_trust(context.cluster_arn, namespace, ACCOUNT),
            topics=tuple(sorted(set(topics))),
            keys=tuple(sorted(set(keys))),
        )


def _of_flux(context: Context, receiver: Receiver, place: Route) -> Iterator[PlanItem]:
    """What Flux sends when it fails, with the cluster's name; it has no type for SNS, and takes PagerDuty's key from
    the object itself, which is in git (notification-controller v1.9.3, docs/spec/v1beta3/providers.md)."""
    if receiver.value is None or receiver.pager_duty is not None:
        context.fault(
            "RES353",
            f"receiver `{receiver.name}` is neither `slack` nor `webhook`, and Flux sends to these",
            key_route() / "flux",
            "name a receiver with `slack` or `webhook`",
            source="notification-controller v1.9.3, docs/spec/v1beta3/providers.md",
        )
        return
    path, value = receiver.value
    if value.key != _ADDRESS:
        context.fault(
            "RES353",
            f"Flux reads the key `{_ADDRESS}` of Secret `{value.secret}`, and receiver `{receiver.name}` the key "
            f"`{value.key}`",
            place / path / "key",
            f"write `key: {_ADDRESS}`, and name the key of the Secret so",
            source="notification-controller v1.9.3, docs/spec/v1beta3/providers.md",
        )
        return
    yield from _awaited(context, receiver, FLUX, place)
    channel, service = "", "generic"
    if receiver.slack is not None:
        channel, service = receiver.slack.channel, "slack"
    yield FluxProvider(
        at=key_route() / "flux",
        name=receiver.name,
        namespace=FLUX,
        type=service,
        secret=value.secret,
        channel=channel,
    )
    yield FluxAlert(
        at=key_route() / "flux",
        name=receiver.name,
        namespace=FLUX,
        provider=receiver.name,
        severity="error",
        sources=tuple((kind, "*") for kind in _FAILING),
        metadata={"cluster": context.name},
    )


def _awaited(
    context: Context, receiver: Receiver, namespace: str, place: Route
) -> Iterator[AwaitedSecret]:
    """The Secret that a receiver reads: one that ``secrets`` makes has to have the key in this namespace, and another
    one is there before Flux applies anything."""
    if receiver.value is None:
        return
    path, value = receiver.value
    made = {secret.name: secret for secret in SecretsSection.of(context.spec).secrets}
    secret = made.get(value.secret)
    if secret is None:
        context.external.add(("v1", "Secret", namespace, value.secret))
        yield AwaitedSecret(at=place / path, namespace=namespace, name=value.secret, key=value.key)
        return
    keys = secret.secrets_manager.keys
    if namespace not in secret.namespaces:
        context.fault(
            "RES110",
            f"receiver `{receiver.name}` reads secret `{value.secret}` in `{namespace}`, and it is made in "
            f"{listed(secret.namespaces)}",
            place / path / "secret",
            f"add `{namespace}` to `namespaces` of the secret",
        )
    elif keys and value.key not in keys:
        context.fault(
            "RES110",
            f"secret `{value.secret}` has no key `{value.key}`",
            place / path / "key",
            f"write one of {listed(keys)}, or add it to `keys` of the secret",
        )
