"""Resolves ``extends:``; missing bases and cycles are reported."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import replace

from trainyard.language.diagnostics.diagnostic import Diagnostic, error
from trainyard.language.places.tree import (
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    SourceFile,
    text_node,
)
from trainyard.language.source.headers import BASE, CLUSTER, Header
from trainyard.language.source.merge import merge

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
        root = header.root
        items = dict(root.items)
        extends = items.pop("extends", None)
        if extends is None:
            return root
        path = os.path.normpath(header.file.name)
        merged: Node | None = None
        for base in self._paths(extends):
            chain_here = (*chain, path)
            spec = self._base_spec(base, path, chain_here)
            if spec is not None:
                merged = merge(merged, spec)
        if "spec" in items:
            merged = merge(merged, items["spec"])
        if merged is not None:
            items["spec"] = merged
        return MappingNode(root.span, items, key_span=root.key_span)

    def _paths(self, extends: Node) -> list[ScalarNode]:
        if isinstance(extends, SequenceNode):
            nodes = extends.items
        else:
            nodes = [extends]
        paths = []
        for node in nodes:
            path = text_node(node)
            if path is not None and _is_path(path.text):
                paths.append(path)
            else:
                self._report(
                    "YML037",
                    "`extends` is not a path or a list of paths",
                    node,
                    "write the path of a base, relative to this file",
                )
        return paths

    def _base_spec(self, node: ScalarNode, path: str, chain: tuple[str, ...]) -> Node | None:
        """The flattened spec of one base."""
        written = str(node.value)
        folder = os.path.dirname(path)
        target = os.path.normpath(os.path.join(folder, written))
        if target in chain:
            circle = chain[chain.index(target) :]
            route = " → ".join((*circle, target))
            message = f"`extends` goes in a circle: {route}"
            self._report("YML038", message, node, "remove one of the steps")
            return None
        self._count += 1
        if self._count > MAX_BASES:
            if self._count == MAX_BASES + 1:
                message = f"more than {MAX_BASES} bases"
                help = "put the shared values into fewer files"
                self._report("YML039", message, node, help)
            return None
        headers, faults = self._load(target)
        # Those without a place first: they are of the file as a whole.
        for fault in sorted(faults, key=lambda fault: fault.span is not None):
            placed = fault
            if fault.span is None:
                placed = _at(node, fault)
            self.found.append(placed)
        base = _pick(headers)
        if base is not None:
            return self.flatten(base, chain).child("spec")
        if not faults:
            message = f"`{target}` does not hold exactly one base"
            help = f"name a file with one `{BASE}`, or with one `{CLUSTER}`"
            self._report("YML037", message, node, help)
        return None

    def _report(self, code: str, message: str, node: Node, help: str) -> None:
        self.found.append(error(code, message, at=node.span, help=help))


def _is_path(text: str) -> bool:
    """Whether a file can have this name: no system takes a zero byte, or half a pair of surrogates."""
    return bool(text) and not re.search(_NOT_IN_PATHS, text)


_NOT_IN_PATHS = "[\0\ud800-\udfff]"


def _at(node: Node, fault: Diagnostic) -> Diagnostic:
    """A fault of a file that cannot be read, reported where the file is named as a base."""
    help = fault.help
    if fault.code == "YML020":
        help = "check the path; it is relative to this file"
    return replace(fault, span=node.span, label="named as a base here", help=help)


def _pick(headers: list[Header]) -> Header | None:
    """The one base of a file, or else the one cluster."""
    for kind in (BASE, CLUSTER):
        of_kind = [header for header in headers if header.kind == kind]
        if of_kind:
            if len(of_kind) == 1:
                return of_kind[0]
            return None
    return None
