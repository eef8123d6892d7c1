"""Reads paths into objects: which files are read, and which of their documents are objects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from trainyard.disk.inputs import is_file, is_folder, is_link
from trainyard.extensions.lint.inputs import LintArtifact, LintObject, Reading, Text
from trainyard.extensions.lint.kindless import no_object
from trainyard.extensions.lint.plain import PlainReader
from trainyard.extensions.lint.templates import filled_in, prompt, template, variables_filled_in
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error, warning
from trainyard.language.places import Document, Node, Route, SourceFile
from trainyard.language.places.tree import ScalarNode, SequenceNode, Span
from trainyard.language.source.manifests import parse_manifests
from trainyard.language.source.read import STDIN, read, read_stdin, walk
from trainyard.output import Artifact
from trainyard.output.artifact import kind_of_format
from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Manifest, ref_of
from trainyard.verify.formats import format_of, hinted, named, recognised
from trainyard.verify.kinds import kind_meant, unknown_kind

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""Source: kustomize v5, konfig.go."""
_SUFFIXES = (".yaml", ".yml", ".json")
_SCRIPTS = (".sh", ".bash", ".sbatch", ".slurm")
"""Scripts of a shell, which are no YAML, whatever they hold in here-documents."""
# What else may make objects of a cluster: programs and templates, by the end of the name.
_OTHERS = (
    ".tf",
    ".py",
    ".jsonnet",
    ".libsonnet",
    ".cue",
    ".tpl",
    ".gotmpl",
    ".j2",
    ".jinja",
    ".jinja2",
    ".yaml.in",
    ".yml.in",
    ".yaml.tmpl",
    ".yaml.template",
)


def read_all(paths: Iterable[str | os.PathLike[str]]) -> Reading:
    """The objects of files and folders, and what was passed over."""
    reading, reader = Reading(), PlainReader()
    for path in _files(paths, reading):
        _read_file(path, reader, reading)
    served = _served(body for body, _, _ in reading.found)
    for body, text, where in reading.found:
        _add_object(body, text, where, reading, served)
    reading.found.clear()
    return reading


def _served(bodies: Iterable[dict[str, Any]]) -> set[tuple[str, str]]:
    """API version and kind of what the CRDs of a set define: with these nobody is mistaken in them."""
    served: set[tuple[str, str]] = set()
    for body in bodies:
        if body.get("kind") != "CustomResourceDefinition":
            continue
        group, kind = value_at(body, "spec", "group"), value_at(body, "spec", "names", "kind")
        for version in mappings_at(body, "spec", "versions"):
            served.add((f"{group}/{version.get('name')}", str(kind)))
    return served


def _files(paths: Iterable[str | os.PathLike[str]], reading: Reading) -> Iterator[str]:
    """Each file that is given, or lies in a folder that is."""
    given = [os.fspath(path) for path in paths]
    for path in dict.fromkeys(given):
        if path != STDIN and is_folder(path):
            yield from sorted(_files_below(path, reading))
        else:
            yield path


def _files_below(folder: str, reading: Reading) -> Iterator[str]:
    """The files of a folder that may hold objects; hidden ones, and those of hidden folders, are left out."""
    for parent, folders, names in walk(folder, reading.diagnostics):
        shown = [name for name in folders if not name.startswith(".")]
        folders[:] = sorted(shown)
        for name in names:
            if name.startswith("."):
                continue
            other_format = _other_format(name)
            if other_format and not named(name):
                reading.formats[other_format] += 1
            elif _may_hold_objects(name):
                path = os.path.join(parent, name)
                if is_file(Path(path)) or not is_link(Path(path)):
                    yield path
                    continue
                reading.diagnostics.append(_leads_nowhere(path))


def _leads_nowhere(path: str) -> Diagnostic:
    """A link in a folder that is to no file. Those who apply the folder stop at it or pass over it; the others of its
    files are what they are."""
    return warning(
        "YML020", f"`{path}` is a link to what is not there", help="correct the link, or remove it"
    )


