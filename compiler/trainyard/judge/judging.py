"""Judges everything that is written, ours or third-party: each format's own checks first, then the rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trainyard.catalog import Catalog
from trainyard.judge.policy import Policies
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.rule import Rule
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.places import Route
from trainyard.output import Artifact
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.verify.body import corrected
from trainyard.verify.formats import Setting, lifted, objects, reread, verified

if TYPE_CHECKING:
    from trainyard.judge.policy.reach import Reach

_FIELD = 2  # an object and `spec` are no field


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was judged, with the values that were meant in the place of faulty ones, and the diagnostics."""

    artifacts: Sequence[Artifact]
    diagnostics: list[Diagnostic]


def judge(
    artifacts: Sequence[Artifact],
    setting: Setting,
    catalog: Catalog,
    policies: Policies,
    *,
    plan: Plan | None = None,
    rules: Sequence[Rule] | None = None,
    reach: Reach | None = None,
) -> Verdict:
    """Everything that is wrong with artifacts: faults by their formats, and findings of rules on what they carry.

    ``plan``: the one that our own artifacts were lowered from, which has what no artifact carries. ``rules``: some of
    the policies', where not all apply; ``reach`` gets what they had to look at. Diagnostics have routes into the
    artifacts.
    """
    faults = verified(artifacts, setting)
    meant, known, written = _as_meant(artifacts, faults)
    if plan is None:
        carried = lifted(meant, closed=setting.closed)
    else:
        carried = reread(meant, plan)
    applied = policies.rules if rules is None else rules
    findings = run(carried, catalog, applied, policies.config, objects(meant), reach)
    findings = _visible(findings, faults, known)
    if written:
        findings = [_as_written(finding, written) for finding in findings]
    return Verdict(meant, [*faults, *findings])


def _as_meant(
    artifacts: Sequence[Artifact], faults: Iterable[Diagnostic]
) -> tuple[list[Artifact], set[Route], dict[Route, Route]]:
    """Artifacts with the values that were meant where they are plain, like a number in quotes; the places of these
    values, and where what has another name is written."""
    of_schema = [fault for fault in faults if fault.code.startswith("SCH")]
    faulty = set(map(_artifact, of_schema))
    meant: list[Artifact] = []
    known: set[Route] = set()
    written: dict[Route, Route] = {}
    for artifact in artifacts:
        if artifact.id in faulty and isinstance(artifact, Manifest):
            body, paths, renamed, _ = corrected(artifact.body)
            for path in paths:
                known.add(Route((artifact.id, *path)))
            for path, original in renamed.items():
                written[Route((artifact.id, *path))] = Route((artifact.id, *original))
            artifact = replace(artifact, body=body)
        meant.append(artifact)
    return meant, known, written


def _as_written(finding: Diagnostic, written: Mapping[Route, Route]) -> Diagnostic:
    """A finding inside what was renamed, where it is written."""
    at = finding.at or Route()
    for depth in range(len(at), 0, -1):
        original = written.get(Route(at[:depth]))
        if original is not None:
            return replace(finding, at=Route((*original, *at[depth:])))
    return finding


def _artifact(fault: Diagnostic) -> str:
    """The id of the artifact that a fault is about."""
    if fault.at:
        return str(fault.at[0])
    return ""


def _visible(
    findings: Iterable[Diagnostic], faults: Iterable[Diagnostic], known: set[Route]
) -> list[Diagnostic]:
    """The findings on what has no fault: what the API refuses or drops is the fact about a place, and what policies
    think of it comes when that is fixed. A name that leads nowhere is known as what it is."""
    errors = [
        fault
        for fault in faults
        if fault.severity is Severity.ERROR and not fault.code.startswith("REF")
    ]
    if not errors:
        return list(findings)
    places = {fault.at for fault in errors if fault.at}
    lost = places - known
    around = {above for place in lost for above in _above(place)}
    return [finding for finding in findings if not _hidden(finding, known, lost, around)]


def _above(place: Route) -> Iterator[Route]:
    """A place and every field around it."""
    for depth in range(_FIELD + 1, len(place) + 1):
        yield Route(place[:depth])


def _hidden(
    finding: Diagnostic,
    known: Collection[Route],
    lost: Collection[Route],
    around: Collection[Route],
) -> bool:
    """Whether a finding is about an unknown value, what is in it, or the field around it. Of a value that was meant
    otherwise what is in it is judged, and itself only where it shows a secret."""
    at = finding.at or Route()
    if at in known:
        return not finding.secret
    if any(Route(at[:depth]) in lost for depth in range(len(at) + 1)):
        return True
    return at in around
