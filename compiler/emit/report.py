"""The report for people and the source map for tools."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from compiler.diagnostics import Diagnostic
from compiler.manifest import Manifest
from compiler.plan import Plan
from compiler.source import Document, Route


def object_index(manifests: Sequence[Manifest], document: Document, base: Path) -> dict[str, dict[str, Any]]:
    """By object: its file, the line of the spec behind it, and those of its fields that have lines of their own.

    Files of the spec are named relative to ``base``, a real path, so that the map is the same on every machine and by
    whatever links the folder of a spec was reached.
    """
    shown: dict[str, str] = {}

    def place(route: Route) -> str:
        span = document.span(route)
        name = span.file.name
        if name not in shown:
            folder, file = os.path.split(os.path.abspath(name))
            shown[name] = Path(os.path.relpath(os.path.join(os.path.realpath(folder), file), base)).as_posix()
        return f"{shown[name]}:{span.line}"

    index = {}
    for manifest in sorted(manifests, key=lambda each: each.path):
        fields = {str(Route(path)): place(route) for path, route in manifest.places().items()}
        index[str(manifest.ref)] = {"path": manifest.path, "spec": place(manifest.at), "fields": fields}
    return index


def report(plan: Plan, manifests: Sequence[Manifest], diagnostics: Sequence[Diagnostic]) -> str:
    """What will exist, what was found, and every derived value with its reason (Markdown)."""
    name = plan.cluster.name if plan.cluster else ""
    lines = [f"# {name}", "", f"Release {plan.release}; {len(manifests)} objects.", ""]
    lines += _findings(diagnostics) + _pools(plan) + _jobs(plan) + _derived(plan)
    return "\n".join(lines) + "\n"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"

    return [line(header), line(["---"] * len(header)), *(line(row) for row in rows), ""]


def _findings(diagnostics: Sequence[Diagnostic]) -> list[str]:
    if not diagnostics:
        return ["No findings.", ""]
    rows = [(each.code, str(each.severity), each.message, each.help) for each in diagnostics]
    return ["## Findings", "", *_table(("code", "severity", "finding", "help"), rows)]


def _pools(plan: Plan) -> list[str]:
    rows = [
        (pool.name, ", ".join(pool.instance_types or ()), ", ".join(pool.zones or ()),
         str(pool.replicas) if pool.replicas is not None else "from 0",
         ", ".join(f"{amount} {name}" for name, amount in pool.limits.items()))
        for pool in plan.node_pools
    ]
    return ["## Pools", "", *_table(("pool", "type", "zone", "nodes", "limit"), rows)]


def _jobs(plan: Plan) -> list[str]:
    if not plan.jobs:
        return []
    rows = [
        (f"{job.namespace}/{job.name}", job.queue or "", str(job.nodes),
         ", ".join(f"{amount} {name}" for name, amount in job.requests.items()))
        for job in plan.jobs
    ]
    return ["## Jobs", "", *_table(("job", "queue", "nodes", "a node asks for"), rows)]


def _derived(plan: Plan) -> list[str]:
    rows = [(each.object, each.field, each.value, each.reason, each.source) for each in plan.derived]
    return ["## Derived", "", *_table(("object", "field", "value", "reason", "source"), rows)]
