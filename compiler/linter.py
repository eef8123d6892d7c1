"""Lint: the checks of the compiler over manifests that others wrote, reported at the line of their file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from compiler.catalog import Catalog, load_catalog
from compiler.clusters import by_cluster
from compiler.diagnostics import Diagnostic, Severity
from compiler.diagnostics.diagnostic import error
from compiler.judge import judge
from compiler.lift import kinds
from compiler.lint import templates
from compiler.lint.coverage import Coverage, covered
from compiler.lint.found import Found, Reading, Source
from compiler.lint.kustomize import Kustomizations
from compiler.lint.reading import read_all
from compiler.lint.scenes import Scene, applied_together, scenes
from compiler.outcome import Options, Outcome
from compiler.output.formats import Setting
from compiler.policy import Policies, load_policies
from compiler.policy.load import FIXED_AREAS
from compiler.policy.rule import Rule
from compiler.source import Document, Route
from compiler.subjects.cloud.plan import RESOURCES
from compiler.verify.loose_ends import Near, beside


@dataclass
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
    objects = [
        kustomizations.built(each)
        for each in reading.objects
        if not kustomizations.is_patch(each.path)
    ]
    told = [each for each in reading.diagnostics if not _of_patch(each, kustomizations)]
    done = Linted(diagnostics=templates.once(told))
    policies, faults = load_policies(options.policies, today=options.today)
    done.diagnostics += faults
    catalog = load_catalog(options.catalog)
    done.diagnostics += catalog.faults
    roots = applied_together(objects, kustomizations)

    def together(one: str, other: str) -> bool:
        return bool(roots(one) & roots(other))

    def near(one: str, other: str) -> bool:
        return beside(one, other) or together(one, other)

    clusters = by_cluster(objects, lambda each: each.manifest, together)
    staged = [scenes(cluster, roots, near) for cluster in clusters]
    found = _once(
        each for several in staged for each in _staged(several, catalog, policies, near)
    )
    found += _alone(reading, catalog, policies)
    found += _unread(objects)
    if policies.config.exceptions:
        judged = not (
            reading.broken or reading.templates or any(_hiding(each) for each in found)
        )
        found, excused = policies.config.excuse(
            found, judged=judged, everything=any(map(os.path.isdir, paths))
        )
        done.excused = len(excused)
    done.diagnostics += found
    done.coverage = _covered(reading, objects, policies)
    done.coverage.alternatives = len(
        {
            file
            for several in staged
            for scene in several
            if scene.rivals
            for file in scene.own
        }
    )
    if _nothing(reading, objects) and not done.failed:
        done.diagnostics.append(
            error(
                "LNT001",
                "no object with `apiVersion` and `kind` was found, and no template",
                help="name files or folders with YAML of Kubernetes or eksctl, or templates of CloudFormation; "
                "`trainyard check` judges specs",
            )
        )
    return done


def _of_patch(found: Diagnostic, kustomizations: Kustomizations) -> bool:
    """Whether a document is no object because it is a patch of kustomize, which may go by its `target`."""
    return (
        found.code == "LNT004"
        and found.span is not None
        and kustomizations.is_patch(found.span.file.name)
    )


def _hiding(found: Diagnostic) -> bool:
    """Whether policies say nothing of a place as long as this is wrong with it."""
    return found.severity is Severity.ERROR and found.code[:3] in FIXED_AREAS


def _covered(reading: Reading, objects: list[Found], policies: Policies) -> Coverage:
    rules = [
        each
        for each in policies.rules
        if policies.config.levels.get(each.code, each.severity) is not None
    ]
    ruled = {
        *kinds(closed=True),
        *(kind for each in rules for kind in each.kinds),
    } - _PODS
    done = covered(
        reading, objects, len(reading.objects) - len(objects), ruled, kinds()
    )
    done.resource_rules = sum(each.subject in RESOURCES for each in rules)
    done.rules = len(rules) - done.resource_rules
    done.pod_rules = sum(each.pods for each in rules)
    return done


_PODS = {
    "apps/DaemonSet",
    "apps/Deployment",
}  # which are read for the agents among them too


def _nothing(reading: Reading, objects: list[Found]) -> bool:
    """Whether a run looked at nothing. Neither a kustomization nor a template is an object, and both are looked at."""
    return not (objects or reading.kustomizations or reading.alone)


def _staged(
    several: list[Scene], catalog: Catalog, policies: Policies, near: Near
) -> Iterator[Diagnostic]:
    """What is found in each scene about its own files, and in all of them about what they share."""
    times = Counter(file for scene in several for file in scene.shared)
    seen: dict[tuple[str, str], dict[int, list[Diagnostic]]] = {}
    for number, scene in enumerate(several):
        for each in _judged(scene.objects, catalog, policies, near):
            place = each.span.file.name if each.span is not None else ""
            files = {place, _file(each.subject) or place} - {""}
            if files <= scene.own:
                # Beside alternatives that are left out, nothing can be said of what one file wants of another.
                if scene.rivals or len(several) == 1 or len(files) < _TWO:
                    yield each
            elif files <= scene.own | scene.shared:
                seen.setdefault(
                    (each.code, each.subject or str(each.span)), {}
                ).setdefault(number, []).append(each)
    for (_, subject), found in seen.items():
        shared = _file(subject) or next(
            (each.span.file.name for each in next(iter(found.values())) if each.span),
            "",
        )
        if len(found) == times.get(shared, len(found)):
            yield from (each for every in found.values() for each in every)


_TWO = 2


def _file(subject: str) -> str:
    """The file of an object by its id."""
    return subject.partition("#")[2].rpartition(":")[0]


def _judged(
    objects: list[Found], catalog: Catalog, policies: Policies, near: Near
) -> list[Diagnostic]:
    manifests = [each.manifest for each in objects]
    verdict = judge(manifests, Setting(closed=False, near=near), catalog, policies)
    ids = {each.manifest.id: each for each in objects}
    for meant, each in zip(verdict.artifacts, objects, strict=True):
        ids[meant.id] = each
    return [_place(each, ids) for each in verdict.diagnostics]


def _alone(reading: Reading, catalog: Catalog, policies: Policies) -> list[Diagnostic]:
    """What is found in what is judged by itself: templates of CloudFormation."""
    artifacts = [source.artifact for source in reading.alone]
    if not artifacts:
        return []
    setting, rules = Setting(closed=False), _on_templates(policies)
    verdict = judge(artifacts, setting, catalog, policies, rules=rules)
    ids = {source.artifact.id: source for source in reading.alone}
    placed = [_place(each, ids) for each in verdict.diagnostics]
    unread = {each.span for each in reading.diagnostics if each.span is not None}
    return [each for each in placed if each.span not in unread]


def _on_templates(policies: Policies) -> list[Rule]:
    """The rules on what templates make."""
    return [rule for rule in policies.rules if rule.subject in RESOURCES]


def _once(told: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One fault is reported once, though it be in what clusters share or at both ends of an alias of YAML."""
    return list(
        {
            (each.code, each.message, each.span or each.at): each for each in told
        }.values()
    )


