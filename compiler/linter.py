"""Lint: the checks of the compiler over manifests that others wrote, told at the line of their file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from compiler.catalog import Catalog, load_catalog
from compiler.clusters import by_cluster
from compiler.dataclass import dataclass
from compiler.diagnostics import Diagnostic, Severity
from compiler.diagnostics.diagnostic import error, warning
from compiler.driver import Options, Outcome
from compiler.lift import lift
from compiler.manifest import Manifest
from compiler.policy import Policies, load_policies
from compiler.policy.engine import run
from compiler.source import Document, MappingNode, Node, Route, SequenceNode, SourceFile, Span
from compiler.source.manifests import parse_manifests
from compiler.source.read import read, walk
from compiler.verify import verify
from compiler.verify.body import corrected
from compiler.verify.kinds import meant, strange

_SUFFIXES = (".yaml", ".yml", ".json")


@dataclass(frozen=True, slots=True)
class Found:
    """An object in a stranger's file: the manifest, and the node that it was read from."""

    manifest: Manifest
    node: Node


def lint(paths: Iterable[str | os.PathLike[str]], options: Options) -> Outcome:
    """Judge every Kubernetes and eksctl object in files and folders.

    What the set does not hold may exist elsewhere, so nothing is reported for being absent. Documents without
    ``apiVersion`` and ``kind`` are left alone, and so are specs and kustomize's patches, which are parts of objects.
    """
    done = Outcome()
    parts: set[str] = set()
    objects = [each for path in _files(paths, done.diagnostics) for each in _objects(path, done.diagnostics, parts)]
    done.diagnostics = _templates_once(done.diagnostics)
    if parts:
        objects = [each for each in objects if os.path.realpath(each.manifest.path) not in parts]
    policies, faults = load_policies(options.policies, today=options.today)
    done.diagnostics += faults
    catalog = load_catalog(options.catalog)
    done.diagnostics += catalog.faults
    clusters = by_cluster(objects, lambda each: each.manifest)
    found = _once(each for cluster in clusters for each in _judged(cluster, catalog, policies))
    if policies.config.exceptions:
        found, excused = policies.config.excuse(found)
        done.excused = len(excused)
    done.diagnostics += found
    if not objects and not any(each.severity is Severity.ERROR for each in done.diagnostics):
        done.diagnostics.append(error("LNT001", "no object with `apiVersion` and `kind` was found",
                                      help="name files or folders with Kubernetes or eksctl YAML; "
                                           "`trainyard check` judges specs"))
    return done


def _judged(objects: list[Found], catalog: Catalog, policies: Policies) -> list[Diagnostic]:
    manifests = [each.manifest for each in objects]
    told = [*_unread(manifests), *verify(manifests, closed=False)]
    misspelt = {each.at[0] for each in told if each.code in ("SCH001", "SCH002") and each.at}
    manifests = [Manifest(corrected(each.body), path=each.path) if each.id in misspelt else each for each in manifests]
    plan = lift(manifests, closed=False)
    # What the API refuses or drops is the fact about a place; what policies think of it comes when that is mended.
    places = [each.at for each in told if each.severity is Severity.ERROR and each.at]
    found = run(plan, catalog, policies.rules, policies.config, manifests)
    told += [each for each in found if not any(_about(each, place) for place in places)]
    ids = {each.manifest.id: each for each in reversed(objects)}
    ids |= {mended.id: each for mended, each in zip(manifests, objects, strict=True) if mended.id not in ids}
    return [_place(each, ids) for each in told]


def _once(told: Iterable[Diagnostic]) -> list[Diagnostic]:
    """One fault is told once, though it be in what clusters share or at both ends of an alias of YAML."""
    return list({(each.code, each.message, each.span or each.at): each for each in told}.values())


def _about(finding: Diagnostic, place: Route) -> bool:
    """Whether a finding is about a place, what is in it, or the field around it."""
    at = finding.at or Route()
    return at[: len(place)] == place or (len(at) > _FIELD and place[: len(at)] == at)


_FIELD = 2  # an object and `spec` are no field
_TRAINING = ("kubeflow.org", "ray.io", "batch.volcano.sh", "sagemaker.amazonaws.com")


def _unread(manifests: list[Manifest]) -> Iterator[Diagnostic]:
    """What must not pass for judged: training jobs of other operators, each kind once."""
    first = {each.ref.kind: each for each in reversed(manifests) if each.ref.group in _TRAINING}
    for kind, manifest in first.items():
        yield Diagnostic("LNT003", Severity.NOTE, f"no policy reads a `{kind}` of `{manifest.ref.group}`",
                         Route((manifest.id, "kind")), help="write a TrainJob to have it held against pools and queues")


def _files(paths: Iterable[str | os.PathLike[str]], found: list[Diagnostic]) -> Iterator[str]:
    """Each file that is given, or lies in a folder that is."""
    for path in (os.fspath(each) for each in paths):
        if not os.path.isdir(path):
            yield path
            continue
        yield from sorted(
            os.path.join(folder, name)
            for folder, folders, files in walk(path, found) if _visible(folders)
            for name in files if name.endswith(_SUFFIXES) and not name.startswith(".")
        )


