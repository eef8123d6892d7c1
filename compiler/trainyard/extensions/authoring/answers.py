"""Judges the answers of ``init``, each by what is known when it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from trainyard.catalog import Catalog, InstanceType
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.models.models import field_at
from trainyard.language.places import Route
from trainyard.run.language.whole import language

_FORMS: Mapping[str, str] = {
    "name": "metadata.name",
    "account": "spec.account",
    "region": "spec.region",
    "zone": "spec.nodePools.zones",
    "nodes": "spec.nodePools.nodes.max",
    "reservation": "spec.nodePools.capacity.block.reservations.id",
    "starts": "spec.nodePools.capacity.block.starts",
    "ends": "spec.nodePools.capacity.block.ends",
    "team": "spec.queues.name",
    "git_url": "spec.flux.url",
    "api": "spec.platform.eks.apiServer.public",
}
"""The key of the spec that has each answer; the keys of two are lists."""
_LISTS = ("zone", "api")


def fault_of(
    key: str,
    said: str,
    given: Mapping[str, str],
    catalog: Catalog,
    instance: Callable[[Mapping[str, str], Catalog], InstanceType],
) -> str:
    """What is wrong with an answer, and what to write; empty where nothing is. ``given``: the answers before it;
    ``instance``: the type that is meant by the answers."""
    if said == "":
        return ""  # each default of nothing says what is taken then
    fault = _fault_of_form(key, said)
    if fault:
        return fault
    region = given.get("region", "")
    zones = catalog.regions.get(region, ())
    if key == "region" and said not in catalog.regions:
        known = name_meant(said, catalog.regions) or f"write one of {listed(catalog.regions)}"
        return f"region `{said}` is unknown: {known}"
    if key == "zone" and zones and said not in zones:
        return f"zone `{said}` is not in region `{region}`: it has {listed(zones)}"
    if key == "type" and region:
        known_type = instance({**given, "type": said}, catalog)
        if known_type.zones and zones and not known_type.zones.get(region):
            offered = listed(sorted(known_type.zones))
            return f"`{known_type.name}` is not offered in {region}: it is in {offered}"
    if key == "buy" and said == "block" and {"type", "region"} <= given.keys():
        known_type = instance(given, catalog)
        if not known_type.capacity_block:
            return f"`{known_type.name}` is not sold in Capacity Blocks: write one of the others"
    if key == "ends" and {"starts", "reservation"} <= given.keys():
        reservations = [{"id": given["reservation"]}]
        block = {"reservations": reservations, "starts": given["starts"], "ends": said}
        return _misfit("spec.nodePools.capacity.block", block, said)
    return ""


def _fault_of_form(key: str, said: str) -> str:
    path = _FORMS.get(key)
    if path is None:
        return ""
    if key == "nodes":
        if not (said.isascii() and said.isdecimal() and int(said)):
            return f"`{said}` is no number of nodes: write 1 or more"
        return _misfit(path, int(said), said)
    return _misfit(path, [said] if key in _LISTS else said, said)


def _misfit(path: str, value: Any, said: str) -> str:
    """What is wrong with the value of a key of the spec."""
    field = field_at(language(), Route(tuple(path.split("."))))
    assert field is not None
    form: TypeAdapter[Any] = TypeAdapter(field.rebuild_annotation())
    try:
        form.validate_python(value)
    except ValidationError as problem:
        found = problem.errors(include_url=False)[0]
        context = found.get("ctx") or {}
        if found["type"] == "spec_value":
            return f"{context['fact']}: {context['help']}"
        return f"`{said}`: {found['msg'].lower()}"
    return ""
