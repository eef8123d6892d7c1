"""Bases: ``extends:`` resolved, with cycles and missing bases told."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from compiler.diagnostics.diagnostic import Diagnostic, error
from compiler.source.headers import BASE, CLUSTER, Header
from compiler.source.merge import merge
from compiler.source.tree import MappingNode, Node, ScalarNode, SequenceNode, SourceFile

MAX_BASES = 32
"""Most bases, direct and indirect, of one cluster."""

Load = Callable[[str], tuple[list[Header], list[Diagnostic]]]
"""Gives the headers of a file (path as shown) and what is wrong with it, each fault only the first time."""


class Extender:
    """Merges one cluster over its bases; ``files`` are all files that took part, in order of reading."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self.files: list[SourceFile] = []
        self.found: list[Diagnostic] = []
        self._count = 0

    def flatten(self, header: Header, chain: tuple[str, ...] = ()) -> MappingNode:
        """The document's root with ``spec`` merged over those of its bases, and without ``extends``."""
        if header.file not in self.files:
            self.files.append(header.file)
        extends = header.root.child("extends")
        if extends is None:
            return header.root
        path = os.path.normpath(header.file.name)
        specs = [
            spec
            for base in self._paths(extends)
            if (spec := self._base(base, path, (*chain, path))) is not None
        ]
        items = {
            key: node for key, node in header.root.items.items() if key != "extends"
        }
        over = items.get("spec")
        merged: Node | None = None
        for spec in [*specs, *([over] if over is not None else [])]:
            merged = merge(merged, spec)
        if merged is not None:
            items["spec"] = merged
        return MappingNode(header.root.span, items, key_span=header.root.key_span)

    def _paths(self, extends: Node) -> list[ScalarNode]:
        nodes = extends.items if isinstance(extends, SequenceNode) else [extends]
        paths = []
        for node in nodes:
            if (
                isinstance(node, ScalarNode)
                and isinstance(node.value, str)
                and _is_path(node.value)
            ):
                paths.append(node)
            else:
                self._tell(
                    "YML037",
                    "`extends` is not a path or a list of paths",
                    node,
                    "write the path of a base, relative to this file",
                )
        return paths

    def _base(self, node: ScalarNode, path: str, chain: tuple[str, ...]) -> Node | None:
        """The flattened spec of one base."""
        target = os.path.normpath(os.path.join(os.path.dirname(path), str(node.value)))
        if target in chain:
            route = " → ".join([*chain[chain.index(target) :], target])
            self._tell(
                "YML038",
                f"`extends` goes in a circle: {route}",
                node,
                "remove one of the steps",
            )
            return None
        self._count += 1
        if self._count > MAX_BASES:
            if self._count == MAX_BASES + 1:
                self._tell(
                    "YML039",
                    f"more than {MAX_BASES} bases",
                    node,
                    "put the shared values into fewer files",
                )
            return None
        headers, faults = self._load(target)
        if missing := [fault for fault in faults if fault.span is None]:
            self.found.extend(_at(node, fault) for fault in missing)
        self.found.extend(fault for fault in faults if fault.span is not None)
        base = _pick(headers)
        if base is None:
            if not faults:
                self._tell(
                    "YML037",
                    f"`{target}` does not hold exactly one base",
                    node,
                    f"name a file with one `{BASE}`, or with one `{CLUSTER}`",
                )
            return None
        return self.flatten(base, chain).child("spec")

    def _tell(self, code: str, message: str, node: Node, help: str) -> None:
        self.found.append(error(code, message, span=node.span, help=help))


def _is_path(text: str) -> bool:
    """Whether a file can have this name: no system takes a zero byte, or half a pair of surrogates."""
    return (
        bool(text)
        and "\0" not in text
        and not any("\ud800" <= char <= "\udfff" for char in text)
    )


def _at(node: Node, fault: Diagnostic) -> Diagnostic:
    """A fault of a file that cannot be read, told where the file is named as a base."""
    help = (
        "check the path; it is relative to this file"
        if fault.code == "YML020"
        else fault.help
    )
    return replace(fault, span=node.span, label="named as a base here", help=help)


def _pick(headers: list[Header]) -> Header | None:
    """The one base of a file, or else the one cluster."""
    for kind in (BASE, CLUSTER):
        of_kind = [header for header in headers if header.kind == kind]
        if of_kind:
            return of_kind[0] if len(of_kind) == 1 else None
    return None
