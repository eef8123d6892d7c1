"""What every part of the resolution needs, and where it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, TypeVar

from compiler.catalog import Catalog, InstanceType, Release, iam
from compiler.core.network.spec import NetworkSection
from compiler.core.pools.spec import NodePool, PoolsSection
from compiler.dataclass import dataclass
from compiler.diagnostics import Diagnostic
from compiler.diagnostics.diagnostic import error, listed, warning
from compiler.diagnostics.near import meant
from compiler.plan import Derived, PlanNode
from compiler.resolve.versions import own_versions
from compiler.rooms import Platform
from compiler.source import Route
from compiler.source.include import Included
from compiler.source.texts import Text
from compiler.spec.cluster import ClusterSpec

SPEC = Route(("spec",))
T = TypeVar("T")


@dataclass()
class Context:
    """A spec under resolution: the spec, the facts, what was derived and what is wrong.

    ``included``: objects that the spec includes; ``external``: apiVersion, kind, namespace and name of objects that
    must exist and are not written here; ``texts``: the files that the spec names, by the route of their path;
    ``waiting``: nodes of what cannot be written yet; ``explained``: derived values are recorded.
    """

    name: str
    spec: ClusterSpec
    catalog: Catalog
    release: Release
    output: str
    platform: Platform
    diagnostics: list[Diagnostic] = field(default_factory=list)
    included: Sequence[Included] = ()
    texts: Mapping[Route, Text] = field(default_factory=dict)
    derived: list[Derived] = field(default_factory=list)
    waiting: list[PlanNode] = field(default_factory=list)
    external: set[tuple[str, str, str, str]] = field(default_factory=set)
    explained: bool = True
    _shared: dict[object, Any] = field(default_factory=dict)

    def once(self, make: Callable[[Context], T]) -> T:
        """What one subject makes for others too: made when it is first asked for, and reported on once."""
        if make not in self._shared:
            self._shared[make] = make(self)
        shared: T = self._shared[make]
        return shared

    def forget(self) -> None:
        """Let go of what subjects share: some of it refers to the context, which would keep the spec in memory."""
        self._shared.clear()

    def fault(
        self,
        code: str,
        message: str,
        at: Route,
        help: str,
        *,
        label: str = "",
        key: bool = False,
        source: str = "",
    ) -> None:
        """Report an error; ``source`` is where the rule is written."""
        notes = (f"source: {source}",) if source else ()
        self.diagnostics.append(
            error(code, message, at, help=help, label=label, key=key, notes=notes)
        )

    def doubt(self, code: str, message: str, at: Route, help: str, *, source: str = "") -> None:
        """Report a warning: what is likely wrong, and not certain."""
        notes = (f"source: {source}",) if source else ()
        self.diagnostics.append(warning(code, message, at, help=help, notes=notes))

    def derive(
        self,
        target: str,
        name: str,
        value: object,
        reason: str,
        source: str = "",
        *,
        follows: Route | None = None,
    ) -> None:
        """Record a derived value for ``explain``, and the value of the spec that it ``follows``, if any."""
        if self.explained:
            self.derived.append(Derived(target, name, str(value), reason, source, follows))

    def settle(
        self,
        target: str,
        name: str,
        given: T | None,
        derived: T,
        reason: str,
        source: str = "",
        *,
        at: Route,
        follows: Route | None = None,
    ) -> T:
        """The spec's value, or the derived one where it has none; ``explain`` shows which."""
        if given is None:
            self.derive(target, name, derived, reason, source, follows=follows)
            return derived
        self.given(target, name, given, "set by the spec", at)
        return given

    def given(self, target: str, name: str, value: object, reason: str, at: Route) -> None:
        """Record a value that the spec sets, for ``explain``."""
        if self.explained:
            self.derived.append(Derived(target, name, str(value), reason, at=at))

    def find(self, code: str, what: str, name: str, known: Mapping[str, T], at: Route) -> T | None:
        """The thing of a name, or a fault that says which names there are."""
        thing = known.get(name)
        if thing is None:
            help = near_help(name, known, what)
            fact = f"{what} `{name}` is not declared"
            self.fault(code, fact, at, help)
        return thing

    def version(self, component: str) -> str:
        """The version of an upstream component: the spec's, what that needs, or the release's."""
        follows = self.release.components[component].version_of
        return self.versions[follows or component]

    @cached_property
    def versions(self) -> Mapping[str, str]:
        """The version of every component."""
        return self.release.chosen(own_versions(self.spec))

    @property
    def cluster_arn(self) -> str:
        """The ARN that the cluster has."""
        spec = self.spec
        return iam.cluster_arn(self.partition, spec.region, spec.account, self.name)

    def build(self, component: str) -> str | None:
        """The build of an EKS add-on: the spec's, or the release's; None where EKS has a default for it."""
        own = own_versions(self.spec).get(component)
        known = self.release.components.get(component)
        if own is not None or known is None:
            return own
        return known.builds.get(self.version("kubernetes"))

    @cached_property
    def pool_types(self) -> tuple[tuple[NodePool, InstanceType], ...]:
        """The pools of the spec with their instance types, as far as those are known."""
        types: list[tuple[NodePool, InstanceType]] = []
        for pool in PoolsSection.of(self.spec).node_pools:
            for name in pool.instance_types:
                instance = self.catalog.instance(name)
                if instance is not None:
                    types.append((pool, instance))
        return tuple(types)

    @cached_property
    def knows_names(self) -> bool:
        """Whether the catalog's names of zones are those of the spec's account."""
        return self.catalog.knows_names(self.spec.region, self.spec.account)

    def catalog_zone(self, zone: str) -> str | None:
        """The catalog's name for a zone of the spec's account; ``None`` where it is not known which zone that is."""
        network = NetworkSection.of(self.spec).network
        given = network.zone_ids.get(zone)
        if given is None:
            return zone if self.knows_names else None
        for name, zone_id in self.catalog.zone_ids.items():
            if zone_id == given:
                return name
        return None

    def zone_id(self, zone: str) -> str | None:
        """The id of a zone of the spec's account, if it is known."""
        network = NetworkSection.of(self.spec).network
        given = network.zone_ids.get(zone)
        if given is None and self.knows_names:
            return self.catalog.zone_ids.get(zone)
        return given

    def zones_named(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names in the spec's account of zones that the catalog names, as far as they are known."""
        zone_ids = NetworkSection.of(self.spec).network.zone_ids
        own_names = {self.catalog_zone(zone): zone for zone in zone_ids}
        known = []
        for name in names:
            if name in own_names:
                known.append(own_names[name])
            elif self.knows_names:
                known.append(name)
        return tuple(known)

    def in_region(self, zone: str, at: Route, *, key: bool = False) -> bool:
        """Whether a zone is one of the region's; a fault if it is not. Where they are not known, its name decides."""
        region = self.spec.region
        known = self.catalog.regions.get(region)
        if known is None or zone in known:
            return True  # an unknown region has its own fault
        is_known = known and self.knows_names
        if is_known or zone[:-1] != region:
            self.fault(
                "RES004",
                f"zone `{zone}` is not in region `{region}`",
                at,
                f"{region} has {listed(known)}" if known else f"write it like `{region}a`",
                key=key,
            )
            return False
        network = NetworkSection.of(self.spec).network
        if known and zone not in network.zone_ids:
            example = self.catalog.zone_ids.get(known[0], "use1-az1")
            self.doubt(
                "RES004",
                f"`{zone}` may not be a zone of your account: {listed(known)} are known of {region}, and "
                "names differ by account",
                at,
                f"correct it, or say which zone it is, like `network: {{zoneIds: {{{zone}: {example}}}}}`",
            )
        return True

    def instance(self, name: str, at: Route) -> InstanceType | None:
        """The instance type of this name, or a fault."""
        instance = self.catalog.instance(name)
        if instance is None:
            near = self.catalog.near(name)
            hint = "`trainyard catalog` lists what is known"
            if near:
                hint = f"did you mean `{near[0]}`? If not"
            self.fault(
                "RES005",
                f"instance type `{name}` is unknown",
                at,
                f"{hint}, `trainyard catalog refresh` asks EC2 for newer types",
            )
        return instance

    @property
    def partition(self) -> str:
        """The AWS partition of the region."""
        if self.spec.region.startswith("cn-"):
            return "aws-cn"
        if self.spec.region.startswith("us-gov-"):
            return "aws-us-gov"
        return "aws"


_LISTS = {
    "pool": "nodePools",
    "storage": "storage",
    "priority": "priorities",
    "queue": "queues",
    "cohort": "cohorts",
    "namespace": "namespaces",
}


def near_help(name: str, known: Iterable[str], what: str) -> str:
    """What to write instead of a name that does not exist."""
    names = list(known)
    near = meant(name, names)
    if near:
        return near
    if names:
        return f"write one of {listed(names[:12])}"
    if what in _LISTS:
        return f"declare it under `{_LISTS[what]}:`"
    return f"declare a {what}"


def unique(
    context: Context, what: str, names: Iterable[str], at: Route, *, key: str = "name"
) -> None:
    """Report names that are given twice in a list of the spec."""
    first_index: dict[str, int] = {}
    for index, name in enumerate(names):
        first = first_index.setdefault(name, index)
        if first != index:
            context.fault(
                "RES009",
                f"{what} `{name}` is declared twice",
                at / index / key,
                f"rename or remove one of them: `{at / first}` has it already",
            )
