"""Overlays: a user's newer facts about EC2, in the format of ``data/instances.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trainyard.catalog.instance import instance_from_row, zone_letters
from trainyard.disk.inputs import read_bytes
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error

SCHEMA = "trainyard-catalog/1"

Facts = Mapping[str, Any]

_HELP = "rewrite the file with `trainyard catalog refresh`"


def read_overlay(path: Path) -> tuple[Facts | None, list[Diagnostic]]:
    """The facts of an overlay file, or None and why not (``CAT001``, ``CAT002``)."""
    file = f"catalog file `{path}`"
    try:
        facts = json.loads(read_bytes(path))
    except OSError as fault:
        message = f"{file} cannot be read: {fault.strerror}"
        return None, [error("CAT001", message, help=_HELP)]
    except RecursionError:
        return None, [error("CAT002", f"{file} is nested too deeply", help=_HELP)]
    except ValueError as fault:
        return None, [error("CAT002", f"{file} is not JSON: {fault}", help=_HELP)]
    faults = _faults(facts)
    if faults:
        messages = [f"{file}: {what}" for what in faults]
        return None, [error("CAT002", message, help=_HELP) for message in messages]
    return facts, []


def _faults(facts: Any) -> list[str]:
    is_known = isinstance(facts, dict) and facts.get("schema") == SCHEMA
    if not is_known:
        return [f"`schema` is not `{SCHEMA}`"]
    faults: list[str] = []
    sources = facts.get("sources")
    if not isinstance(sources, list) or not all(map(_is_source, sources)):
        faults.append("`sources` is not a list of name, address, version and date")
    if not _are_regions(facts.get("regions")):
        faults.append("`regions` does not map regions to the letters of their zones")
    if not _are_zone_ids(facts.get("zone_ids", {})):
        faults.append("`zone_ids` does not map regions to the ids of their zones")
    if not isinstance(facts.get("account", ""), str):
        faults.append("`account` is not the id of an account")
    if not isinstance(facts.get("instances"), dict):
        faults.append("`instances` is not a mapping")
    if not faults:
        for name, row in facts["instances"].items():
            faults += _row_faults(name, row)
    return faults


_MOST = 10**9
"""More than any number of an instance type, in its unit."""
_NUMBERS = frozenset(
    (
        "vcpus",
        "threads",
        "memory_mib",
        "gpus",
        "accelerator_memory_mib",
        "neuron",
        "neuron_cores",
        "neuron_lnc",
        "efa",
        "ipv4",
        "nvlink_gb_s",
    )
)
_TEXTS = frozenset(("arch", "accelerator", "nvlink", "placement", "usage"))
_ZONES = r"[a-z0-9-]+:[a-z]+"
"""A region and the letters of its zones."""
_CARDS = 1000
"""More than the network cards of any type."""


def _row_faults(name: str, row: Any) -> list[str]:
    if not isinstance(row, dict):
        return [_malformed(name, "not a mapping")]
    items = row.items()
    wrong = {key: value for key, value in items if not _is_sound(key, value)}
    if wrong:
        return [
            _malformed(name, f"`{key}` cannot be {_short(value)}") for key, value in wrong.items()
        ]
    try:
        instance_from_row(name, row)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        why = f"{type(fault).__name__}: {fault}"
        return [_malformed(name, why)]
    return []


def _malformed(name: str, why: str) -> str:
    return f"instance type `{name}` is malformed ({why})"


def _is_sound(key: str, value: Any) -> bool:
    """Whether a field of an entry has a value that it may have. Fields of a newer Trainyard are left alone."""
    if key in _NUMBERS:
        return _is_count(value) and (value > 0 or key != "neuron_lnc")
    if key == "zones":
        if not isinstance(value, str):
            return False
        return all(re.fullmatch(_ZONES, zone) for zone in value.split())
    if key in _TEXTS:
        return isinstance(value, str)
    if key in ("gbps", "gpu_partition"):
        return _is_amount(value)
    if key == "usd":
        if not isinstance(value, dict):
            return False
        return all(map(_is_amount, value.values()))
    if key == "cards":
        return isinstance(value, list) and all(map(_is_card, value))
    if key == "nvme":
        return isinstance(value, list) and len(value) == 2 and all(map(_is_count, value))
    if key == "unknown":
        return isinstance(value, list) and _is_texts(value)
    return True


def _are_regions(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return all(map(_are_letters, value.values()))


def _is_source(value: Any) -> bool:
    if not isinstance(value, list) or len(value) != 4:
        return False
    return _is_texts(value)


def _are_letters(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return re.fullmatch("[a-z]*", value) is not None


def _are_zone_ids(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    regions = value.values()
    return all(isinstance(ids, dict) and _is_texts(ids.values()) for ids in regions)


def _is_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _MOST


def _is_amount(value: Any) -> bool:
    is_number = type(value) in (int, float)
    return is_number and 0 <= value <= _MOST


def _is_card(value: Any) -> bool:
    """Whether a value is ``[first, last, interfaces, types]``."""
    if not isinstance(value, list) or len(value) != 4:
        return False
    *numbers, types = value
    if not isinstance(types, str):
        return False
    return all(_is_count(number) and number < _CARDS for number in numbers)


def _short(value: Any) -> str:
    if isinstance(value, int) and value > _MOST:
        return "so large"
    text = repr(value)
    if len(text) <= 40:
        return text
    return f"{text[:37]}..."


def merge(base: Facts, overlay: Facts) -> Facts:
    """The base with the overlay on top, type by type and field by field.

    The overlay's ``regions`` are those whose offerings it states in full: there, a type that it does not name is not
    offered. Fields that EC2's API does not have (prices, NVLink, AMX, GPUDirect) are absent in a refresh and stay.
    """
    regions = overlay["regions"]
    rows = overlay["instances"]
    instances = {
        name: _merge_row(base["instances"].get(name, {}), rows.get(name, {}), regions)
        for name in sorted({*base["instances"], *rows})
    }
    zone_ids = _without(base["zone_ids"], regions)
    all_regions = {**base["regions"], **regions}
    return {
        "schema": SCHEMA,
        "sources": [*base["sources"], *overlay["sources"]],
        "regions": dict(sorted(all_regions.items())),
        "zone_ids": {**zone_ids, **overlay.get("zone_ids", {})},
        "accounts": dict.fromkeys(regions, overlay.get("account", "")),
        "instances": instances,
    }


def _without(by_region: Facts, regions: Facts) -> dict[str, Any]:
    items = by_region.items()
    return {region: value for region, value in items if region not in regions}


def _merge_row(base: Facts, row: Facts, regions: Facts) -> Facts:
    before = zone_letters(base.get("zones", ""))
    zones = _without(before, regions)
    zones.update(zone_letters(row.get("zones", "")))
    by_region = sorted(zones.items())
    offered = [f"{region}:{letters}" for region, letters in by_region]
    stated = _fields_of(row)
    gaps = base.get("unknown", ())
    unknown = [field for field in gaps if field not in stated]
    return {**base, **row, "zones": " ".join(offered), "unknown": unknown}


_FIELDS = {
    "cards": ("network_cards", "efa_cards"),
    "efa": ("efa_interfaces",),
    "ipv4": ("ipv4_per_interface",),
    "nvme": ("nvme_gb", "nvme_disks"),
    "placement": ("placement_strategies",),
    "zones": ("zones",),
}
"""The fields of ``InstanceType`` that a key of an entry states, where they have other names."""


def _fields_of(row: Facts) -> set[str]:
    fields: set[str] = set()
    for key in row:
        fields.update(_FIELDS.get(key, (key,)))
    return fields
