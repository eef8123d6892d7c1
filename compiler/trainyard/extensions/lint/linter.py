"""The linter: runs the compiler's checks over third-party manifests, reported at the line of their file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import chain

from trainyard.catalog import Catalog, load_catalog
from trainyard.disk.inputs import is_folder
from trainyard.eks.third_party_workloads.plan import is_job
from trainyard.extensions.lint import templates
from trainyard.extensions.lint.builds import Builds, builds
from trainyard.extensions.lint.charts import chart_of
from trainyard.extensions.lint.clusters import by_cluster, is_too_much
from trainyard.extensions.lint.coverage import Coverage, covered
from trainyard.extensions.lint.elsewhere import Made
from trainyard.extensions.lint.groups import groups
from trainyard.extensions.lint.inputs import LintArtifact, LintObject, Reading
from trainyard.extensions.lint.kustomize import Kustomizations
from trainyard.extensions.lint.reading import read_all
from trainyard.extensions.lint.scenes import Scene, applied_together, scenes
from trainyard.extensions.lint.unfilled import Filling, left, once
from trainyard.judge.judging import judge
from trainyard.judge.model.work import Work
from trainyard.judge.policy import Policies, load_policies
from trainyard.judge.policy.load import FIXED_AREAS
from trainyard.judge.policy.reach import Reach
from trainyard.judge.policy.rule import Rule
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.places import Document, Route
from trainyard.lift import kinds
from trainyard.output import Artifact
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.run.outcome import Options, Outcome
from trainyard.verify.formats import Setting, machines, subjects
from trainyard.verify.loose_ends import Near, beside
from trainyard.verify.objects import Collide


@dataclass()
class Linted(Outcome):
    """A run over manifests: what was found, and what was judged."""

    coverage: Coverage = field(default_factory=Coverage)


def lint(paths: Iterable[str | os.PathLike[str]], options: Options) -> Linted:
    """Judge every Kubernetes and eksctl object, and every template of CloudFormation, in files and folders.

    What the set does not hold may exist elsewhere, so nothing is reported for being absent. Documents without
    ``apiVersion`` and ``kind`` are left alone, and so are specs and kustomize's patches, which are parts of objects.
    """
    paths = list(paths)
    reading = read_all(paths)
    kustomizations = Kustomizations(reading.kustomizations)
    labelled = [
        kustomizations.built(item)
        for item in reading.objects
        if not kustomizations.is_patch(item.path)
    ]
    built = builds(labelled, kustomizations)
    objects = built.objects
    reported = [
        finding for finding in reading.diagnostics if not _is_about_patch(finding, kustomizations)
    ]
    run = Linted(diagnostics=templates.once(reported))
    policies, faults = load_policies(options.policies, today=options.today)
    run.diagnostics += faults
    catalog = load_catalog(options.catalog)
    run.diagnostics += catalog.faults
    clusters, near = _clusters(objects, kustomizations)
    generated = {ObjectRef("v1", kind, "", name) for kind, name in kustomizations.made()}
    setting = Setting(
        closed=False,
        near=near,
        collide=_collisions(kustomizations),
        external=built.renamed | generated,
        others=[item.artifact for item in reading.alone],
    )
    findings: list[Diagnostic] = []
    reach = Reach()
    for cluster in clusters:
        findings += _findings(cluster, catalog, policies, setting, reach)
    findings = _in_some_build(findings, built, catalog, policies, setting)
    findings = [
        finding
        for finding in _without_repeats(findings)
        if finding.code != "NAM005" or finding.object not in reading.deleted
    ]
    findings += _findings_alone(reading, catalog, policies)
    findings += _unread(objects)
    findings = _with_unfilled(findings, objects, reading, paths)
    if policies.config.exceptions:
        lost = reading.broken or reading.templates or _hide_policies(findings)
        findings, excused = policies.config.excuse(
            findings, judged=not lost, everything=any(map(is_folder, paths))
        )
        run.excused = len(excused)
    run.diagnostics += findings
    run.coverage = _coverage(reading, objects, policies, kustomizations.made())
    run.coverage.reach = reach
    run.coverage.alternatives = len(_alternatives(clusters))
    if _nothing(reading, objects) and not run.failed:
        run.diagnostics.append(_NOTHING_FOUND)
    return run


_NOTHING_FOUND = error(
    "LNT001",
    "no object with `apiVersion` and `kind` was found, and no template",
    help="name files or folders with YAML of Kubernetes or eksctl, or templates of CloudFormation; "
    "`trainyard check` judges specs",
)


def _clusters(
    objects: list[LintObject], kustomizations: Kustomizations
) -> tuple[list[list[Scene]], Near]:
    """The scenes of each cluster, and whether two files are likely to belong together."""
    roots = applied_together(objects, kustomizations)

    def together(one: str, other: str) -> bool:
        return bool(roots(one) & roots(other))

    def near(one: str, other: str) -> bool:
        return beside(one, other) or together(one, other)

    clusters = by_cluster(objects, lambda item: item.manifest, together)
    staged = [scenes(cluster, roots, near) for cluster in clusters]
    return staged, near


def _collisions(kustomizations: Kustomizations) -> Collide:
    """Whether objects of one name are the same in the cluster: what a chart makes is there once for each release."""

    def collide(one: Manifest, other: Manifest) -> bool:
        return chart_of(one.path) == chart_of(other.path) and kustomizations.collide(one, other)

    return collide


def _alternatives(clusters: Iterable[list[Scene]]) -> set[str]:
    """The files of which one or another is applied."""
    files: set[str] = set()
    for scene in chain.from_iterable(clusters):
        if scene.rivals:
            files |= scene.own
    return files


def _is_about_patch(finding: Diagnostic, kustomizations: Kustomizations) -> bool:
    """Whether a document is no object because it is a patch of kustomize, which may go by its `target`."""
    if finding.code != "LNT004" or finding.span is None:
        return False
    return kustomizations.is_patch(finding.span.file.name)


def _hide_policies(findings: Iterable[Diagnostic]) -> bool:
    """Whether any finding is a fault for which policies leave its place out."""
    for finding in findings:
        area = finding.code[:3]
        if finding.severity is Severity.ERROR and area in FIXED_AREAS:
            return True
    return False


def _coverage(
    reading: Reading, objects: list[LintObject], policies: Policies, made: Collection[Made]
) -> Coverage:
    levels = policies.config.levels
    rules = [rule for rule in policies.rules if levels.get(rule.code, rule.severity) is not None]
    ruled = set(kinds(closed=True))
    for rule in rules:
        ruled.update(rule.kinds)
    ruled -= _PODS
    patches = len(reading.objects) - len(objects) + reading.patches
    coverage = covered(reading, objects, patches, ruled, kinds(), made)
    coverage.resource_rules = len(_on_what_is_alone(rules))
    coverage.rules = len(_on_objects(rules))
    coverage.pod_rules = sum(rule.pods for rule in rules)
    return coverage


_PODS = {"apps/DaemonSet", "apps/Deployment"}
"""Kinds of which some are agents, and read as such; of the others just the pods."""


def _nothing(reading: Reading, objects: list[LintObject]) -> bool:
    """Whether a run looked at nothing. Kustomizations, patches and templates are no objects, and are looked at."""
    looked_at = (reading.kustomizations, reading.alone, reading.patches, reading.observed)
    return not (objects or any(looked_at))


def _findings(
    cluster: list[Scene], catalog: Catalog, policies: Policies, setting: Setting, reach: Reach
) -> Iterator[Diagnostic]:
    """What is found in each scene about its own files, and in all of them about what they share."""
    shared = _SharedFindings(cluster)
    for number, scene in enumerate(cluster):
        for place, finding in _judged(scene.objects, catalog, policies, setting, reach):
            files = {place, _file(finding.subject) or place}
            files.discard("")
            if files <= scene.own:
                # Where alternatives are left out, references between files cannot be judged.
                is_known = scene.rivals or len(cluster) == 1
                if is_known or len(files) < _TWO:
                    yield finding
            elif files <= scene.own | scene.shared:
                shared.add(number, finding)
    yield from shared.agreed()


_TWO = 2


ByScene = dict[int, list[Diagnostic]]
_About = tuple[str, str]
"""The code of a finding, and its subject or place."""


class _SharedFindings:
    """The findings about files that several scenes share, by what they are about and by scene."""

    def __init__(self, cluster: list[Scene]) -> None:
        self._scenes: Counter[str] = Counter()
        for scene in cluster:
            self._scenes.update(scene.shared)
        self._findings: dict[_About, ByScene] = {}

    def add(self, scene: int, finding: Diagnostic) -> None:
        subject = finding.subject or str(finding.span)
        about = (finding.code, subject)
        by_scene = self._findings.setdefault(about, {})
        findings = by_scene.setdefault(scene, [])
        findings.append(finding)

    def agreed(self) -> Iterator[Diagnostic]:
        """The findings of which there is one in every scene that shares the file."""
        for (_, subject), by_scene in self._findings.items():
            findings = list(chain.from_iterable(by_scene.values()))
            places = filter(None, map(_place_of, findings))
            file = _file(subject) or next(places, "")
            reporting = len(by_scene)
            if reporting == self._scenes.get(file, reporting):
                yield from findings


def _in_some_build(
    findings: Iterable[Diagnostic],
    built: Builds,
    catalog: Catalog,
    policies: Policies,
    setting: Setting,
) -> list[Diagnostic]:
    """The findings on what is applied as it was judged, and those of builds that make something else of it: of the
    first, where a base has very many overlays."""
    others = built.others()
    if not others:
        return list(findings)
    applied = {file for build in others for file in build.files if not built.alike(file)}
    kept: list[Diagnostic] = []
    for finding in findings:
        home = _file(finding.subject) or _place_of(finding)
        if home not in applied:
            kept.append(finding)
    judged = 0
    for build in others:
        judged += len(build.objects)
        if is_too_much(judged, len(built.objects)):
            break
        of_others = applied | build.other
        for file, finding in _judged(build.objects, catalog, policies, setting, Reach()):
            if (_file(finding.subject) or file) in of_others:
                kept.append(finding)
    return kept


def _place_of(finding: Diagnostic) -> str:
    """The file that a finding is shown in."""
    if finding.span is None:
        return ""
    return finding.span.file.name


def _file(subject: str) -> str:
    """The file of an object by its id."""
    return subject.partition("#")[2].rpartition(":")[0]


def _judged(
    objects: list[LintObject], catalog: Catalog, policies: Policies, setting: Setting, reach: Reach
) -> Iterator[tuple[str, Diagnostic]]:
    """What is found, each with the file of the object that it is about, which a patch in another may have changed."""
    files = {item.path for item in objects}
    nodes = machines(setting.others, lambda path: any(setting.near(file, path) for file in files))
    manifests: list[Artifact] = [item.manifest for item in objects]
    verdict = judge([*manifests, *nodes], setting, catalog, policies, reach=reach)
    by_id: dict[str, LintObject] = {}
    corrected = verdict.artifacts[: len(objects)]
    for item, meant in zip(objects, corrected, strict=True):
        by_id[item.manifest.id] = item
        by_id[meant.id] = item
    apart = {artifact.id for artifact in nodes}
    for finding in verdict.diagnostics:
        at = finding.at or Route()
        if at and at[0] in apart:
            continue  # it is judged by itself as well
        about = by_id.get(str(at[0])) if at else None
        placed = _placed(finding, by_id)
        yield (about.path if about else _place_of(placed)), placed


def _findings_alone(reading: Reading, catalog: Catalog, policies: Policies) -> list[Diagnostic]:
    """What is found in what is judged by itself: templates of CloudFormation, Dockerfiles."""
    if not reading.alone:
        return []
    by_id = {item.artifact.id: item for item in reading.alone}
    # Nodes of Kubernetes are for its objects, and for no job that stands alone.
    nodes = {
        each.id for each in machines([item.artifact for item in reading.alone], lambda path: True)
    }
    of_nodes = [item for item in reading.alone if item.artifact.id in nodes]
    others = [item for item in reading.alone if item.artifact.id not in nodes]
    rules = _on_what_is_alone(policies.rules)
    placed: list[Diagnostic] = []
    for group in (*groups(others), of_nodes):
        artifacts = [item.artifact for item in group]
        verdict = judge(artifacts, Setting(closed=False), catalog, policies, rules=rules)
        placed += [_placed(finding, by_id) for finding in verdict.diagnostics]
    faults = {fault.span for fault in reading.diagnostics}
    faults.discard(None)
    # A cluster may be in several groups.
    return [finding for finding in _without_repeats(placed) if finding.span not in faults]


def _with_unfilled(
    findings: list[Diagnostic],
    objects: list[LintObject],
    reading: Reading,
    paths: Iterable[str | os.PathLike[str]],
) -> list[Diagnostic]:
    """The findings with the values that nobody fills in, each where nothing else is said of it."""
    said = {finding.span for finding in findings}
    for item, finding in left(objects, reading.alone):
        placed = _placed(finding, {item.artifact.id: item})
        if placed.span not in said:
            findings.append(placed)
    return once(findings, Filling(objects, [os.fspath(path) for path in paths]))


def _on_what_is_alone(rules: Iterable[Rule]) -> list[Rule]:
    """The rules on what templates make, on Dockerfiles, and on clusters and jobs without Kubernetes."""
    judged = {Work, *subjects()}
    return [rule for rule in rules if rule.alone or rule.subject in judged]


def _on_objects(rules: Iterable[Rule]) -> list[Rule]:
    """The rules on objects: all but those on what templates and the like have to themselves."""
    own = subjects()
    return [rule for rule in rules if rule.subject not in own or _kinds_below(rule.subject) - own]


def _kinds_below(kind: type) -> set[type]:
    below: set[type] = set(kind.__subclasses__())
    return below.union(*map(_kinds_below, below))


def _without_repeats(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One fault is reported once, though it be in what clusters share or at both ends of an alias of YAML."""
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for finding in findings:
        place = finding.span or finding.at
        unique[finding.code, finding.message, place] = finding
    return list(unique.values())


