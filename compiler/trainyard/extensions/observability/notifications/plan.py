"""Notifications: what Flux sends and where, the topics that Alertmanager publishes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem

API = "notification.toolkit.fluxcd.io"


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxProvider(PlanItem):
    """notification.toolkit.fluxcd.io/v1beta3 Provider: ``type`` is the service, ``secret`` the Secret with its URL."""

    name: str
    namespace: str
    type: str
    secret: str
    channel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FluxAlert(PlanItem):
    """notification.toolkit.fluxcd.io/v1beta3 Alert: which events of which objects, as kind and name, a Provider sends.

    ``metadata`` is added to each event.
    """

    name: str
    namespace: str
    provider: str
    severity: str
    sources: tuple[tuple[str, str], ...]
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicPublisher(PlanItem):
    """The role of Alertmanager: ``topics`` that it publishes to, and ``keys`` of KMS that encrypt them, by ARN."""

    carried: ClassVar[bool] = False
    single: ClassVar[bool] = True

    cluster: str
    namespace: str
    service_account: str
    trust: Mapping[str, Any]
    topics: tuple[str, ...]
    keys: tuple[str, ...] = ()