def _visible(folders: list[str]) -> bool:
    """Leave hidden folders out of a walk."""
    folders[:] = sorted(name for name in folders if not name.startswith("."))
    return True


def _objects(path: str, found: list[Diagnostic], parts: set[str]) -> Iterator[Found]:
    """The objects of a file. A file without ``apiVersion`` or ``kind`` at the top is somebody else's: templates of
    CloudFormation, playbooks, workflows are not judged by the rules of Kubernetes files."""
    file, faults = read(path)
    found += faults
    if file is None:
        return
    kustomization = os.path.basename(path) in _KUSTOMIZATIONS
    if not (kustomization or _OBJECT.search(file.text)):
        return
    documents, faults = parse_manifests(file)
    if (template := _template(file, faults)) is not None:
        found.append(template)
        return
    found += faults
    for document in documents:
        if kustomization:
            parts.update(os.path.realpath(os.path.join(os.path.dirname(path), each))
                         for each in _patches(document.root.to_python()))
        else:
            yield from _unpacked(document.root, found)


# At the top of a YAML document, or in one of brackets and braces (JSON).
_KEY = r"""["']?\b(?:apiVersion|kind)["']?\s*:"""
_OBJECT = re.compile(rf"^(?:--- *)?(?:{_KEY}|[{{[][\s\S]*{_KEY})", re.MULTILINE)


def _template(file: SourceFile, faults: Iterable[Diagnostic]) -> Diagnostic | None:
    """The one thing to tell of a template of Helm, Jinja or the like, which is no YAML before it is rendered."""
    lines = file.text.split("\n")
    places = [each.span.line for each in faults if each.span is not None]
    places += [number for number, line in enumerate(lines, 1) if line.lstrip().startswith("{{")] if places else []
    for place in sorted(places):
        if (column := lines[place - 1].find("{{") + 1):
            return warning("LNT002", "a template, whose objects are not known before it is rendered",
                           span=Span(file, place, column, place, column + 2),
                           help="lint what it renders: `helm template … > rendered.yaml`")
    return None


def _templates_once(found: list[Diagnostic]) -> list[Diagnostic]:
    """One telling for all the templates of a folder."""
    folders: dict[str, list[Diagnostic]] = {}
    for each in found:
        if each.code == "LNT002" and each.span is not None:
            folders.setdefault(os.path.dirname(each.span.file.name), []).append(each)
    more = {id(first): len(rest) for first, *rest in folders.values()}
    return [replace(each, notes=(f"{more[id(each)]} more files of this folder are",)) if more.get(id(each)) else each
            for each in found if each.code != "LNT002" or id(each) in more]


_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")


def _patches(kustomization: Any) -> Iterator[str]:
    """The files that a kustomization.yaml names as patches (kustomize v5: ``patches``, ``patchesStrategicMerge``)."""
    body = kustomization if isinstance(kustomization, dict) else {}
    for field in ("patches", "patchesStrategicMerge"):
        for each in body.get(field) or ():
            path = each.get("path") if isinstance(each, dict) else each
            if isinstance(path, str) and "\n" not in path:
                yield path


def _unpacked(node: Node, told: list[Diagnostic]) -> Iterator[Found]:
    """The object in a node, or each item of a ``List``."""
    if not isinstance(node, MappingNode):
        return
    body = node.to_python()
    items = node.items.get("items")
    if isinstance(body.get("kind"), str) and body["kind"].endswith("List") and isinstance(items, SequenceNode):
        for item in items.items:
            yield from _unpacked(item, told)
        return
    if not _is_object(body):
        return
    if (right := meant(body.get("apiVersion", ""), body["kind"])) is not None:
        fault = strange(body.get("apiVersion", ""), body["kind"], right)
        span = Document(node).span(Route(fault.path))
        told.append(error(fault.code, fault.message, span=span, help=fault.help))
        body |= {"apiVersion": right[0], "kind": right[1]}  # judge it as what it is meant to be
    if "apiVersion" in body:
        yield Found(Manifest(body, path=node.span.file.name), node)


def _is_object(body: dict[str, Any]) -> bool:
    """Whether a mapping is an object: no spec of ours, which `check` judges, no patch, no values of a chart."""
    api_version = body.get("apiVersion", "" if isinstance(body.get("metadata"), dict) else None)
    return (isinstance(body.get("kind"), str) and isinstance(api_version, str) and "$patch" not in body
            and not api_version.startswith("trainyard.dev/"))


def _place(item: Diagnostic, by_id: dict[str, Found]) -> Diagnostic:
    if item.span is not None or not item.at or (found := by_id.get(str(item.at[0]))) is None:
        return item
    span = Document(found.node).span(Route(item.at[1:]), key=item.key)
    return replace(item, span=span, object=str(found.manifest.ref))
