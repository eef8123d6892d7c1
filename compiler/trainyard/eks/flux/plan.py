"""Delivery: Flux sources, Helm releases and Kustomizations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from trainyard.language.dataclass import dataclass
from trainyard.language.places import Key, Route
from trainyard.language.units import Duration
from trainyard.plan.base import PlanItem
from trainyard.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class ChartSignature:
    """Whose signature Flux asks for: the name of a Secret of keys, or who may have signed (issuer and subject, each a
    pattern)."""

    provider: str = "cosign"
    secret: str = ""
    identities: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmSource(PlanItem):
    """Where a chart comes from: an OCIRepository (one chart, by its tag, or by ``digest``) or a HelmRepository."""

    name: str
    namespace: str
    url: str
    oci: bool
    version: str = ""
    digest: str = ""
    signature: ChartSignature | None = None
    interval: Duration = Duration(3600)
    stage: str = field(default="controllers", compare=False)


@dataclass(frozen=True, slots=True)
class AwaitedValue:
    """A value of a chart that is known later: the ConfigMap of Flux' namespace and the key of it that have it, and its
    path in the values, with dots."""

    config_map: str
    key: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HelmRelease(PlanItem):
    """helm.toolkit.fluxcd.io/v2 HelmRelease of one pinned chart, installed into ``target``.

    ``stage`` is the Kustomization that carries it; ``stays``: Flux never deletes it. A manifest says the one by its
    folder and the other by an annotation, so neither takes part in equality. ``places``: where the spec says those
    values that it sets itself. ``git``: the chart is a folder of a GitRepository, at its commit. ``awaited``: values
    without which Flux installs nothing.
    """

    name: str
    namespace: str
    target: str
    chart: str
    version: str
    source: str
    oci: bool
    git: bool = False
    values: Mapping[str, Any] = field(default_factory=dict)
    awaited: tuple[AwaitedValue, ...] = ()
    depends_on: tuple[str, ...] = ()
    crds: bool = True
    timeout: Duration = Duration(600)
    stage: str = field(default="controllers", compare=False)
    stays: bool = field(default=False, compare=False)
    places: Mapping[tuple[Key, ...], Route] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitSource(PlanItem):
    """source.toolkit.fluxcd.io/v1 GitRepository. ``commit``: the one of the branch that is taken, whatever comes later.

    ``folder``: where it is written.
    """

    name: str
    namespace: str
    url: str
    branch: str
    interval: Duration = Duration(60)
    secret: str | None = None
    commit: str = ""
    folder: str = field(default="bootstrap/flux", compare=False)


@dataclass(frozen=True, slots=True)
class HealthExpression:
    """How Flux reads the health of a kind without a ``Ready`` condition (CEL on the object)."""

    api_version: str
    kind: str
    current: str
    failed: str = ""
    in_progress: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage(PlanItem):
    """kustomize.toolkit.fluxcd.io/v1 Kustomization over one folder of the output.

    ``path`` is relative to the root of the git repository. ``root`` marks the one that people apply. ``values`` are the
    ConfigMaps whose values Flux fills in, without which it applies nothing. ``decrypted``: what SOPS encrypted in it is
    decrypted. ``patches`` are texts of YAML that Flux merges into what it finds there, and ``images`` the tags that it
    gives to images. ``account`` is the service account by whose rights Flux applies it; without one, by all rights that
    there are. ``folder``: where it is written itself.
    """

    name: str
    namespace: str
    path: str
    source: str
    depends_on: tuple[str, ...] = ()
    prune: bool = True
    wait: bool = True
    interval: Duration = Duration(600)
    timeout: Duration = Duration(600)
    retry: Duration = Duration(120)
    health: tuple[HealthExpression, ...] = ()
    values: tuple[str, ...] = ()
    decrypted: bool = False
    patches: tuple[str, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    account: str = ""
    root: bool = field(default=False, compare=False)
    folder: str = field(default="flux", compare=False)


def chart_version(plan: Plan, chart: str) -> str | None:
    """The version of a chart that is installed, where the plan says it."""
    for release in plan.of(HelmRelease):
        if release.chart == chart and release.version:
            return release.version
    return None
