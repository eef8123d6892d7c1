"""Modules of Terraform from the JSON syntax into the native one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from trainyard.extensions.terraform.formats.terraform.structure import structure

LABELS = {"resource": 2, "data": 2, "variable": 1, "output": 1, "module": 1, "provider": 1}
BLOCKS = ("lifecycle", "timeouts", "content", "dynamic", "provisioner", "connection")
ARGUMENTS = ("block", "blocks")


def native(body: Mapping[str, Any]) -> str:
    """A module in the native syntax."""
    lines = []
    for section, value in body.items():
        if section == "//":
            lines.append(f"# {value}")
            continue
        for labels, inner in labelled(value, LABELS.get(section, 0)):
            kind = f"data.{labels[0]}" if section == "data" else labels[0] if labels else ""
            known = structure(kind) if section in ("resource", "data") else None
            shapes = known.arguments if known is not None else {}
            head = " ".join([section, *map(json.dumps, labels)])
            lines += [f"{head} {{", *(f"  {line}" for line in items(inner, shapes)), "}", ""]
    return "\n".join(lines)


def labelled(value: Any, depth: int) -> Iterator[tuple[tuple[str, ...], Any]]:
    if depth == 0:
        for each in value if isinstance(value, list) else [value]:
            yield (), each
        return
    for label, inner in value.items():
        for labels, each in labelled(inner, depth - 1):
            yield (label, *labels), each


def items(body: Mapping[str, Any], shapes: Mapping[str, Any]) -> Iterator[str]:
    """The lines of what stands in a block."""
    for name, value in body.items():
        shape = shapes.get(name, {})
        if name == "//":
            yield f"// {value}"
        elif name == "dynamic":
            for label, inner in value.items():
                yield from block(f'dynamic "{label}"', inner, {})
        elif name in BLOCKS or (shape.get("is") in ARGUMENTS and is_of_blocks(value)):
            for each in value if isinstance(value, list) else [value]:
                yield from block(name, each, shape.get("of", {}))
        else:
            yield f"{name} = {expression(value)}"


def is_of_blocks(value: Any) -> bool:
    several = value if isinstance(value, list) else [value]
    return all(isinstance(each, dict) for each in several)


def block(head: str, body: Mapping[str, Any], shapes: Mapping[str, Any]) -> Iterator[str]:
    yield f"{head} {{"
    yield from (f"  {line}" for line in items(body, shapes))
    yield "}"


def expression(value: Any) -> str:
    """A value; a text that is an expression is written as one, and one of several lines as a heredoc."""
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)} = {expression(item)}" for key, item in value.items()]
        return "{\n" + "\n".join(entries) + "\n}" if entries else "{}"
    if isinstance(value, list):
        return "[" + ", ".join(map(expression, value)) + "]"
    if isinstance(value, str):
        whole = re.fullmatch(r"\$\{((?:[^{}]|\{[^{}]*\})*)\}", value, re.DOTALL)
        if whole is not None:
            return whole[1]
        if value.count("\n") > 1 and value.endswith("\n"):
            return f"<<EOT\n{value}EOT"
    return json.dumps(value, ensure_ascii=False)
