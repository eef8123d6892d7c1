"""Overlays: a user's newer facts about EC2, in the format of ``data/instances.json``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from compiler.catalog.instance import instance_from_row
from compiler.diagnostics import Diagnostic
from compiler.diagnostics.diagnostic import error
from compiler.source.read import read_bytes

SCHEMA = "trainyard-catalog/1"

Facts = Mapping[str, Any]

_HELP = "write the file anew with `trainyard catalog refresh`"


def read_overlay(path: Path) -> tuple[Facts | None, list[Diagnostic]]:
    """The facts of an overlay file, or None and why not (``CAT001``, ``CAT002``)."""
    try:
        facts = json.loads(read_bytes(path))
    except OSError as fault:
        return None, [
            error(
                "CAT001",
                f"catalog file `{path}` cannot be read: {fault.strerror}",
                help=_HELP,
            )
        ]
    except RecursionError:
        return None, [
            error("CAT002", f"catalog file `{path}` is nested too deeply", help=_HELP)
        ]
    except ValueError as fault:
        return None, [
            error("CAT002", f"catalog file `{path}` is not JSON: {fault}", help=_HELP)
        ]
    faults = [
        error("CAT002", f"catalog file `{path}`: {what}", help=_HELP)
        for what in _faults(facts)
    ]
    return (None, faults) if faults else (facts, [])


def _faults(facts: Any) -> list[str]:
    if not isinstance(facts, dict) or facts.get("schema") != SCHEMA:
        return [f"`schema` is not `{SCHEMA}`"]
    found = []
    sources, regions = facts.get("sources"), facts.get("regions")
    if not isinstance(sources, list) or not all(map(_is_source, sources)):
        found.append("`sources` is not a list of name, address, version and date")
    if not isinstance(regions, dict) or not all(map(_are_letters, regions.values())):
        found.append("`regions` does not map regions to the letters of their zones")
    if not _are_zone_ids(facts.get("zone_ids", {})):
        found.append("`zone_ids` does not map regions to the ids of their zones")
    if not isinstance(facts.get("account", ""), str):
        found.append("`account` is not the id of an account")
    if not isinstance(facts.get("instances"), dict):
        found.append("`instances` is not a mapping")
    return found or [
        what
        for name, row in facts["instances"].items()
        for what in _row_faults(name, row)
    ]


_MOST = 10**9
"""More than any number of an instance type, in its unit."""
_NUMBERS = frozenset(
    (
        "vcpus",
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
_ZONES = re.compile(r"[a-z0-9-]+:[a-z]+")
"""A region and the letters of its zones."""
_CARDS = 1000
"""More than the network cards of any type."""


def _row_faults(name: str, row: Any) -> list[str]:
    if not isinstance(row, dict):
        return [f"instance type `{name}` is malformed (not a mapping)"]
    if wrong := [key for key, value in row.items() if not _is_sound(key, value)]:
        return [
            f"instance type `{name}` is malformed (`{key}` cannot be {_short(row[key])})"
            for key in wrong
        ]
    try:
        instance_from_row(name, row)
    except (KeyError, TypeError, ValueError, AttributeError) as fault:
        return [
            f"instance type `{name}` is malformed ({type(fault).__name__}: {fault})"
        ]
    return []


def _is_sound(key: str, value: Any) -> bool:
    """Whether a field of an entry has a value that it may have. Fields of a newer Trainyard are left alone."""
    if key in _NUMBERS:
        return _is_number(value, int) and (value > 0 or key != "neuron_lnc")
    if key == "zones":
        return isinstance(value, str) and all(map(_ZONES.fullmatch, value.split()))
    if key in _TEXTS:
        return isinstance(value, str)
    if key in ("gbps", "gpu_partition"):
        return _is_number(value, int, float)
    if key == "usd":
        return isinstance(value, dict) and all(
            _is_number(each, int, float) for each in value.values()
        )
    if key == "cards":
        return isinstance(value, list) and all(map(_is_card, value))
    if key == "nvme":
        return (
            isinstance(value, list)
            and len(value) == 2
            and all(_is_number(each, int) for each in value)
        )
    if key == "unknown":
        return isinstance(value, list) and _is_texts(value)
    return True


def _is_source(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 4 and _is_texts(value)


def _are_letters(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch("[a-z]*", value) is not None


def _are_zone_ids(value: Any) -> bool:
    regions = value.values() if isinstance(value, dict) else [None]
    return all(isinstance(each, dict) and _is_texts(each.values()) for each in regions)


def _is_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(each, str) for each in values)


def _is_number(value: Any, *types: type) -> bool:
    return type(value) in types and 0 <= value <= _MOST


def _is_card(value: Any) -> bool:
    """Whether a value is ``[first, last, interfaces, types]``."""
    if not isinstance(value, list) or len(value) != 4 or not isinstance(value[3], str):
        return False
    return all(_is_number(each, int) and each < _CARDS for each in value[:3])


def _short(value: Any) -> str:
    text = repr(value) if not isinstance(value, int) or value <= _MOST else "so large"
    return text if len(text) <= 40 else f"{text[:37]}..."


def merge(base: Facts, overlay: Facts) -> Facts:
    """The base with the overlay on top, type by type and field by field.

    The overlay's ``regions`` are those whose offerings it tells in full: there, a type that it does not name is not
    offered. Fields that EC2's API does not tell (prices, NVLink, AMX, GPUDirect) are absent in a refresh and stay.
    """
    told = overlay["regions"]
    rows = overlay["instances"]
    instances = {
        name: _merge_row(base["instances"].get(name, {}), rows.get(name, {}), told)
        for name in sorted({*base["instances"], *rows})
    }
    return {
        "schema": SCHEMA,
        "sources": [*base["sources"], *overlay["sources"]],
        "regions": dict(sorted({**base["regions"], **told}.items())),
        "zone_ids": {**_without(base["zone_ids"], told), **overlay.get("zone_ids", {})},
        "told": dict.fromkeys(told, overlay.get("account", "")),
        "instances": instances,
    }


def _without(by_region: Facts, regions: Facts) -> dict[str, Any]:
    return {
        region: value for region, value in by_region.items() if region not in regions
    }


def _merge_row(base: Facts, row: Facts, regions: Facts) -> Facts:
    merged = {**base, **row}
    zones = dict(part.split(":", 1) for part in base.get("zones", "").split())
    kept = {
        region: letters for region, letters in zones.items() if region not in regions
    }
    kept.update(part.split(":", 1) for part in row.get("zones", "").split())
    merged["zones"] = " ".join(
        f"{region}:{letters}" for region, letters in sorted(kept.items())
    )
    merged["unknown"] = [
        field for field in base.get("unknown", ()) if field not in _told(row)
    ]
    return merged


def _told(row: Facts) -> set[str]:
    names = {
        "cards": ("network_cards", "efa_cards"),
        "efa": ("efa_interfaces",),
        "ipv4": ("ipv4_per_interface",),
        "nvme": ("nvme_gb", "nvme_disks"),
        "placement": ("placement_strategies",),
        "zones": ("zones",),
    }
    return {told for key in row for told in names.get(key, (key,))}
