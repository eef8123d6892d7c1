"""Validates a document against the language: its spec, or every error of its shape."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from pydantic import BaseModel, Field, ValidationError, create_model

from trainyard.core.jobs.spec import Job
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error, listed
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.models.base import SpecModel
from trainyard.language.models.cluster import TrainingCluster
from trainyard.language.models.errors import explain_all
from trainyard.language.models.models import keys_of
from trainyard.language.models.unknown import OTHERS, Instead, meant_paths, section_of
from trainyard.language.places import Document, Route
from trainyard.language.places.tree import MappingNode, Node, SequenceNode
from trainyard.language.source.inherit import DEFAULTS, NEVER_INHERITED
from trainyard.plan.features import Platform, extensions, parts
from trainyard.plan.shipped import KEYS, lacking
from trainyard.run.language.whole import elsewhere, language
from trainyard.run.platforms import EKS, PLATFORMS

__all__ = ["load", "platform_of"]

_SPEC = Route(("spec",))


def platform_of(document: Document) -> Platform:
    """The platform that a spec names by its key in ``spec.platform``; EKS where it names none that is known. Of two of
    which one stands on the other it is the upper one."""
    node, depth = document.node(_SPEC / "platform")
    exists = depth == len(_SPEC) + 1
    if not exists or not isinstance(node, MappingNode):
        return EKS
    named = [PLATFORMS[name] for name in node.items if name in PLATFORMS]
    below = {platform.stands_on for platform in named}
    for platform in named:
        if platform.name not in below:
            return _by_key(platform, node.items[platform.name])
    return EKS


def _by_key(platform: Platform, own: Node) -> Platform:
    """What a platform is by the keys of its own."""
    for key, instead in platform.by_key.items():
        if isinstance(own, MappingNode) and key in own.items:
            return instead
    return platform


def load(
    document: Document, platform: Platform = EKS
) -> tuple[TrainingCluster | None, list[Diagnostic]]:
    """The spec in a document, or everything that is wrong with its shape."""
    data = document.root.to_python()
    model = language(platform)
    left_out = _left_out(document, platform)
    faults = _of_defaults(document, platform) + left_out
    try:
        spec = model.model_validate(data)
    except ValidationError as problem:
        of_spec = explain_all(
            problem.errors(include_url=False), model, document, _instead(platform)
        )
        said = {fault.at for fault in left_out}
        others = (fault for fault in of_spec if fault.code != "SPC002" or fault.at not in said)
        faults += [_with_platforms(_of_platform(fault, platform)) for fault in others]
    else:
        if not faults:
            return spec, []
    return None, _without_repeats(faults, document)


def _of_platform(fault: Diagnostic, platform: Platform) -> Diagnostic:
    """A key that only other platforms have is not unknown: it says what to write instead."""
    if fault.code != "SPC002" or not fault.at:
        return fault
    key = fault.at[-1]
    if fault.at == _SPEC / key and _is_absent(str(key)):
        return _of_absent(fault, str(key))
    if fault.at != _SPEC / key or key not in _all_keys():
        return _of_meant(fault, fault.at, platform)
    otherwise = elsewhere().get(
        str(key), "remove it: `trainyard explain --platforms` says which keys each platform takes"
    )
    help = platform.instead.get(str(key), otherwise)
    return replace(
        fault, code="SPC006", message=f"`{key}` is no part of platform `{platform.name}`", help=help
    )


def _is_absent(path: str) -> bool:
    """Whether a key, by its path below ``spec``, is one of an extension that is not there."""
    return path in KEYS and KEYS[path] not in extensions()


def _of_absent(fault: Diagnostic, path: str) -> Diagnostic:
    extension = KEYS[path]
    key = path.rpartition(".")[2]
    message = f"`{key}` is a key of the extension `{extension}`, which is not there"
    return replace(fault, message=message, help=lacking(extension))


def _of_meant(fault: Diagnostic, at: Route, platform: Platform) -> Diagnostic:
    """A word from elsewhere for a key that the platform does not take: what to write instead of that key."""
    for path in meant_paths(at, language(platform)):
        first, _, rest = path.partition(".")
        named = rest.split(".")[0]
        if first == "platform" and named not in (platform.name, platform.stands_on):
            return replace(fault, help=f"remove it: platform `{platform.name}` has no such key")
        instead = _instead(platform)(path)
        if instead is not None:
            return replace(fault, help=instead)
    key = str(at[-1])
    is_misplaced = section_of(at.parent) in OTHERS and at.parent != _SPEC
    if is_misplaced and key in _all_keys() - _keys(platform.features):
        return replace(fault, help=platform.instead.get(key) or elsewhere().get(key, "remove it"))
    return fault


def _with_platforms(fault: Diagnostic) -> Diagnostic:
    """A fault of what names the platform, which is read as EKS' where it names none, with all that there are."""
    at = _SPEC / "platform"
    if fault.code == "SPC003" and fault.at == at:
        written = listed([f"{{{name}: {{}}}}" for name in PLATFORMS])
        return replace(fault, help=f"write one of {written}")
    if fault.code == "SPC002" and fault.at and fault.at.parent == at:
        if str(fault.at[-1]) in PLATFORMS:
            return replace(
                fault,
                message=f"`{fault.at[-1]}` is a second platform, and a cluster has one",
                help="keep one of them; each cluster is a spec of its own",
            )
        path = f"platform.{fault.at[-1]}"
        if _is_absent(path):
            return _of_absent(fault, path)
        question = name_meant(str(fault.at[-1]), PLATFORMS)
        return replace(fault, help=question or f"`platform` has: {listed(PLATFORMS)}")
    return fault


