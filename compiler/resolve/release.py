"""The release: which upstream versions a spec compiles for."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.catalog import Catalog, Release
from compiler.diagnostics import Diagnostic
from compiler.diagnostics.diagnostic import error, listed
from compiler.resolve.context import SPEC, Context, near_help
from compiler.spec.cluster import ClusterSpec


def choose_release(
    spec: ClusterSpec, catalog: Catalog
) -> tuple[Release | None, list[Diagnostic]]:
    """The release set that a spec names (or the newest), with its overrides checked."""
    release = (
        catalog.newest_release
        if spec.release is None
        else catalog.release(spec.release)
    )
    if release is None:
        help = near_help(str(spec.release), catalog.releases, "release")
        return None, [
            error(
                "RES001",
                f"release `{spec.release}` is unknown",
                SPEC / "release",
                help=help,
            )
        ]
    faults = []
    for component, version in spec.versions:
        if (
            version is not None
            and release.supported.get(component)
            and not release.supports(component, version)
        ):
            patch = (
                "" if component == "kubernetes" else ".x"
            )  # any patch of these, and a whole version
            known = listed(f"{each}{patch}" for each in release.supported[component])
            faults.append(
                error(
                    "RES002",
                    f"{component} `{version}` is not supported by release {release.name}",
                    SPEC / "versions" / component,
                    help=f"write one of {known}, or remove it to use the release's",
                )
            )
    return release, [*faults, *_apart(spec, release)]


def _apart(spec: ClusterSpec, release: Release) -> Iterator[Diagnostic]:
    """Versions that do not work together."""
    own = spec.versions.given()
    chosen = release.chosen(own)
    for pair in release.pairs:
        if not pair.met(chosen):
            one, other = (
                f"{name} `{chosen[name]}`" for name in (pair.component, pair.needed_by)
            )
            yield error(
                "RES034",
                f"{one} does not work with {other}",
                SPEC
                / "versions"
                / (pair.component if pair.component in own else pair.needed_by),
                help=f"take {pair.component} `{pair.version}` with {pair.needed_by} {pair.minor}, and with no other; "
                f"left out, {pair.component} follows",
            )


def settle_versions(context: Context) -> None:
    """Record each version for ``explain``, with the reason for it."""
    own = context.spec.versions.given()
    chosen = context.versions
    needed = {
        pair.component: pair for pair in context.release.pairs if pair.wanted(chosen)
    }
    for name, version in chosen.items():
        reason = f"tested together in release {context.release.name}"
        source = context.release.sources.get(name, "")
        if name in needed:
            reason, source = needed[name].reason, needed[name].source
        context.settle(
            "cluster",
            f"versions.{name}",
            own.get(name),
            version,
            reason,
            source,
            at=SPEC / "versions" / name,
        )
