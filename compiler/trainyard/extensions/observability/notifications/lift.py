"""Lift: Provider and Alert of Flux."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.observability.notifications.plan import API, FluxAlert, FluxProvider
from trainyard.lift.reader import Reader, name_of, namespace_of
from trainyard.plan.base import PlanItem


def provider(body: Reader) -> Iterator[PlanItem]:
    """Provider."""
    spec = body / "spec"
    yield FluxProvider(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        type=(spec / "type").word(),
        secret=spec.follow("secretRef", "name").word(),
        channel=(spec / "channel").word(),
    )


def alert(body: Reader) -> Iterator[PlanItem]:
    """Alert; an event has the severity `info` unless it says another one."""
    spec = body / "spec"
    sources = (spec / "eventSources").items()
    yield FluxAlert(
        at=body.at,
        name=name_of(body),
        namespace=namespace_of(body),
        provider=spec.follow("providerRef", "name").word(),
        severity=(spec / "eventSeverity").text() or "info",
        sources=tuple(((each / "kind").word(), (each / "name").word()) for each in sources),
        metadata=(spec / "eventMetadata").strings(),
    )


KINDS = {f"{API}/Provider": provider, f"{API}/Alert": alert}
