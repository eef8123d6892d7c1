"""Versions that an edit changes, compared with the committed ones, and what each step requires."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.catalog import BLOCKED, MANUAL, UNKNOWN, Catalog, VersionStep
from trainyard.catalog.upgrades import Upgrade
from trainyard.eks.release.versions import own_place, own_versions
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import error, warning
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.places import Route
from trainyard.output.body import value_at
from trainyard.output.manifest import Body, Manifest
from trainyard.plan import Plan
from trainyard.run.history.committed import Committed
from trainyard.run.history.runs import ENDED, Run

_SPEC = Route(("spec",))
# No object has their versions: those of the committed release are used.
_OF_THE_RELEASE = ("eksctl", "flux")


def pinned(body: Body) -> dict[str, str]:
    """The versions that an object pins, by component. What an edit by hand made no version of is left out."""
    name = str(value_at(body, "metadata", "name"))
    versions: dict[str, Any] = {}
    match body["kind"]:
        case "OCIRepository":
            versions[name] = value_at(body, "spec", "ref", "tag")
        case "HelmRelease":
            versions[name] = value_at(body, "spec", "chart", "spec", "version")
        case "EC2NodeClass":
            versions["ami"] = value_at(body, "spec", "amiSelectorTerms", 0, "alias")
        case "ClusterConfig":
            versions["kubernetes"] = value_at(body, "metadata", "version")
            versions.update(_builds(body))
    return {
        component: str(version)
        for component, version in versions.items()
        if isinstance(version, str | int | float)
    }


def _builds(body: Body) -> dict[str, Any]:
    """The builds of EKS add-ons."""
    addons = value_at(body, "addons")
    if not isinstance(addons, list):
        return {}
    builds = {}
    for addon in addons:
        name = str(value_at(addon, "name"))
        builds[name] = value_at(addon, "version")
    return builds


def steps(
    plan: Plan,
    manifests: Iterable[Manifest],
    committed: Committed,
    runs: Iterable[Run],
    catalog: Catalog,
) -> list[VersionStep]:
    """The step of each component whose committed version differs, in the order of their names.

    ``runs`` are those to remember. What steps ask for is known by the newest release: it has read the most of upstream.
    """
    changes = dict(_of_release(plan, committed, catalog))
    for manifest in manifests:
        changes.update(_of_object(manifest, committed))
    known = {run.key for run in committed.runs}
    known_runs = [run for run in runs if run.key in known]
    going_on = any(run.state != ENDED for run in known_runs)
    newest = catalog.newest_release
    version_steps = []
    for name, (before, after) in sorted(changes.items()):
        component = newest.components.get(name)
        if component is not None and component.version_of is None:
            version_steps.append(newest.step(name, before, after, runs=going_on))
    return version_steps


def _of_object(manifest: Manifest, committed: Committed) -> Iterator[tuple[str, tuple[str, str]]]:
    """Component, version before and version after, of each that an object pins otherwise than its committed file."""
    now = pinned(manifest.body)
    if not now:
        return
    if committed.mentions(manifest.path, now.values()):
        return
    old = committed.manifest(str(manifest.ref), manifest.path, manifest)
    if old is not None:
        before = pinned(old.body)
    else:
        before = {}
    for component, version in now.items():
        earlier = before.get(component, version)
        if earlier != version:
            yield component, (earlier, version)


def _of_release(
    plan: Plan, committed: Committed, catalog: Catalog
) -> Iterator[tuple[str, tuple[str, str]]]:
    name = str(committed.index.get("release"))
    before = catalog.release(name)
    after = catalog.release(plan.release)
    if before is None or after is None:
        return
    if before.name == after.name:
        return
    for component in _OF_THE_RELEASE:
        old = before.version(component)
        new = after.version(component)
        if old != new:
            yield component, (old, new)


def reported(steps: Iterable[VersionStep], spec: ClusterSpec) -> Iterator[Diagnostic]:
    """What people must know of the steps: what restarts, what they do themselves, what is refused."""
    steps = list(steps)
    if steps:
        yield _restarts(steps, spec)
    for step in steps:
        if step.verdict == BLOCKED:
            yield _blocked(step, spec)
        elif step.verdict == MANUAL:
            yield _by_hand(step, spec)
        elif step.verdict == UNKNOWN:
            yield _unknown(step, spec)


def _place(spec: ClusterSpec, component: str = "") -> Route:
    """What the spec says of the version, or of the release; else the spec."""
    if component in own_versions(spec):
        return own_place(spec, component)
    if spec.release is None:
        return _SPEC
    return _SPEC / "release"


def _restarts(steps: list[VersionStep], spec: ClusterSpec) -> Diagnostic:
    names = "1 component changes its version"
    if len(steps) > 1:
        names = f"{len(steps)} components change their versions"
    return Diagnostic(
        "CHG010",
        Severity.NOTE,
        names,
        _place(spec),
        key=True,
        notes=tuple(_restart(step) for step in steps),
        help="merge it when that may restart",
    )


def _restart(step: VersionStep) -> str:
    if not step.restarted:
        return str(step)
    return f"{step}: restarts {'; '.join(step.restarted)}"


def _by_hand(step: VersionStep, spec: ClusterSpec) -> Diagnostic:
    return warning(
        "CHG011",
        f"{step} asks for steps by hand",
        _place(spec, step.component),
        key=True,
        notes=tuple(_notes(step.asking())),
        help="do them in this order; `trainyard report` lists them for the pull request",
    )


def _blocked(step: VersionStep, spec: ClusterSpec) -> Diagnostic:
    way = "downgrade" if step.back else "upgrade"
    return error(
        "CHG012",
        f"{step} is no {way} that can be taken",
        _place(spec, step.component),
        key=True,
        notes=tuple(_notes(step.asking())),
        help=f"keep {step.component} {step.before}, or do first what the notes say",
    )


def _unknown(step: VersionStep, spec: ClusterSpec) -> Diagnostic:
    way = "downgrade" if step.back else "upgrade"
    return warning(
        "CHG013",
        f"what {step} asks for is not known",
        _place(spec, step.component),
        key=True,
        help=f"read what upstream says of this {way} before the merge",
    )


def _notes(upgrades: Iterable[Upgrade]) -> Iterator[str]:
    for upgrade in upgrades:
        yield upgrade.summary
        if upgrade.precondition:
            yield f"before: {upgrade.precondition}"
        for number, text in enumerate(upgrade.steps, 1):
            yield f"{number}. {text}"
        yield f"source: {'; '.join(upgrade.sources)}"
