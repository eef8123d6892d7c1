"""Newer facts from EC2 itself, as an overlay file for ``load_catalog(extra=…)``. Needs the extra ``aws`` (boto3).

Reads DescribeInstanceTypes, DescribeInstanceTypeOfferings and DescribeAvailabilityZones in each region; all pages.
Needs ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings, ec2:DescribeAvailabilityZones.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from importlib import import_module
from pathlib import Path
from typing import Any

from trainyard.catalog.catalog import DATA
from trainyard.catalog.overlay import SCHEMA
from trainyard.extensions.facts.build import dump
from trainyard.extensions.facts.rows import is_wanted, plain_letters, row, zone_text
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error

ClientFactory = Callable[[str], Any]
"""From a region to a boto3 EC2 client for it."""

_CREDENTIALS = (
    "check the credentials, and that ec2:DescribeInstanceTypes, ec2:DescribeInstanceTypeOfferings and "
    "ec2:DescribeAvailabilityZones are allowed"
)


@dataclass(frozen=True, slots=True)
class CatalogPatch:
    """The overlay's text and how many types and regions it has. Regions that failed are in ``faults``, not in it."""

    text: str
    types: int
    regions: tuple[str, ...]
    faults: tuple[Diagnostic, ...] = ()

    def write(self, path: Path) -> Diagnostic | None:
        """Write the overlay; what went wrong, if anything (``CAT005``)."""
        try:
            path.write_text(self.text, "utf-8", newline="\n")
        except OSError as fault:
            return error(
                "CAT005",
                f"catalog file `{path}` cannot be written: {str(fault.strerror).lower()}",
                help="name a writable path",
            )
        return None


def boto3_clients() -> ClientFactory | Diagnostic:
    """EC2 clients with the credentials of the environment, or ``CAT003`` where boto3 is not installed."""
    try:
        session = import_module("boto3").session.Session()
    except ImportError:
        return error(
            "CAT003",
            "`catalog refresh` needs boto3, which is not installed",
            help="install the extra: `pip install 'trainyard[aws]'`",
        )
    return lambda region: session.client("ec2", region_name=region)


def caller_account() -> str:
    """The account whose credentials are used (STS GetCallerIdentity, which needs no right); empty if nobody says."""
    try:
        session = import_module("boto3").session.Session()
        answer = session.client("sts").get_caller_identity()
    except Exception:  # whatever it is, EC2 will say so; names of zones are then taken for those of the spec's account
        return ""
    return str(answer.get("Account", ""))


def refresh(
    client_factory: ClientFactory, regions: Sequence[str], today: date, account: str = ""
) -> CatalogPatch:
    """What EC2 says today about these regions. A region that cannot be read is a fault (``CAT004``), not an end.
    ``account``: whose names of zones these are."""
    failures = import_module("botocore.exceptions")  # whoever has clients has botocore
    # What a proxy says in EC2's place.
    garbled = import_module("botocore.parsers").ResponseParserError
    families = _families()
    infos: dict[str, Mapping[str, Any]] = {}
    offered: dict[str, dict[str, set[str]]] = {}
    zones: dict[str, str] = {}
    ids: dict[str, dict[str, str]] = {}
    faults: list[Diagnostic] = []
    for region in dict.fromkeys(regions):
        try:
            answer = _ask_region(client_factory(region), families)
        except (failures.BotoCoreError, failures.ClientError, garbled) as fault:
            faults.append(
                error(
                    "CAT004",
                    f"EC2 in `{region}` did not answer: {_reason(fault)}",
                    help=_CREDENTIALS,
                )
            )
            continue
        for name, info in answer.infos.items():
            known = infos.get(name)
            infos[name] = _merge_infos(known, info)
        letters = sorted(plain_letters(region, answer.zones))
        zones[region] = "".join(letters)
        ids[region] = {}
        for letter in zones[region]:
            zone_id = answer.zones[region + letter]
            if zone_id:
                ids[region][letter] = zone_id
        for name, zone in answer.offerings:
            by_region = offered.setdefault(name, {})
            by_region.setdefault(region, set()).add(zone)
    by_name = sorted(infos.items())
    rows = {name: row(info) for name, info in by_name}
    for name, entry in rows.items():
        entry["zones"] = zone_text(offered.get(name, {}))
    text = _text(rows, zones, ids, account, today)
    return CatalogPatch(text, len(rows), tuple(zones), tuple(faults))


@dataclass(frozen=True, slots=True)
class _Answer:
    infos: Mapping[str, Mapping[str, Any]]
    offerings: tuple[tuple[str, str], ...]
    zones: Mapping[str, str]  # their ids by name


def _ask_region(client: Any, families: frozenset[str]) -> _Answer:
    infos = {
        info["InstanceType"]: info
        for info in _pages(client, "describe_instance_types", "InstanceTypes")
        if is_wanted(info["InstanceType"], info, families)
    }
    offerings = _pages(
        client,
        "describe_instance_type_offerings",
        "InstanceTypeOfferings",
        LocationType="availability-zone",
    )
    zones = client.describe_availability_zones()["AvailabilityZones"]
    offered = [
        (offering["InstanceType"], offering["Location"])
        for offering in offerings
        if offering["InstanceType"] in infos
    ]
    zone_ids = {
        zone["ZoneName"]: zone.get("ZoneId", "")
        for zone in zones
        if zone.get("ZoneType", "availability-zone") == "availability-zone"
    }
    return _Answer(infos, tuple(offered), zone_ids)


def _merge_infos(known: Mapping[str, Any] | None, info: Mapping[str, Any]) -> Mapping[str, Any]:
    # A region lists the usage classes that it has itself: Capacity Blocks are not sold everywhere.
    classes = {
        *(known or {}).get("SupportedUsageClasses", ()),
        *info.get("SupportedUsageClasses", ()),
    }
    return {**info, "SupportedUsageClasses": sorted(classes)}


def _pages(client: Any, operation: str, key: str, **query: Any) -> Iterator[Mapping[str, Any]]:
    for page in client.get_paginator(operation).paginate(**query):
        yield from page[key]


def _reason(fault: Exception) -> str:
    words = str(fault).split()
    text = " ".join(words).rstrip(".")
    return text or type(fault).__name__


def _families() -> frozenset[str]:
    text = (DATA / "curated.json").read_bytes()
    curated = json.loads(text)
    groups: Mapping[str, list[str]] = curated["families"]
    return frozenset().union(*groups.values())


def _text(
    rows: Mapping[str, Any],
    zones: Mapping[str, str],
    ids: Mapping[str, Any],
    account: str,
    today: date,
) -> str:
    source = [
        f"EC2 API in {', '.join(zones) or 'no region'}",
        "DescribeInstanceTypes, DescribeInstanceTypeOfferings, DescribeAvailabilityZones",
        "live",
        today.isoformat(),
    ]
    return dump(
        {
            "schema": SCHEMA,
            "sources": [source],
            "account": account,
            "regions": dict(sorted(zones.items())),
            "zone_ids": dict(sorted(ids.items())),
            "instances": rows,
        }
    )