def _left_out(document: Document, platform: Platform) -> list[Diagnostic]:
    """Keys of the language below lists and mappings that a platform has no use for: nothing is dropped in silence."""
    faults: list[Diagnostic] = []
    for keys, help in platform.instead.items():
        *above, key = keys.split(".")
        for at in _places(document.root.child("spec"), _SPEC, keys.split(".")):
            if above:
                what = f"`{key}` of `{above[-1]}`"
            elif key in _keys(platform.features):
                what = f"`{key}`"
            else:
                continue  # the platform's model does not have it
            fact = f"{what} is no part of platform `{platform.name}`"
            faults.append(error("SPC006", fact, at, help=help, key=True))
    return faults


def _places(node: Node | None, at: Route, keys: Sequence[str]) -> Iterator[Route]:
    """Where a path of keys leads to, through each item of lists."""
    if isinstance(node, SequenceNode):
        for index, item in enumerate(node.items):
            yield from _places(item, at / index, keys)
    elif isinstance(node, MappingNode) and keys and keys[0] in node.items:
        here = at / keys[0]
        if len(keys) == 1:
            yield here
        else:
            yield from _places(node.child(keys[0]), here, keys[1:])


def _all_keys() -> set[str]:
    """The keys of ``spec`` that any platform's subjects add."""
    return _keys(None)


def _keys(subjects: tuple[str, ...] | None) -> set[str]:
    keys: set[str] = set()
    for module in parts("spec", subjects):
        keys.update(keys_of(module.SECTION))
    return keys


def _instead(platform: Platform) -> Instead:
    """What to write for a key that a platform does not take; what jobs inherit are keys of jobs."""

    def instead(path: str) -> str | None:
        plain = path.replace("[]", "")
        first, dot, rest = plain.partition(".")
        return platform.instead_of(f"jobs.{rest}" if first == DEFAULTS and dot else plain)

    return instead


def _of_defaults(document: Document, platform: Platform) -> list[Diagnostic]:
    """What is wrong with ``jobDefaults``, which no job need have."""
    spec = document.root.child("spec")
    if spec is not None:
        given = spec.child(DEFAULTS)
    else:
        given = None
    if spec is None or not isinstance(given, MappingNode):
        return []  # another type is a fault of the spec itself
    model = _with_defaults()
    try:
        model.model_validate({"spec": {DEFAULTS: given.to_python()}})
    except ValidationError as problem:
        # What a mapping inside lacks the job may have: it is missing there, if anywhere.
        errors = [
            error for error in problem.errors(include_url=False) if error["type"] != "missing"
        ]
        found = explain_all(errors, model, document, _instead(platform))
        return [_of_platform(fault, platform) for fault in found]
    return []


@cache
def _with_defaults() -> type[BaseModel]:
    """A document with ``jobDefaults``: every key that a job can inherit, and none of them required."""
    fields: dict[str, Any] = {}
    for name, field in Job.model_fields.items():
        if name not in NEVER_INHERITED:
            fields[name] = (field.rebuild_annotation(), Field(None, examples=field.examples))
    defaults: Any = create_model("JobDefaults", __base__=SpecModel, **fields)
    inside: Any = create_model("WithDefaults", __base__=SpecModel, job_defaults=(defaults, ...))
    return create_model("OfDefaults", __base__=SpecModel, spec=(inside, ...))


def _without_repeats(faults: Iterable[Diagnostic], document: Document) -> list[Diagnostic]:
    """A value that several jobs inherit is reported once, where it is written."""
    unique: dict[object, Diagnostic] = {}
    for fault in faults:
        at = fault.at or Route()
        span = document.span(at, key=fault.key)
        unique.setdefault((fault.code, fault.message, str(span)), fault)
    return list(unique.values())
