"""GitHub Actions workflows: GitHub runs them once they are in ``.github/workflows``.

They are judged by their grammar as far as ours use it (GitHub documentation, workflow syntax for GitHub Actions): keys,
events, rights, steps that run something or use an action, expressions that end. An action is named by the commit that
it is of: a tag can be moved by whoever owns it (GitHub documentation, security hardening, third-party actions).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from trainyard.language.diagnostics import Diagnostic
from trainyard.language.shellwords import split
from trainyard.output.artifact import Artifact
from trainyard.output.body import values_along
from trainyard.output.emit.yaml import dump
from trainyard.verify.fault import SCHEMA, Fault, Path
from trainyard.verify.formats import Setting
from trainyard.verify.formats.markdown import hinted, lifted, parts, recognised
from trainyard.verify.node import Node, NodeTable
from trainyard.verify.structure import Raw
from trainyard.verify.verifier import diagnostic
from trainyard.verify.walk import walk

# Those of third parties are not read, as pages are not: ours use a part of the grammar.
__all__ = ["LATE", "TAGS", "hinted", "lifted", "parts", "recognised", "verified", "written"]

LATE = False
TAGS: Mapping[str, str] = {}

_TEXTS: Raw = {"type": "array", "items": {"type": "string"}}
_MAP: Raw = {"type": "object", "additionalProperties": {"type": "string"}}
_RIGHT: Raw = {"type": "string", "enum": ["read", "write", "none"]}
_RIGHTS: Raw = {
    "type": "object",
    "properties": dict.fromkeys(
        ("actions", "contents", "id-token", "packages", "pull-requests"), _RIGHT
    ),
}
_PUSH: Raw = {
    "type": "object",
    "properties": dict.fromkeys(
        ("branches", "branches-ignore", "paths", "paths-ignore", "tags"), _TEXTS
    ),
}
_STEP: Raw = {
    "type": "object",
    "properties": {
        "env": _MAP,
        "id": {"type": "string"},
        "if": {"type": "string"},
        "name": {"type": "string"},
        "run": {"type": "string"},
        "uses": {"type": "string"},
        "with": _MAP,
        "working-directory": {"type": "string"},
    },
}
_JOB: Raw = {
    "type": "object",
    "required": ["runs-on", "steps"],
    "properties": {
        "env": _MAP,
        "permissions": _RIGHTS,
        "runs-on": {"type": "string"},
        "steps": {"type": "array", "items": _STEP, "minItems": 1},
        "timeout-minutes": {"type": "integer", "minimum": 1, "maximum": 35_790},
    },
}
_WORKFLOW: Raw = {
    "type": "object",
    "required": ["jobs", "on"],
    "properties": {
        "concurrency": {
            "type": "object",
            "required": ["group"],
            "properties": {"group": {"type": "string"}, "cancel-in-progress": {"type": "boolean"}},
        },
        "jobs": {"type": "object", "additionalProperties": _JOB, "minProperties": 1},
        "name": {"type": "string"},
        "on": {
            "type": "object",
            "minProperties": 1,
            "properties": {"push": _PUSH, "workflow_dispatch": {"type": "object"}},
        },
        "permissions": _RIGHTS,
    },
}
_PINNED = r"[\w.-]+/[\w./-]+@[0-9a-f]{40}\Z"
_EXPRESSION = re.compile(r"\$\{\{(?:(?!\$\{\{).)*?\}\}", re.DOTALL)


@cache
def _node() -> Node:
    return NodeTable([]).node(_WORKFLOW)


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that GitHub would refuse, or run otherwise than it was reviewed."""
    diagnostics = []
    for artifact in artifacts:
        faults = list(walk(_node(), artifact.body))
        faults += _faults(artifact.body)
        diagnostics += [diagnostic(artifact, fault) for fault in faults]
    return diagnostics


def _faults(body: dict[str, Any]) -> Iterator[Fault]:
    for path, step in _steps(body):
        runs = step.get("run")
        uses = step.get("uses")
        if (runs is None) == (uses is None):
            yield Fault(
                SCHEMA,
                "SCH013",
                path,
                "a step has not exactly one of `run` and `uses`",
                "write what it runs, or the action that it uses",
            )
        if isinstance(uses, str) and not re.match(_PINNED, uses):
            yield Fault(
                SCHEMA,
                "SCH006",
                (*path, "uses"),
                f"action `{uses}` is not named by a commit",
                "write `OWNER/NAME@` and the 40 hex digits of the commit",
            )
        if isinstance(runs, str):
            yield from _command(runs, (*path, "run"))


def _command(text: str, path: Path) -> Iterator[Fault]:
    bare = _EXPRESSION.sub("", text)
    if "${{" in bare:
        yield Fault(SCHEMA, "SCH012", path, "an expression does not end", "close it with `}}`")
    if bare != text:
        # GitHub documentation, security hardening: script injections.
        yield Fault(
            SCHEMA,
            "SCH012",
            path,
            "an expression is part of a command, which runs any text that it holds",
            "put it into a variable under `env:`, and name that",
        )
    try:
        split(bare, comments=True)
    except ValueError as problem:
        yield Fault(
            SCHEMA,
            "SCH012",
            path,
            f"a command cannot be run: {str(problem).lower()}",
            "close the quotation",
        )


def _steps(body: dict[str, Any]) -> Iterator[tuple[Path, dict[str, Any]]]:
    jobs = body.get("jobs")
    if not isinstance(jobs, dict):
        return
    for name, job in jobs.items():
        steps = values_along(job, ("steps", "*"), ("jobs", name))
        for path, step in steps:
            if isinstance(step, dict):
                yield path, step


def written(artifact: Artifact) -> bytes:
    """One YAML document."""
    return dump(artifact.body).encode()
