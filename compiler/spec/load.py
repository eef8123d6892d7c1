"""From a document to its spec, or to everything that is wrong with its shape."""

from __future__ import annotations

from dataclasses import replace

from pydantic import ValidationError

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.diagnostic import listed
from compiler.platforms import EKS, PLATFORMS, Platform
from compiler.source import Document, Route
from compiler.source.tree import MappingNode
from compiler.spec.cluster import TrainingCluster, language
from compiler.spec.errors import explain_all, keys_of
from compiler.subjects import parts

__all__ = ["load", "platform_of"]

_SPEC = Route(("spec",))


def platform_of(document: Document) -> Platform:
    """The platform that a spec names by its key in ``spec.platform``; EKS where it names none that is known."""
    node, depth = document.node(_SPEC / "platform")
    names = (
        node.items if depth == len(_SPEC) + 1 and isinstance(node, MappingNode) else {}
    )
    known = [PLATFORMS[name] for name in names if name in PLATFORMS]
    return known[0] if known else EKS


def load(
    document: Document, platform: Platform = EKS
) -> tuple[TrainingCluster | None, list[Diagnostic]]:
    """The spec in a document, or everything that is wrong with its shape."""
    data = document.root.to_python()
    model = language(platform)
    try:
        return model.model_validate(data), []
    except ValidationError as problem:
        faults = explain_all(problem.errors(include_url=False), model, document)
        return None, [_of_platform(fault, platform) for fault in faults]


def _of_platform(fault: Diagnostic, platform: Platform) -> Diagnostic:
    """A key that only other platforms have is not unknown: it says what to write instead."""
    key = fault.at[-1] if fault.at else ""
    if fault.code != "SPC002" or fault.at != _SPEC / key or key not in _all_keys():
        return fault
    mine = _keys(platform.subjects)
    return replace(
        fault,
        code="SPC006",
        message=f"`{key}` is no part of platform `{platform.name}`",
        help=platform.instead.get(
            str(key), f"remove it; the platform has {listed(sorted(mine))}"
        ),
    )


def _all_keys() -> set[str]:
    """The keys of ``spec`` that any platform's subjects add."""
    return _keys(None)


def _keys(subjects: tuple[str, ...] | None) -> set[str]:
    sections = [module.SECTION for module in parts("spec", subjects)]
    return {key for section in sections for key in keys_of(section)}
