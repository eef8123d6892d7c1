"""The passes over one spec: from a document to a judged compilation. Each is a function from values to values, and to
the faults that it finds; they end where one leaves the next nothing to go on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from trainyard.catalog import Catalog, VersionStep
from trainyard.core.cloud.plan import ClusterFolder
from trainyard.disk.inputs import is_folder
from trainyard.eks.overrides.plan import IncludedObject, ObjectPatch
from trainyard.eks.secrets.plan import ExternalSecret
from trainyard.judge.judging import judge
from trainyard.judge.policy import Policies
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.words import numbered
from trainyard.language.models.cluster import TrainingCluster
from trainyard.language.places import Document, Key, Route
from trainyard.language.source.include import included
from trainyard.language.source.texts import Text, with_texts
from trainyard.output import Artifact
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.plan import Plan, PlanItem
from trainyard.plan.base import Identity
from trainyard.run.history import Run, hold
from trainyard.run.language.load import load, platform_of
from trainyard.run.language.texts import text_keys
from trainyard.run.lower import lower
from trainyard.run.outcome import Compilation, Options
from trainyard.run.patching import apply_patches
from trainyard.run.patching.room import agents, with_room
from trainyard.run.resolve import resolve
from trainyard.verify.formats import Setting, objects
from trainyard.verify.references import made_elsewhere

Lowered = Callable[[Sequence[Manifest]], None]
"""Gets the objects of a spec before they are judged, so that something can be made of them meanwhile."""


@dataclass(frozen=True, slots=True)
class Session:
    """What every spec of a run is compiled with."""

    options: Options
    policies: Policies
    catalog: Catalog


@dataclass(frozen=True, slots=True)
class Written:
    """A plan and what is written for it; ``manifests`` are the objects among the artifacts. ``runs``: those to
    remember, where a committed folder was looked at. ``steps``: the versions that differ from what is committed."""

    plan: Plan
    artifacts: list[Artifact]
    manifests: list[Manifest]
    runs: list[Run] | None = None
    steps: list[VersionStep] = field(default_factory=list)


def compile_spec(name: str, document: Document, session: Session, lowered: Lowered) -> Compilation:
    """One spec through every pass but writing."""
    document, texts, faults = with_texts(document, text_keys(platform_of(document)))
    done = Compilation(name, document)
    faults += _passes(done, texts, session, lowered)
    done.diagnostics = [fault.locate(document) for fault in faults]
    return done


def _passes(
    done: Compilation, texts: Mapping[Route, Text], session: Session, lowered: Lowered
) -> list[Diagnostic]:
    """The passes after the files that a spec names have been read; ``done`` is given what they make."""
    document, options = done.document, session.options
    platform = platform_of(document)
    spec, faults = load(document, platform)
    if spec is None:
        return faults
    plan, unbound = resolve(
        spec,
        session.catalog,
        options.folder,
        platform,
        included=included(document),
        texts=texts,
        explained=options.explained,
    )
    faults += once_a_key(unbound, document)
    if plan is None:
        return faults
    written, unfit = patched(plan, lower(plan, platform), session.catalog)
    faults += unfit
    written, moved = held(written, spec, document, session, options.committed / done.name)
    faults += moved
    if options.explained:
        done.spec = spec.spec
    del spec  # of 10,000 jobs it is large, and nothing after this needs it
    done.plan, done.artifacts, done.manifests = written.plan, written.artifacts, written.manifests
    done.runs, done.steps = written.runs, written.steps
    lowered(done.manifests)
    if options.judged:
        faults += judged(written, document, session)
    return faults


def patched(
    plan: Plan, artifacts: list[Artifact], catalog: Catalog
) -> tuple[Written, list[Diagnostic]]:
    """The patches of the spec over what was rendered, and the plan that says the same."""
    unfit: list[Diagnostic] = []
    if plan.of(ObjectPatch):
        before = agents(artifacts)
        plan, artifacts, unfit = apply_patches(plan, artifacts)
        plan = with_room(plan, catalog, before, agents(artifacts))
    return Written(plan, artifacts, objects(artifacts)), unfit


def held(
    written: Written, spec: TrainingCluster, document: Document, session: Session, committed: Path
) -> tuple[Written, list[Diagnostic]]:
    """What is written, held against what is committed, and the runs that were submitted: what the platform says of its
    own files, and objects of Kubernetes."""
    options = session.options
    if not (options.hold and is_folder(committed)):
        return written, []
    plan, artifacts = written.plan, written.artifacts
    own = platform_of(document).held()
    if own is not None:
        return written, list(own.held(spec.spec, plan, artifacts, committed, options.replace))
    if not written.manifests:
        return written, []
    kept = hold(
        spec, plan, written.manifests, document, committed, session.catalog, options.replace
    )
    pages = [artifact for artifact in artifacts if not isinstance(artifact, Manifest)]
    together = [*kept.manifests, *pages]
    return Written(kept.plan, together, kept.manifests, kept.runs, kept.steps), kept.diagnostics


def judged(written: Written, document: Document, session: Session) -> list[Diagnostic]:
    """What formats and rules find in what is written, at the lines of the spec; then what they find in objects that
    cannot be written yet, judged together with all that is."""
    plan, artifacts = written.plan, written.artifacts
    found = _findings(artifacts, plan, setting_of(plan), session)
    if not plan.waiting:
        return once_a_key(found, document)
    known = set(map(_named, plan.items))
    later = [node for node in plan.waiting if _named(node) not in known]
    whole = replace(plan, items=(*plan.items, *later), waiting=())
    ids = {artifact.id for artifact in artifacts}
    lowered = lower(whole, platform_of(document))
    everything = [*artifacts, *(each for each in lowered if each.id not in ids)]
    of_whole = _findings(everything, whole, setting_of(plan), session)
    more = [finding for finding in of_whole if finding not in found]
    return once_a_key(found, document) + once_a_key(more, document)


def _findings(
    artifacts: Sequence[Artifact], plan: Plan, setting: Setting, session: Session
) -> list[Diagnostic]:
    verdict = judge(artifacts, setting, session.catalog, session.policies, plan=plan)
    return traced(verdict.diagnostics, artifacts)


def _named(node: PlanItem) -> tuple[Identity, str]:
    """Several runtimes of one pool, and files of several jobs, share an identity: their names carry a hash."""
    return node.identity, getattr(node, "name", "")


def setting_of(plan: Plan, artifacts: Sequence[Artifact] = ()) -> Setting:
    """The setting in which the output of a plan is judged."""
    external = frozenset(ObjectRef(*ref) for ref in plan.external)
    for secret in plan.of(ExternalSecret):
        ref = ObjectRef("v1", "Secret", secret.namespace, secret.target)
        external |= {ref}
    bodies = [node.body for node in plan.of(IncludedObject)]
    if bodies:
        external |= made_elsewhere(bodies)
    folder = plan.one(ClusterFolder)
    return Setting(
        external=external, others=artifacts, folder=folder.path if folder is not None else ""
    )


def traced(diagnostics: Sequence[Diagnostic], artifacts: Sequence[Artifact]) -> list[Diagnostic]:
    """Findings on what is written, reported at the line of the spec that each field came from."""
    if not diagnostics:
        return []
    by_id = {artifact.id: artifact for artifact in artifacts}
    return [_trace(diagnostic, by_id) for diagnostic in diagnostics]


def once_a_key(
    findings: Sequence[Diagnostic], document: Document | None = None
) -> list[Diagnostic]:
    """What one key of a spec does wherever it is written is said once: of what asks for the same at the same key the
    first, with the number of the others. A key may be in the pods of each role, a patch in many objects, and what
    jobs inherit in each of them."""
    reported: dict[object, Diagnostic] = {}
    others: dict[object, set[str]] = {}
    for finding in findings:
        key: object = (finding.code, _written_at(finding, document), finding.help)
        if not finding.at or not finding.help:
            key = len(reported)
        if key not in reported:
            reported[key] = finding
        elif finding.message != reported[key].message:
            others.setdefault(key, set()).add(finding.message)
    for key, messages in others.items():
        note = numbered(len(messages), "more is so by this key", "more are so by this key")
        first = reported[key]
        reported[key] = replace(first, notes=(*first.notes, note))
    return list(reported.values())


def _written_at(finding: Diagnostic, document: Document | None) -> object:
    """Where the key of a finding is written, which many jobs may inherit, and what is missing there."""
    at = finding.at
    if document is None or not at:
        return at
    node, depth = document.node(at)
    return node.span, at[depth:]


def _trace(finding: Diagnostic, by_id: Mapping[str, Artifact]) -> Diagnostic:
    if finding.also:
        places = []
        for at, label in finding.also:
            places.append((_origin(at, by_id), label))
        finding = replace(finding, also=tuple(places))
    if not finding.at:
        return finding
    artifact = by_id.get(str(finding.at[0]))
    if artifact is None:
        return finding
    path = tuple(finding.at[1:])
    notes = finding.notes
    if path:
        notes = (*notes, _rendered(path))
    return replace(finding, at=artifact.origin(path), object=str(artifact.ref), notes=notes)


def _rendered(path: tuple[Key, ...]) -> str:
    """Where it stands in what is written: a field, or a line of a script."""
    first = path[0]
    if isinstance(first, int):
        return f"rendered in line {first + 1}"
    return f"rendered as `{Route(path)}`"


def _origin(at: Route, by_id: Mapping[str, Artifact]) -> Route:
    """The place of the spec that a place of an object came from; of another place itself."""
    if not at:
        return at
    artifact = by_id.get(str(at[0]))
    if artifact is None:
        return at
    path = tuple(at[1:])
    return artifact.origin(path)
