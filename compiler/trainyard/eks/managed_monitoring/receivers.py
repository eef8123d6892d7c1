"""Whom the Alertmanager of AWS tells: standard topics of SNS in its own account, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from trainyard.core.notifications.uses import notifications_of
from trainyard.eks.notifications import stack as notifications
from trainyard.language.places import Route
from trainyard.plan.context import Context

if TYPE_CHECKING:
    from trainyard.core.notifications.spec import Receiver, Sns

_SOURCE = "Amazon Managed Service for Prometheus user guide, AMP-alertmanager-receiver-config"
_INSTEAD = {
    "slack": "write `sns:` with a topic, to which Amazon Q Developer in chat applications subscribes the channel",
    "pagerDuty": "write `sns:` with a topic, to which a Lambda function subscribes that calls PagerDuty",
    "webhook": "write `sns:` with a topic, to which the URL subscribes",
}


def alertmanager(context: Context) -> Mapping[str, Any] | None:
    """The configuration of Alertmanager, where alerts are sent to somebody whom it can tell."""
    said = notifications_of(context)
    if said is None or said.default is None:
        return None
    from trainyard.eks.notifications.alertmanager import configuration, routed

    used = routed(said)
    for index, receiver in enumerate(said.receivers):
        if receiver in used:
            _check(context, receiver, notifications.at() / "receivers" / index)
    if any(receiver.sns is None for receiver in used):
        return None
    return configuration(context.name, said)


def _check(context: Context, receiver: Receiver, place: Route) -> None:
    if receiver.sns is not None:
        _check_topic(context, receiver.sns, place / "sns")
        return
    kind = _kind(receiver)
    context.fault(
        "RES358",
        f"Amazon Managed Service for Prometheus sends alerts to topics of SNS, and receiver `{receiver.name}` is "
        f"`{kind}`",
        place / kind,
        _INSTEAD[kind],
        key=True,
        source=_SOURCE,
    )


def _kind(receiver: Receiver) -> str:
    """The key of a receiver that is no topic."""
    if receiver.slack is not None:
        return "slack"
    if receiver.pager_duty is not None:
        return "pagerDuty"
    return "webhook"


def _check_topic(context: Context, sns: Sns, place: Route) -> None:
    _, partition, _, _, account, name = sns.topic_arn.split(":")
    if (partition, account) != (context.partition, context.spec.account):
        context.fault(
            "RES359",
            f"the topic is one of account {account} in `{partition}`, and alerts are sent to topics of "
            f"{context.spec.account} in `{context.partition}`",
            place / "topicArn",
            "take a topic of the cluster's account",
            source="Amazon Managed Service for Prometheus user guide, AMP-alert-manager",
        )
    elif name.endswith(".fifo"):
        context.fault(
            "RES359",
            f"`{name}` is a FIFO topic, and alerts are sent to standard topics",
            place / "topicArn",
            "take a standard topic",
            source=_SOURCE,
        )
    if sns.kms_key is not None:
        context.fault(
            "RES360",
            "`kmsKey` is for the role of the cluster's Alertmanager, and AWS publishes without it",
            place / "kmsKey",
            "remove it, and let `aps.amazonaws.com` use the key by the key's own policy: `kms:GenerateDataKey*` and "
            "`kms:Decrypt`",
            key=True,
            source="SNS developer guide, sns-key-management: event sources",
        )
