"""Write ``data/instances.json`` and ``data/managed_policies.json``: ``python -m trainyard.extensions.facts.build``.

Reads the stored answers of EC2 and IAM in the PyPI package moto (a development requirement), ``data/curated.json``
(what EC2 does not say, by hand, each with its source) and ``data/prices.json``. Same input, same bytes.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from trainyard.catalog.catalog import DATA
from trainyard.catalog.overlay import SCHEMA
from trainyard.extensions.facts.rows import is_wanted, plain_letters, row, zone_text

Facts = dict[str, Any]


def build(
    resources: Path, curated: Mapping[str, Any], prices: Mapping[str, Any], regions: Iterable[str]
) -> Facts:
    """The whole data file. ``resources`` is moto's ``ec2/resources``; ``regions`` are all that are known to exist."""
    infos = _read(resources / "instance_types.json.gz")
    offerings = resources / "instance_type_offerings"
    offered, zones = _offerings(offerings / "availability-zone")
    groups = curated["families"].values()
    families = {family for group in groups for family in group}
    rows = {name: row(info) for name, info in infos.items() if is_wanted(name, info, families)}
    for name, text in offered.items():
        if name in rows and text:
            rows[name]["zones"] = text
    for name, facts in _curated_facts(curated, rows):
        rows.setdefault(name, {}).update(facts)
    for region, by_type in prices["usd_hour"].items():
        for name in by_type.keys() & rows.keys():
            prices_of_type = rows[name].setdefault("usd", {})
            prices_of_type[region] = by_type[name]
    return {
        "schema": SCHEMA,
        "sources": [*curated["sources"], prices["source"]],
        "regions": {
            region: "".join(sorted(zones.get(region, ""))) for region in sorted({*regions, *zones})
        },
        "zone_ids": _zone_ids(offerings),
        "instances": dict(sorted(rows.items())),
    }


def _zone_ids(folder: Path) -> dict[str, dict[str, str]]:
    """By region and letter the id of each zone: the stored answers by name and by id are of one account, so the zone of
    a name is that of the id with the same hundreds of types. Left out where several have the same."""
    zone_ids: dict[str, dict[str, str]] = {}
    for path in sorted((folder / "availability-zone").glob("*.json.gz")):
        names = _zones_by_types(path)
        ids = _zones_by_types(folder / "availability-zone-id" / path.name)
        by_letter = {}
        for types, zones in names.items():
            alike = ids.get(types, ())
            if len(zones) == len(alike) == 1:
                letter = zones[0][-1]
                by_letter[letter] = alike[0]
        region = path.name.removesuffix(".json.gz")
        zone_ids[region] = dict(sorted(by_letter.items()))
    return zone_ids


def _zones_by_types(path: Path) -> dict[frozenset[str], list[str]]:
    """The ordinary zones of a file of offerings, by the types that they have."""
    types_of: dict[str, set[str]] = {}
    for item in _read(path):
        types = types_of.setdefault(item["Location"], set())
        types.add(item["InstanceType"])
    zones: dict[frozenset[str], list[str]] = {}
    for zone, types in types_of.items():
        end = zone.rpartition("-")[2]
        if len(end) <= _PLAIN:
            alike = zones.setdefault(frozenset(types), [])
            alike.append(zone)
    return zones


_PLAIN = 3  # letters after the last hyphen of `us-east-1a` and of `use1-az1`; local zones have more


def _offerings(folder: Path) -> tuple[dict[str, str], dict[str, set[str]]]:
    """Zones by type (compact), and the zones of each region over all types."""
    by_type: dict[str, dict[str, set[str]]] = {}
    regions: dict[str, set[str]] = {}
    for path in sorted(folder.glob("*.json.gz")):
        region = path.name.removesuffix(".json.gz")
        locations: set[str] = set()
        for item in _read(path):
            zones = by_type.setdefault(item["InstanceType"], {})
            names = zones.setdefault(region, set())
            names.add(item["Location"])
            locations.add(item["Location"])
        regions[region] = plain_letters(region, locations)
    texts = {name: zone_text(zones) for name, zones in by_type.items()}
    return texts, regions


def _curated_facts(
    curated: Mapping[str, Any], rows: Mapping[str, Any]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    with_amx = curated["families"]["amx"]
    for name in rows:
        if name.partition(".")[0] in with_amx:
            yield name, {"amx": True}
    for name in curated["gpudirect_rdma"]:
        yield name, {"gpudirect_rdma": True}
    nvlinks = curated["nvlink"].items()
    for name, (kind, gb_s) in nvlinks:
        yield name, {"nvlink": kind, "nvlink_gb_s": gb_s}
    yield from curated["types"].items()


def dump(facts: Mapping[str, Any]) -> str:
    """JSON with one line an entry: small, and a change shows as the lines that changed."""
    parts = []
    for key, value in facts.items():
        text = _dump_value(value)
        parts.append(f" {_json(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _dump_value(value: Any) -> str:
    if isinstance(value, dict):
        lines = []
        for name, item in value.items():
            text = _json(item)
            lines.append(f"  {_json(name)}: {text}")
        return "{\n" + ",\n".join(lines) + "\n }"
    if isinstance(value, list):
        lines = [f"  {_json(item)}" for item in value]
        return "[\n" + ",\n".join(lines) + "\n ]"
    return _json(value)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _read(path: Path) -> Any:
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return json.loads(data)


def known_regions() -> list[str]:
    """Every region of the partitions that EKS serves, from botocore's endpoint data."""
    session = import_module("botocore.session").get_session()
    return [
        region
        for partition in ("aws", "aws-us-gov", "aws-cn")
        for region in session.get_available_regions("ec2", partition_name=partition)
    ]


def built() -> str:
    """The text of the data file, from the installed packages and the curated files."""
    moto = Path(str(import_module("moto").__file__)).parent
    resources = moto / "ec2" / "resources"
    curated = _read(DATA / "curated.json")
    prices = _read(DATA / "prices.json")
    return dump(build(resources, curated, prices, known_regions()))


def managed_policies() -> Facts:
    """The AWS managed policies by path, from IAM's answers that the installed moto stores."""
    moto = import_module("moto")
    stored = import_module("moto.iam.aws_managed_policies")
    policies: dict[str, Facts] = json.loads(stored.aws_managed_policies_data)
    by_path: dict[str, list[str]] = {}
    for name, policy in sorted(policies.items()):
        alike = by_path.setdefault(policy["Path"], [])
        alike.append(name)
    changes = [policy["UpdateDate"] for policy in policies.values()]
    return {
        "source": "IAM ListPolicies, scope AWS, as in moto's iam/aws_managed_policies.py",
        "version": f"moto {moto.__version__}",
        "newest": max(changes)[:10],
        "policies": dict(sorted(by_path.items())),
    }


def _write(name: str, text: str) -> None:
    path = DATA / name
    path.write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    _write("instances.json", built())
    _write("managed_policies.json", dump(managed_policies()))
