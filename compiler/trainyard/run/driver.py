"""The driver: runs the passes in order, from files to a judged compilation. It prints and writes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias

from trainyard.catalog import Catalog, load_catalog
from trainyard.core.cloud.plan import ClusterFolder
from trainyard.disk.inputs import Record, is_folder, recording, seen_before
from trainyard.eks.overrides.plan import IncludedObject, ObjectPatch
from trainyard.eks.secrets.plan import ExternalSecret
from trainyard.judge.judging import judge
from trainyard.judge.policy import Policies, load_policies
from trainyard.judge.policy.config import Config
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.words import numbered
from trainyard.language.models.cluster import TrainingCluster
from trainyard.language.places import Document, Key, Route
from trainyard.language.source.assemble import SpecSource, assemble
from trainyard.language.source.include import included
from trainyard.language.source.texts import Text, with_texts
from trainyard.output import Artifact
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.plan import Plan, PlanNode
from trainyard.plan.base import Identity
from trainyard.run.language.documents import lists
from trainyard.run.language.load import load, platform_of
from trainyard.run.language.texts import text_keys
from trainyard.run.lower import lower
from trainyard.run.outcome import Compilation, Options, Outcome
from trainyard.run.repeat import Repeats
from trainyard.run.resolve import resolve
from trainyard.verify.formats import Setting, objects
from trainyard.verify.references import made_elsewhere

_MANY = 16  # specs from which on every core takes a share

Lowered = Callable[[Sequence[Manifest]], None]


Current = Callable[[Compilation], tuple[str, ...] | None]


def _ignore(manifests: Sequence[Manifest]) -> None:
    """Nothing waits for the objects."""


def _clean(done: Compilation) -> tuple[str, ...] | None:
    """Nothing to say, and no files to compare."""
    return None if done.diagnostics else ()


def check(
    paths: Iterable[str | os.PathLike[str]],
    options: Options,
    lowered: Lowered | None = None,
    current: Current = _clean,
) -> Outcome:
    """Every spec of the paths through every pass but writing.

    ``lowered`` gets the objects of each before the passes judge them, so that something can be made of them meanwhile.
    ``current`` gives the files of a compilation after which nothing is left to do; of many specs, only the others are
    handed back whole.
    """
    paths = list(paths)
    sources, diagnostics = assemble(paths, lists())
    with recording() as shared:
        diagnostics += load_catalog(options.catalog).faults
        if any(fact.severity is Severity.ERROR for fact in diagnostics):
            return Outcome([], [*diagnostics, *_of_form(sources, diagnostics)])
        policies = Policies(())
        if options.judged:
            policies, faults = load_policies(options.policies, today=options.today)
            diagnostics += faults
    work = _Work(sources, policies, options, lowered or _ignore, current)
    if lowered is None and shared.whole:
        work.repeat(shared.digest())
    outcome = Outcome(work.compilations(), diagnostics)
    if policies.config.exceptions:
        _excuse(outcome, policies.config, paths, options)
    return outcome


_BOMB = "YML005"
"""Aliases that stand for very much: a fault of each would be told as often."""


def _of_form(sources: Iterable[SpecSource], known: Sequence[Diagnostic]) -> Iterator[Diagnostic]:
    """What is wrong with the form of specs that cannot be read as a whole, so that all of it is told at once. What is
    missing may stand where nothing could be read, and a value that has a fault is told of once."""
    places = {str(fault.span) for fault in known}
    bombs = {fault.span.file.name for fault in known if fault.code == _BOMB and fault.span}
    for source in sources:
        document = source.document
        if bombs & {file.name for file in source.files}:
            continue
        for fault in load(document, platform_of(document))[1]:
            located = fault.locate(document)
            if fault.code != "SPC001" and str(located.span) not in places:
                yield located


def check_document(
    name: str, document: Document, policies: Policies, options: Options
) -> Compilation:
    """One spec that is in memory through every pass but writing."""
    return _compile(name, document, policies, options, _ignore)


class _Work:
    """The specs of a run, each of which goes through the passes, unless a run before did that with the same inputs."""

    def __init__(
        self,
        sources: Sequence[SpecSource],
        policies: Policies,
        options: Options,
        lowered: Lowered,
        current: Current,
    ) -> None:
        self._sources = sources
        self._policies = policies
        self._options = options
        self._lowered = lowered
        self._current = current
        self._repeats: Repeats | None = None
        self._records: dict[int, Record] = {}

    def repeat(self, shared: str) -> None:
        """Take from the cache what is known of each of several clusters; of one, the whole run would be known."""
        cache = self._options.cache
        if cache is not None and len(self._sources) > 1:
            compared = self._current is not _clean
            self._repeats = Repeats(cache, self._options, shared, compared=compared)

    def compilations(self) -> list[Compilation]:
        """One of each spec, in their order."""
        known: dict[int, Compilation] = {}
        if self._repeats is not None:
            for index, source in enumerate(self._sources):
                done = self._repeats.get(source)
                if done is not None:
                    known[index] = done
        left = [index for index in range(len(self._sources)) if index not in known]
        if self._lowered is _ignore and len(left) >= _MANY:
            known |= self._spread(left)
        else:
            known |= {index: self._compile(index) for index in left}
        return [known[index] for index in range(len(self._sources))]

    def _compile(self, index: int) -> Compilation:
        source = self._sources[index]
        with recording() as record:
            done = _compile(
                source.name, source.document, self._policies, self._options, self._lowered
            )
            if self._repeats is not None and self._current is not _clean:
                done.current = self._current(done)
        if self._repeats is not None:
            is_all = done.current is not None or self._current is _clean
            self._repeats.put(source, done, record, whole=is_all)
        self._records[index] = record
        return done

    def _spread(self, left: Sequence[int]) -> dict[int, Compilation]:
        """Every core takes a share; what a worker says of a cluster is what it saw, and its files."""
        from trainyard.run.fleet import spread  # a few specs start sooner without it

        def compiled(number: int) -> tuple[int, Compilation]:
            index = left[number]
            return index, self._compile(index)

        done, verdicts = spread(len(left), compiled, self._verdict)
        compilations = {}
        for number, index in enumerate(left):
            source = self._sources[index]
            if number in done:
                _, compilation = done[number]
            else:
                compilation = Compilation(source.name, source.document)
            if number in verdicts:
                compilation.current, seen, is_whole = verdicts[number]
                seen_before(seen, whole=is_whole)
            compilations[index] = compilation
        return compilations

    def _verdict(self, indexed: tuple[int, Compilation]) -> tuple[Any, ...] | None:
        """The files of a cluster and what was seen for it, where nothing is left to do or to say."""
        index, done = indexed
        if done.diagnostics:
            return None
        record = self._records[index]
        files = done.current
        if files is None:
            with recording() as more:
                files = self._current(done)
            record.add(more)
        if files is None:
            return None
        return files, record.items(), record.whole


def _excuse(
    outcome: Outcome, config: Config, paths: Sequence[str | os.PathLike[str]], options: Options
) -> None:
    """Apply the exceptions over all specs at once: one is unused only if none of them needs it."""
    from trainyard.run.unread import is_everything  # few repositories have exceptions

    compilations = outcome.compilations
    findings: list[Diagnostic] = []
    for compilation in compilations:
        findings += compilation.diagnostics
    judged = all(compilation.judged for compilation in compilations)
    names = [compilation.name for compilation in compilations]
    everything = is_everything(paths, names, options.policies, options.output)
    kept, excused = config.excuse(findings, judged=judged, everything=everything)
    known = {id(finding) for finding in findings}
    of_exceptions = [finding for finding in kept if id(finding) not in known]
    outcome.diagnostics += of_exceptions
    gone = {id(finding) for finding in excused}
    for compilation in compilations:
        diagnostics = compilation.diagnostics
        compilation.diagnostics = [finding for finding in diagnostics if id(finding) not in gone]
    outcome.excused = len(excused)


def _compile(
    name: str, document: Document, policies: Policies, options: Options, lowered: Lowered
) -> Compilation:
    compilation = Compilation(name, document)
    faults = _passes(compilation, policies, options, lowered)
    document = compilation.document
    compilation.diagnostics = [fault.locate(document) for fault in faults]
    return compilation


def _passes(
    done: Compilation, policies: Policies, options: Options, lowered: Lowered
) -> list[Diagnostic]:
    run = Run(done, options, policies, load_catalog(options.catalog), lowered)
    faults: list[Diagnostic] = []
    for step in PASSES if options.judged else COMPILING:
        faults += step(run)
        if run.ended:
            break
    return faults


@dataclass()
class Run:
    """One spec on its way through the passes: what each leaves for the next.

    ``ended``: an error leaves nothing to go on with. ``findings``: what the rules found in what is written.
    """

    done: Compilation
    options: Options
    policies: Policies
    catalog: Catalog
    lowered: Lowered
    texts: Mapping[Route, Text] = field(default_factory=dict)
    spec: TrainingCluster | None = None
    plan: Plan | None = None
    artifacts: list[Artifact] = field(default_factory=list)
    manifests: list[Manifest] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    ended: bool = False


def read_texts(run: Run) -> list[Diagnostic]:
    """The files that the spec names, as values with places."""
    done = run.done
    keys = text_keys(platform_of(done.document))
    done.document, run.texts, unread = with_texts(done.document, keys)
    return unread


def load_spec(run: Run) -> list[Diagnostic]:
    """The document as the language has it."""
    document = run.done.document
    run.spec, faults = load(document, platform_of(document))
    run.ended = run.spec is None
    return faults


def resolve_spec(run: Run) -> list[Diagnostic]:
    """The plan: everything bound and derived."""
    assert run.spec is not None
    document = run.done.document
    run.plan, faults = resolve(
        run.spec,
        run.catalog,
        run.options.folder,
        platform_of(document),
        included=included(document),
        texts=run.texts,
        explained=run.options.explained,
    )
    run.ended = run.plan is None
    return once_a_key(faults, document)


def lower_plan(run: Run) -> list[Diagnostic]:
    """What will be written."""
    assert run.plan is not None
    run.artifacts = lower(run.plan, platform_of(run.done.document))
    return []


def patch_objects(run: Run) -> list[Diagnostic]:
    """The patches of the spec over what was rendered, and the plan that says the same."""
    assert run.plan is not None
    if not run.plan.of(ObjectPatch):
        return []
    from trainyard.run.patching import apply_patches  # few specs have patches
    from trainyard.run.patching.room import agents, with_room

    before = agents(run.artifacts)
    run.plan, run.artifacts, unfit = apply_patches(run.plan, run.artifacts)
    run.plan = with_room(run.plan, run.catalog, before, agents(run.artifacts))
    return unfit


def hold_runs(run: Run) -> list[Diagnostic]:
    """The plan against what is committed, and the runs that were submitted: what the platform says of its own files,
    and objects of Kubernetes."""
    assert run.spec is not None
    assert run.plan is not None
    done, options = run.done, run.options
    run.manifests = objects(run.artifacts)
    committed = options.committed / done.name
    if not (options.hold and is_folder(committed)):
        return []
    own = platform_of(done.document).held()
    if own is not None:
        return list(own.held(run.spec.spec, run.plan, run.artifacts, committed, options.replace))
    if not run.manifests:
        return []
    from trainyard.run.history import hold  # a first compilation starts sooner without it

    held = hold(
        run.spec, run.plan, run.manifests, done.document, committed, run.catalog, options.replace
    )
    run.plan = held.plan
    done.steps, done.runs = held.steps, held.runs
    pages = [artifact for artifact in run.artifacts if not isinstance(artifact, Manifest)]
    run.manifests = held.manifests
    run.artifacts = [*held.manifests, *pages]
    return held.diagnostics


def hand_over(run: Run) -> list[Diagnostic]:
    """The spec, which nothing after this needs, is given back with its memory; cdk8s may begin."""
    done = run.done
    if run.options.explained and run.spec is not None:
        done.spec = run.spec.spec
    run.spec = None
    done.plan, done.artifacts, done.manifests = run.plan, run.artifacts, run.manifests
    run.lowered(done.manifests)
    return []


def judge_artifacts(run: Run) -> list[Diagnostic]:
    """What formats and rules find in what is written, at the lines of the spec."""
    assert run.plan is not None
    verdict = judge(run.artifacts, setting_of(run.plan), run.catalog, run.policies, plan=run.plan)
    run.findings = traced(verdict.diagnostics, run.artifacts)
    return once_a_key(run.findings, run.done.document)


def judge_waiting(run: Run) -> list[Diagnostic]:
    """Findings in objects that cannot be written yet, judged together with all that is written."""
    plan = run.plan
    assert plan is not None
    if not plan.waiting:
        return []
    known = set(map(_named, plan.nodes))
    later = [node for node in plan.waiting if _named(node) not in known]
    whole = replace(plan, nodes=(*plan.nodes, *later), waiting=())
    written = {artifact.id for artifact in run.artifacts}
    lowered = lower(whole, platform_of(run.done.document))
    more = [artifact for artifact in lowered if artifact.id not in written]
    everything = [*run.artifacts, *more]
    verdict = judge(everything, setting_of(plan), run.catalog, run.policies, plan=whole)
    found = traced(verdict.diagnostics, everything)
    more_found = [finding for finding in found if finding not in run.findings]
    return once_a_key(more_found, run.done.document)


Pass: TypeAlias = Callable[[Run], list[Diagnostic]]
COMPILING: tuple[Pass, ...] = (
    read_texts,
    load_spec,
    resolve_spec,
    lower_plan,
    patch_objects,
    hold_runs,
    hand_over,
)
"""From a document to what would be written. Each pass takes the run, and returns the faults that it finds."""
PASSES: tuple[Pass, ...] = (*COMPILING, judge_artifacts, judge_waiting)
"""From a document to a judged compilation."""


def _named(node: PlanNode) -> tuple[Identity, str]:
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