def _may_hold_objects(name: str) -> bool:
    if name in KUSTOMIZATIONS or name.lower().endswith(_SUFFIXES):
        return True
    return bool(named(name))


def _other_format(name: str) -> str:
    """The end of a name that says another format; the longest."""
    name = name.lower()
    if not name.endswith(_OTHERS):
        return ""
    ends = [end for end in _OTHERS if name.endswith(end)]
    return max(ends, key=len)


def _read_file(path: str, reader: PlainReader, reading: Reading) -> None:
    """What a file holds. One that no format recognises is somebody else's: playbooks and workflows are not judged by
    the rules of Kubernetes' files."""
    if path == STDIN:
        file, faults = read_stdin()
    else:
        file, faults = read(path)
    reading.diagnostics += faults
    if file is None:
        return
    file_name = os.path.basename(path)
    for name in named(file_name):
        if format_of(name).recognised(file.text):
            _read_named(name, file, reading)
            return
        if _other_format(file_name):
            reading.formats[_other_format(file_name)] += 1
            return
    if file_name.lower().endswith(_SCRIPTS):
        reading.others += 1
        return
    formats = hinted(file.text)
    alone = [name for name in formats if _stands_alone(name)]
    for name in alone:
        if _read_alone(name, file, reader, reading):
            return
    is_kustomization = file_name in KUSTOMIZATIONS
    if len(alone) == len(formats) and not is_kustomization:
        reading.others += 1
        return
    _read_objects(file, reader, reading, is_kustomization=is_kustomization)


def _read_objects(
    file: SourceFile, reader: PlainReader, reading: Reading, *, is_kustomization: bool
) -> None:
    """The objects of a file, or the body of a kustomization."""
    path = file.name
    text = Text(file)
    bodies, faults = _parse(text, reader)
    if _is_lost(faults) and _is_other_json(file.text):
        reading.kindless += 1
        return
    if faults:
        bodies, faults, problem = _parse_otherwise(text, bodies, faults, reading)
        if problem is not None:
            reading.templates += 1
            reading.diagnostics.append(problem)
            return
    reading.diagnostics += faults
    if _is_lost(faults):
        reading.broken.append(path)
    reading.files.add(path)
    for number, body in enumerate(bodies):
        if is_kustomization:
            if isinstance(body, dict):
                known = body
            else:
                known = {}
            reading.kustomizations[path] = known
        else:
            _unpack(body, text, Route((number,)), reading)


def _read_named(name: str, file: SourceFile, reading: Reading) -> None:
    """A text that is no YAML: one that its format parses, or lines."""
    parsed = getattr(format_of(name), "parsed", None)
    if parsed is None:
        _read_text(name, file, reading)
        return
    reading.files.add(file.name)
    document, faults = parsed(file)
    reading.diagnostics += faults
    if document is None:
        reading.broken.append(file.name)
        return
    artifact = Artifact(document.root.to_python(), file.name, format=name, text=file.text)
    reading.alone.append(LintArtifact(artifact, Text(file, [document]), Route((0,))))


def _read_text(name: str, file: SourceFile, reading: Reading) -> None:
    """A text that is no YAML, whose document is its lines: a Dockerfile, a script."""
    lines: list[Node] = []
    texts = file.text.split("\n")
    for number, line in enumerate(texts, 1):
        end = len(line) + 1
        span = Span(file, number, 1, number, end)
        lines.append(ScalarNode(span, line, line))
    whole = Span(file, 1, 1, 1, 1)
    document = Document(SequenceNode(whole, lines))
    text = Text(file, [document])
    artifact = Artifact(path=file.name, format=name, text=file.text)
    reading.files.add(file.name)
    where = Route((0,))
    reading.alone.append(LintArtifact(artifact, text, where))


def _parse(text: Text, reader: PlainReader) -> tuple[list[Any], list[Diagnostic]]:
    """The bodies of a text, and what is wrong with it."""
    bodies = reader.values(text.file.text)
    if bodies is not None:
        return bodies, []
    documents, faults = parse_manifests(text.file, text.tags)
    text.documents = documents
    bodies = [document.root.to_python() for document in documents]
    return bodies, faults