_TRAINING = ("kubeflow.org", "ray.io", "batch.volcano.sh", "sagemaker.amazonaws.com")


def _unread(objects: list[LintObject]) -> Iterator[Diagnostic]:
    """What must not pass for judged: training jobs of other operators, each kind once."""
    reported: set[str] = set()
    for item in objects:
        ref = item.manifest.ref
        if ref.group not in _TRAINING or not is_job(ref.kind):
            continue
        if f"{ref.group}/{ref.kind}" in kinds():
            continue
        if ref.kind in reported:
            continue
        reported.add(ref.kind)
        note = Diagnostic(
            "LNT003",
            Severity.NOTE,
            f"no policy reads a `{ref.kind}` of `{ref.group}`",
            Route((item.manifest.id, "kind")),
            help="write a TrainJob to have it held against pools and queues",
        )
        yield _placed(note, {item.manifest.id: item})


def _placed(finding: Diagnostic, by_id: Mapping[str, LintObject | LintArtifact]) -> Diagnostic:
    """A finding at the line of the file that its object was read from."""
    if finding.span is not None or not finding.at:
        return finding
    name, *path = finding.at
    item = by_id.get(str(name))
    if item is None:
        return finding
    node, below = item.place(tuple(path))
    span = Document(node).span(below, key=finding.key)
    ref = item.artifact.ref
    at = Route((f"@{ref}", *path))
    places = list(finding.related)
    for route, label in finding.also:
        if not route:
            continue
        other = by_id.get(str(route[0]))
        if other is not None:
            other_node, other_below = other.place(tuple(route[1:]))
            places.append((Document(other_node).span(other_below), label))
    related = tuple(places)
    return replace(finding, span=span, object=str(ref), at=at, related=related, also=())