_TRAINING = ("kubeflow.org", "ray.io", "batch.volcano.sh", "sagemaker.amazonaws.com")


def _unread(objects: list[Found]) -> Iterator[Diagnostic]:
    """What must not pass for judged: training jobs of other operators, each kind once."""
    first = {
        each.manifest.ref.kind: each
        for each in reversed(objects)
        if each.manifest.ref.group in _TRAINING
        and f"{each.manifest.ref.group}/{each.manifest.ref.kind}" not in kinds()
    }
    for kind, found in first.items():
        manifest = found.manifest
        note = Diagnostic(
            "LNT003",
            Severity.NOTE,
            f"no policy reads a `{kind}` of `{manifest.ref.group}`",
            Route((manifest.id, "kind")),
            help="write a TrainJob to have it held against pools and queues",
        )
        yield _place(note, {manifest.id: found})


def _place(item: Diagnostic, by_id: Mapping[str, Found | Source]) -> Diagnostic:
    if (
        item.span is not None
        or not item.at
        or (found := by_id.get(str(item.at[0]))) is None
    ):
        return item
    span = Document(found.node).span(Route(item.at[1:]), key=item.key)
    ref = found.artifact.ref
    return replace(
        item, span=span, object=str(ref), at=Route((f"@{ref}", *item.at[1:]))
    )