def _parse_otherwise(
    text: Text, bodies: list[Any], faults: list[Diagnostic], reading: Reading
) -> tuple[list[Any], list[Diagnostic], Diagnostic | None]:
    """The bodies of a text with faults as it may be meant, what is wrong with it then, and the one thing to report of
    a template: pasted from a shell, a template of values alone, or with variables for whole lines."""
    file = text.file
    pasted = prompt(file)
    if pasted is not None:
        bodies, faults = _parse_shown(text, f"#{file.text[1:]}")
        faults = [pasted, *faults]
    problem = _template(file, faults)
    if problem is not None:
        bodies, faults = _parse_filled_in(text, faults)
        problem = _template(file, faults)
    if problem is not None or (_is_lost(faults) and pasted is None):
        filled = _parse_with_variables(text, reading)
        if filled is not None:
            bodies, faults = filled
            problem = None
    return bodies, faults, problem


def _template(file: SourceFile, faults: list[Diagnostic]) -> Diagnostic | None:
    """What is reported of a template of Helm, Jinja or Terraform; nothing of another text."""
    return (
        template(file, faults)
        or template(file, faults, "{%", _RENDER)
        or template(file, faults, "%{", _RENDER)
    )


def _parse_filled_in(text: Text, faults: list[Diagnostic]) -> tuple[list[Any], list[Diagnostic]]:
    """The bodies of a template of values alone, with names in their places, and what is wrong with it; the ``faults``
    of another template."""
    file = text.file
    filled = filled_in(file.text)
    if filled is None:
        return [], faults
    return _parse_shown(text, filled)


def _parse_with_variables(
    text: Text, reading: Reading
) -> tuple[list[Any], list[Diagnostic]] | None:
    """The bodies of a text that is YAML when its variables have values, and what is wrong with it; nothing where that
    makes no YAML of it, and where there is no variable."""
    as_it_is = text.documents
    for filled, left_out in variables_filled_in(text.file.text):
        bodies, faults = _parse_shown(text, filled)
        if not _is_lost(faults) and template(text.file, faults) is None:
            reading.left_out.update(left_out)
            return bodies, faults
    text.documents = as_it_is
    return None


def _parse_shown(text: Text, instead: str) -> tuple[list[Any], list[Diagnostic]]:
    """The bodies of another text with the same lines, which is shown as it is written."""
    file = text.file
    shown = file.swap(instead)
    text.documents, faults = parse_manifests(file, text.tags)
    file.swap(shown)
    bodies = [document.root.to_python() for document in text.documents]
    return bodies, faults


def _is_other_json(text: str) -> bool:
    """Whether a text that is no YAML is JSON without an object in it: keys of YAML have fewer characters (YAML 1.2.2,
    7.4.2), and a pair of surrogates is two of its characters."""
    if not text.startswith(("{", "[")):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return not isinstance(value, dict) or "kind" not in value


def _is_json_of_others(text: str) -> bool:
    """The same of several values, as programs log them, one on each line."""
    first, _, rest = text.partition("\n")
    return _is_other_json(text) or (bool(rest) and _is_other_json(first))


def _is_lost(faults: Iterable[Diagnostic]) -> bool:
    """Whether a document ends before its end."""
    return any(fault.code in _LOST for fault in faults)


_LOST = ("YML002", "YML023")  # what ends a document before its end
_RENDER = "lint what it renders"
_RAIN, _PACKAGE = "!Rain::", "lint what it renders: `rain pkg FILE`"
_NUMBERS = (
    "YML012"  # keys that are numbers; of mappings by account, formats but Kubernetes' have them
)


def _stands_alone(name: str) -> bool:
    """Whether documents of a format are judged one by one, unlike objects, which are judged as a set."""
    return bool(kind_of_format(name))


