"""From paths to objects: which files are read, and what of them is an object."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

from compiler.diagnostics import Diagnostic, Severity
from compiler.diagnostics.diagnostic import error
from compiler.lint.found import Found, Reading, Source, Text
from compiler.lint.kindless import no_object
from compiler.lint.templates import template
from compiler.manifest import Manifest
from compiler.output import Artifact
from compiler.output.formats import format_of, hinted, recognised
from compiler.source import Document, Node, Route, SourceFile
from compiler.source.manifests import parse_manifests
from compiler.source.plain import PlainReader
from compiler.source.read import STDIN, read, read_stdin, walk
from compiler.verify.kinds import meant, unknown_kind

KUSTOMIZATIONS = (
    "kustomization.yaml",
    "kustomization.yml",
    "Kustomization",
)  # kustomize v5, konfig.go
_SUFFIXES = (".yaml", ".yml", ".json")
# What else may make objects of a cluster: programs and templates, by the end of the name.
_OTHERS = (
    ".tf",
    ".tf.json",
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
    done, reader = Reading(), PlainReader()
    for path in _files(paths, done):
        _read_one(path, reader, done)
    return done


def _files(paths: Iterable[str | os.PathLike[str]], done: Reading) -> Iterator[str]:
    """Each file that is given, or lies in a folder that is."""
    for path in dict.fromkeys(os.fspath(each) for each in paths):
        if path == STDIN or not os.path.isdir(path):
            yield path
            continue
        names = [
            (folder, name)
            for folder, folders, files in walk(path, done.diagnostics)
            if _visible(folders)
            for name in files
            if not name.startswith(".")
        ]
        done.formats.update(end for _, name in names if (end := _other(name)))
        yield from sorted(
            os.path.join(folder, name)
            for folder, name in names
            if (name.lower().endswith(_SUFFIXES) and not _other(name))
            or name in KUSTOMIZATIONS
        )


def _other(name: str) -> str:
    """The end of a name that says another format; the longest."""
    name = name.lower()
    if not name.endswith(_OTHERS):
        return ""
    return max((end for end in _OTHERS if name.endswith(end)), key=len)


def _visible(folders: list[str]) -> bool:
    """Leave hidden folders out of a walk."""
    folders[:] = sorted(name for name in folders if not name.startswith("."))
    return True


def _read_one(path: str, reader: PlainReader, done: Reading) -> None:
    """What a file holds. One that no format knows by a look is somebody else's: playbooks and workflows are not
    judged by the rules of Kubernetes' files."""
    file, faults = read_stdin() if path == STDIN else read(path)
    done.diagnostics += faults
    if file is None:
        return
    kustomization = os.path.basename(path) in KUSTOMIZATIONS
    names = hinted(file.text)
    if any(_read_alone(name, file, reader, done) for name in names if _stands(name)):
        return
    if not kustomization and all(_stands(name) for name in names):
        done.others += 1
        return
    text = Text(file)
    bodies = reader.values(file.text)
    if bodies is None:
        text.documents, faults = parse_manifests(file)
        bodies = [document.root.to_python() for document in text.documents]
        if (found := template(file, faults)) is not None:
            done.templates += 1
            done.diagnostics.append(found)
            return
        done.diagnostics += faults
        if any(
            each.severity is Severity.ERROR and each.code in _LOST for each in faults
        ):
            done.broken.append(path)
    done.files.add(path)
    for number, body in enumerate(bodies):
        if kustomization:
            done.kustomizations[path] = body if isinstance(body, dict) else {}
        else:
            _unpack(body, text, Route((number,)), done)


_LOST = ("YML002", "YML023")  # what ends a document before its end
_RAIN, _PACKAGE = "!Rain::", "lint what it renders: `rain pkg FILE`"
_NUMBERS = "YML012"  # keys that are numbers; of mappings by account, formats but Kubernetes' have them


def _stands(name: str) -> bool:
    """Whether documents of a format stand by themselves: they are no objects, of which several make a set."""
    return bool(format_of(name).KIND)


def _read_alone(
    name: str, file: SourceFile, reader: PlainReader, done: Reading
) -> bool:
    """Read a file of a format whose documents stand by themselves; whether it is one."""
    form = format_of(name)
    text = Text(file, tags=form.TAGS)
    bodies, faults = reader.values(file.text), list[Diagnostic]()
    if bodies is None:
        text.documents, faults = parse_manifests(file, form.TAGS)
        bodies = [document.root.to_python() for document in text.documents]
    if not any(form.recognised(body) for body in bodies):
        return False
    found = template(file, faults) or template(file, faults, _RAIN, _PACKAGE)
    if found is not None:
        done.templates += 1
        done.diagnostics.append(found)
        return True
    done.diagnostics += [each for each in faults if each.code != _NUMBERS]
    if any(each.code in _LOST for each in faults):
        done.broken.append(file.name)
    done.files.add(file.name)
    for number, body in enumerate(bodies):
        if form.recognised(body):
            artifact = Artifact(
                body,
                file.name,
                format=name,
                text=file.text,
                key=str(number) if number else "",
            )
            done.alone.append(Source(artifact, text, Route((number,))))
        else:
            _unpack(body, text, Route((number,)), done)
    return True


_OURS = "trainyard.dev/"


def _unpack(body: Any, text: Text, where: Route, done: Reading) -> None:
    """The object in a value, or each item of a ``List``."""
    if (fault := no_object(body)) is not None:
        done.diagnostics.append(fault.at(text.node(where)))
        return
    if not isinstance(body, dict):
        return
    items = body.get("items")
    if (
        isinstance(body.get("kind"), str)
        and body["kind"].endswith("List")
        and isinstance(items, list)
    ):
        for number, item in enumerate(items):
            _unpack(item, text, where / ("items", number), done)
        return
    if not _is_object(body):
        ours = str(body.get("apiVersion")).startswith(_OURS)
        done.specs += ours
        done.kindless += not ours
        return
    if (right := meant(body.get("apiVersion", ""), body["kind"])) is not None:
        done.diagnostics.append(_strange(text.node(where), body, right))
        body |= {
            "apiVersion": right[0],
            "kind": right[1],
        }  # judge it as what it is meant to be
    if "apiVersion" in body:
        path = text.file.name
        done.objects.append(
            Found(
                Manifest(
                    body,
                    path=path,
                    key=f"{path}:{len(done.objects)}",
                    format=recognised(body) or "kubernetes",
                ),
                text,
                where,
            )
        )


def _strange(node: Node, body: dict[str, Any], right: tuple[str, str]) -> Diagnostic:
    fault = unknown_kind(body.get("apiVersion", ""), body["kind"], right)
    span = Document(node).span(Route(fault.path))
    return error(fault.code, fault.message, span=span, help=fault.help)


def _is_object(body: dict[str, Any]) -> bool:
    """Whether a mapping is an object: no spec of ours, which `check` judges, no patch, no values of a chart."""
    api_version = body.get(
        "apiVersion", "" if isinstance(body.get("metadata"), dict) else None
    )
    return (
        isinstance(body.get("kind"), str)
        and isinstance(api_version, str)
        and "$patch" not in body
        and not api_version.startswith(_OURS)
    )
