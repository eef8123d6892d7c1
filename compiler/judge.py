"""The judge of everything that is written, ours or third-party: what each format wants of it, then what rules think."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from compiler.catalog import Catalog
from compiler.dataclass import dataclass
from compiler.diagnostics import Diagnostic, Severity
from compiler.manifest import Manifest
from compiler.output import Artifact
from compiler.output.formats import Setting, lifted, objects, reread, verified
from compiler.plan import Plan
from compiler.policy import Policies
from compiler.policy.engine import run
from compiler.policy.rule import Rule
from compiler.source import Route
from compiler.verify.body import corrected

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
) -> Verdict:
    """Everything that is wrong with artifacts: faults by their formats, and findings of rules on what they carry.

    ``plan``: the one that our own artifacts were lowered from, which has what no artifact carries. ``rules``: some of
    the policies', where not all apply. Diagnostics have routes into the artifacts.
    """
    faults = verified(artifacts, setting)
    meant = artifacts
    known: set[Route] = set()
    if not setting.closed:
        meant, known = _as_meant(artifacts, faults)
    if plan is None:
        carried = lifted(
            meant,
            closed=setting.closed,
        )
    else:
        carried = reread(meant, plan)
    applied = policies.rules if rules is None else rules
    findings = run(
        carried,
        catalog,
        applied,
        policies.config,
        objects(meant),
    )
    if not setting.closed:
        findings = _visible(findings, faults, known)
    return Verdict(meant, [*faults, *findings])


def _as_meant(
    artifacts: Sequence[Artifact], faults: Iterable[Diagnostic]
) -> tuple[list[Artifact], set[Route]]:
    """Third-party artifacts with the values that were meant where they are plain, like a number in quotes; and the
    places of these values."""
    of_schema = [fault for fault in faults if fault.code.startswith("SCH")]
    faulty = set(map(_artifact, of_schema))
    meant: list[Artifact] = []
    known: set[Route] = set()
    for artifact in artifacts:
        if artifact.id in faulty and isinstance(artifact, Manifest):
            body, paths = corrected(artifact.body)
            for path in paths:
                known.add(Route((artifact.id, *path)))
            artifact = replace(artifact, body=body)
        meant.append(artifact)
    return meant, known


def _artifact(fault: Diagnostic) -> str:
    """The id of the artifact that a fault is about."""
    if fault.at:
        return str(fault.at[0])
    return ""


def _visible(
    findings: Iterable[Diagnostic],
    faults: Iterable[Diagnostic],
    known: set[Route],
) -> list[Diagnostic]:
    """The findings on what has no fault: what the API refuses or drops is the fact about a place, and what policies
    think of it comes when that is fixed."""
    errors = [fault for fault in faults if fault.severity is Severity.ERROR]
    places = [fault.at for fault in errors if fault.at]
    lost = [place for place in places if place not in known]
    return [finding for finding in findings if not _hidden(finding, places, lost)]


def _hidden(
    finding: Diagnostic, places: Iterable[Route], lost: Iterable[Route]
) -> bool:
    """Whether a finding is about a place with a fault, what is in it, or the field around an unknown
    value."""
    at = finding.at or Route()
    if any(at[: len(place)] == place for place in places):
        return True
    depth = len(at)
    if depth <= _FIELD:
        return False
    return any(place[:depth] == at for place in lost)
