"""Kustomizations of a cluster that have not applied what is merged: what comes after one of them waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import NamedTuple

from trainyard.eks.flux.stages import PREFIX
from trainyard.extensions.operate.api import Api
from trainyard.extensions.operate.applied import KUSTOMIZATIONS
from trainyard.extensions.operate.faults import RefusedError
from trainyard.output.body import at, items
from trainyard.output.manifest import Body

_WAITS = "DependencyNotReady"


class Hanging(NamedTuple):
    """A Kustomization: its name, the reason and what Flux says. ``waits``: for another one that is not Ready."""

    name: str
    reason: str
    message: str

    @property
    def waits(self) -> bool:
        return self.reason == _WAITS


def hanging(api: Api) -> Iterator[Hanging]:
    """Those that are not Ready, those first that wait for no other one. None where one may not look."""
    try:
        found = api.items(KUSTOMIZATIONS)
    except RefusedError as fault:
        if fault.status in (HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND):
            return
        raise
    late = [each for body in found if (each := _late(body)) is not None]
    yield from sorted(late, key=lambda each: (each.waits, each.name))


def _late(body: Body) -> Hanging | None:
    name = str(at(body, "metadata", "name"))
    if name != PREFIX and not name.startswith(f"{PREFIX}-"):
        return None
    for condition in items(body, "status", "conditions"):
        if condition.get("type") == "Ready" and condition.get("status") != "True":
            reason, said = str(condition.get("reason", "")), str(condition.get("message", ""))
            return Hanging(name, reason, said.partition("\n")[0])
    return None