def _read_alone(name: str, file: SourceFile, reader: PlainReader, reading: Reading) -> bool:
    """Read a file of a format whose documents are judged one by one; returns whether it is one."""
    form = format_of(name)
    text = Text(file, tags=form.TAGS)
    bodies, faults = _parse(text, reader)
    is_unreadable = bool(faults) and not bodies and not _is_json_of_others(file.text)
    if not is_unreadable and not any(map(form.recognised, bodies)):
        return False
    problem = _template(file, faults)
    problem = problem or template(file, faults, _RAIN, _PACKAGE)
    if problem is not None:
        reading.templates += 1
        reading.diagnostics.append(problem)
        return True
    for fault in faults:
        if fault.code != _NUMBERS:
            reading.diagnostics.append(fault)
    if _is_lost(faults):
        reading.broken.append(file.name)
    reading.files.add(file.name)
    for number, body in enumerate(bodies):
        where = Route((number,))
        if form.recognised(body):
            key = str(number) if number else ""
            artifact = Artifact(body, file.name, format=name, text=file.text, key=key)
            reading.alone.append(LintArtifact(artifact, text, where))
        else:
            _unpack(body, text, where, reading)
    return True


_OURS = "trainyard.dev/"


def _unpack(body: Any, text: Text, where: Route, reading: Reading) -> None:
    """The object in a value, or each item of a ``List``."""
    problem = no_object(body)
    if problem is not None:
        node = text.node(where)
        reading.diagnostics.append(problem.at(node))
        return
    if not isinstance(body, dict):
        return
    kind = body.get("kind")
    items = body.get("items")
    is_list = isinstance(kind, str) and kind.endswith("List")
    if is_list and isinstance(items, list):
        for number, item in enumerate(items):
            inside = where / ("items", number)
            _unpack(item, text, inside, reading)
    elif "$patch" in body:
        reading.patches += 1
        if body["$patch"] == "delete":
            reading.deleted.add(str(ref_of(body)))
    elif _is_observed(body):
        reading.observed += 1
    elif _is_object(body):
        reading.found.append((body, text, where))
    elif str(body.get("apiVersion")).startswith(_OURS):
        reading.specs += 1
    else:
        reading.kindless += 1


def _is_observed(body: dict[str, Any]) -> bool:
    """Whether a document says what is there, as tests do, and not what is to be: nobody applies it."""
    return "status" in body and "spec" not in body


def _add_object(
    body: dict[str, Any],
    text: Text,
    where: Route,
    reading: Reading,
    served: AbstractSet[tuple[str, str]],
) -> None:
    """An object as it is meant to be."""
    api_version = body.get("apiVersion") or ""
    kind = body["kind"]
    right = None
    if (api_version, kind) not in served:
        right = kind_meant(api_version, kind)
    if right is not None:
        fault = unknown_kind(api_version, kind, right)
        document = Document(text.node(where))
        span = document.span(Route(fault.path))
        reading.diagnostics.append(error(fault.code, fault.message, at=span, help=fault.help))
        body["apiVersion"], body["kind"] = right
    path = text.file.name
    key = f"{path}:{len(reading.objects)}"
    form = recognised(body) or "kubernetes"
    manifest = Manifest(body, path=path, key=key, format=form)
    reading.objects.append(LintObject(manifest, text, where))


def _is_kubeconfig(body: dict[str, Any]) -> bool:
    if (body.get("apiVersion"), body.get("kind")) != ("v1", "Config"):
        return False
    return not body.keys().isdisjoint(("clusters", "contexts", "users"))


def _is_object(body: dict[str, Any]) -> bool:
    """Whether a mapping is an object: no spec of ours, which `check` judges, no patch, no values of a chart, and no
    kubeconfig (client-go, tools/clientcmd/api/v1), which stays with people."""
    if "$patch" in body or _is_kubeconfig(body):
        return False
    if not isinstance(body.get("kind"), str):
        return False
    api_version = body.get("apiVersion")
    if api_version is None:
        return isinstance(body.get("metadata"), dict)
    if not isinstance(api_version, str):
        return False
    return not api_version.startswith(_OURS)
