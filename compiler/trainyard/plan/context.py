"""The context of a resolution: the spec, the facts, and where diagnostics and derived values are recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, TypeVar

from trainyard.catalog import Catalog, InstanceType, Release, iam
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import error, listed, warning
from trainyard.language.diagnostics.near import near
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.models.flow import flow
from trainyard.language.places import Route
from trainyard.language.source.include import Included
from trainyard.language.source.texts import Text
from trainyard.plan import Derived, PlanItem
from trainyard.plan.features import Platform

SPEC = Route(("spec",))
T = TypeVar("T")


@dataclass()
class Context:
    """A spec under resolution: the spec, the facts, what was derived and what is wrong.

    ``included``: objects that the spec includes; ``external``: apiVersion, kind, namespace and name of objects that
    must exist and are not written here; ``reading``: namespaces of no team in which something reads Secrets, with the
    place that asks for it; ``texts``: the files that the spec names, by the route of their path;
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
    waiting: list[PlanItem] = field(default_factory=list)
    external: set[tuple[str, str, str, str]] = field(default_factory=set)
    reading: dict[str, Route] = field(default_factory=dict)
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

    def is_faulty(self, code: str, at: Route) -> bool:
        """Whether a fault of a code is reported at a place, beside which others would lead on."""
        return any(
            fault.at == at and fault.code == code and fault.severity is Severity.ERROR
            for fault in self.diagnostics
        )

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
    ) -> T:
        """The spec's value, or the derived one where it has none; ``explain`` shows which, of keys that the platform
        takes."""
        if given is None:
            self.unset(target, name, derived, reason, source, at=at)
            return derived
        self.given(target, name, given, at)
        return given

    def unset(
        self,
        target: str,
        name: str,
        value: object,
        reason: str,
        source: str = "",
        *,
        at: Route,
        follows: Route | None = None,
    ) -> None:
        """Record what holds where the spec says nothing ``at`` a key, if the platform takes that."""
        keys = (key for key in at[1:] if isinstance(key, str))
        if self.explained and self.takes(".".join(keys)):
            self.derive(target, name, value, reason, source, follows=follows)

    def given(
        self, target: str, name: str, value: object, at: Route, reason: str = "set by the spec"
    ) -> None:
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

    def takes(self, keys: str) -> bool:
        """Whether the platform has a use for a key, by its path below ``spec``: ``nodePools.taints``."""
        return self.platform.instead_of(keys) is None

    def version(self, component: str) -> str:
        """The version of an upstream component: the spec's, what that needs, or the release's."""
        follows = self.release.components[component].version_of
        return self.versions[follows or component]

    @cached_property
    def answers(self) -> Any:
        """What the core asks of the platform: the functions that ``Platform.answers`` names."""
        return self.platform.asked()

    @cached_property
    def versions(self) -> Mapping[str, str]:
        """The version of every component."""
        return self.release.chosen(self.answers.own_versions(self.spec))

    @property
    def cluster_arn(self) -> str:
        """The ARN that the cluster has."""
        spec = self.spec
        return iam.cluster_arn(self.partition, spec.region, spec.account, self.name)

    def build(self, component: str) -> str | None:
        """The build of an EKS add-on: the spec's, or the release's; None where EKS has a default for it."""
        own: str | None = self.answers.own_versions(self.spec).get(component)
        known = self.release.components.get(component)
        if own is not None or known is None:
            return own
        return known.builds.get(self.version("kubernetes"))

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
        return partition_of(self.spec.region)


def partition_of(region: str) -> str:
    """The AWS partition of a Region."""
    if region.startswith("cn-"):
        return "aws-cn"
    if region.startswith("us-gov-"):
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
    nearest = near(name, names, limit=1)
    if nearest:
        return f"did you mean `{flow(nearest[0])}`?"
    if names:
        return f"write one of {listed(map(flow, names[:12]))}"
    return f"declare it under `{_LISTS[what]}:`"


def unique_names(
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
