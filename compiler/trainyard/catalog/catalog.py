"""The catalog: dated facts, loaded from the committed data files and, if asked, an overlay of the user's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainyard.catalog.images import images_source
from trainyard.catalog.instance import InstanceType, expand_zones, instance_from_row
from trainyard.catalog.release import Release, read_release, release_names, version_key
from trainyard.catalog.runtimes import runtimes_source
from trainyard.catalog.xid import XidTable, xids_from_data
from trainyard.catalog.zones import INDEPENDENT
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.near import near

if TYPE_CHECKING:
    from trainyard.catalog.failure_rates import FailureRates

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
DATA = Path(__file__).with_name("data")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a set of facts comes from: its name, the package or address, the version, the date (ISO)."""

    name: str
    url_or_package: str
    version: str
    date: str


class InstanceTypes(Mapping[str, InstanceType]):
    """The instance types by name. Each is built when it is first asked for: a spec uses a handful."""

    __slots__ = ("_built", "_rows")

    def __init__(self, rows: Mapping[str, Mapping[str, Any]]) -> None:
        self._rows = rows
        self._built: dict[str, InstanceType] = {}

    def __getitem__(self, name: str) -> InstanceType:
        instance = self._built.get(name)
        if instance is None:
            row = self._rows[name]
            instance = instance_from_row(name, row)
            self._built[name] = instance
        return instance

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


class Releases(Mapping[str, Release]):
    """The releases of a folder by name. Each is read when it is first asked for: a spec names one."""

    __slots__ = ("_folder", "_names", "_read")

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        names = sorted(release_names(folder), key=version_key)
        self._names = tuple(names)
        self._read: dict[str, Release] = {}

    def __getitem__(self, name: str) -> Release:
        if name not in self._names:
            raise KeyError(name)
        release = self._read.get(name)
        if release is None:
            release = read_release(self._folder, name)
            self._read[name] = release
        return release

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Catalog:
    """All facts. Immutable in use; releases and Xids are read on first use.

    ``regions`` maps a region to its zones, by the names of the account that was asked. A region with () is known to
    exist, its zones are not. ``zone_ids`` are the ids of these names. ``faults`` are the diagnostics of the overlay;
    with any, the overlay was left out.
    """

    def __init__(self, facts: Mapping[str, Any], faults: tuple[Diagnostic, ...] = ()) -> None:
        self.faults = faults
        self._instances: Mapping[str, Mapping[str, Any]] = facts["instances"]
        self.instance_types: Mapping[str, InstanceType] = InstanceTypes(self._instances)
        self.regions = expand_zones(facts["regions"])
        self.zone_ids: Mapping[str, str] = {
            region + letter: zone_id
            for region, ids in facts.get("zone_ids", {}).items()
            for letter, zone_id in ids.items()
        }
        self._accounts = facts.get("accounts", {})
        self._sources = facts["sources"]

    def instance(self, name: str) -> InstanceType | None:
        """The type of this name, or None."""
        return self.instance_types.get(name)

    def knows_names(self, region: str, account: str) -> bool:
        """Whether names of zones mean here what they mean in an account: everywhere the same, or asked in it."""
        return region not in INDEPENDENT or self._accounts.get(region) in ("", account)

    def may_be_zone(self, name: str) -> bool:
        """Whether some account may have a zone of a name that is not known: where each account has names of its own,
        for as many letters as the Region has zones (AWS Regions and Availability Zones, AZ IDs)."""
        region, letter = name[:-1], name[-1:]
        if region not in INDEPENDENT:
            return False
        ids = [self.zone_ids.get(zone) for zone in self.regions.get(region, ())]
        numbers = [int(zone_id.rpartition("-az")[2]) for zone_id in ids if zone_id]
        return letter in _LETTERS[: max(numbers, default=len(_LETTERS))]

    @property
    def efa_types(self) -> tuple[str, ...]:
        """The names of the instance types that have EFA, in order; none of them is built for that."""
        return tuple(sorted(name for name, row in self._instances.items() if row.get("efa")))

    def near(self, name: str) -> list[str]:
        """Instance types with a similar name, best first."""
        return near(name, self.instance_types)

    @cached_property
    def releases(self) -> Mapping[str, Release]:
        """The release sets by name, oldest first; each is read when it is first asked for."""
        return Releases(DATA / "releases")

    def release(self, name: str) -> Release | None:
        """The release of this name, or None."""
        return self.releases.get(name)

    @property
    def newest_release(self) -> Release:
        """The release of a spec that names none."""
        newest = list(self.releases)[-1]
        return self.releases[newest]

    @cached_property
    def xids(self) -> XidTable:
        return xids_from_data(_read("xids.json"))

    @cached_property
    def failure_rates(self) -> FailureRates:
        from trainyard.catalog.failure_rates import failure_rates_from_data

        return failure_rates_from_data(_read("failure_rates.json"))

    @cached_property
    def sources(self) -> tuple[Source, ...]:
        """Where every set of facts comes from, the overlay's included."""
        listed = [Source(*item) for item in self._sources]
        for release in self.releases.values():
            listed += (
                Source(
                    f"release {release.name}: {component.name}",
                    component.source,
                    component.version or component.build or "",
                    release.date,
                )
                for component in release.components.values()
            )
        listed += (
            Source(f"Xids: {xids.name}", xids.source, xids.version, xids.date)
            for xids in self.xids.lists.values()
        )
        listed += (
            Source(f"failure rate: {rate.name}", rate.source, rate.version, rate.date)
            for rate in self.failure_rates.rates
        )
        listed.append(Source(*runtimes_source()))
        listed.append(Source(*images_source()))
        return tuple(listed)


def _read(name: str) -> Any:
    return json.loads((DATA / name).read_bytes())


@cache
def load_catalog(extra: Path | None = None) -> Catalog:
    """The built-in facts, with those of an overlay file (``catalog refresh``) laid over them.

    Never raises for the overlay: what is wrong with it is in ``Catalog.faults``.
    """
    facts = _read("instances.json")
    if extra is None:
        return Catalog(facts)
    from trainyard.catalog.overlay import merge, read_overlay  # few have one

    overlay, faults = read_overlay(extra)
    if overlay is not None:
        facts = merge(facts, overlay)
    return Catalog(facts, tuple(faults))
