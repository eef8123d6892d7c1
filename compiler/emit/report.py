"""The report for people and the source map for tools."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
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


def report(
    plan: Plan, manifests: Sequence[Manifest], diagnostics: Sequence[Diagnostic], earlier: Sequence[Sequence[str]] = ()
) -> bytes:
    """What will exist, what goes on, what was found, and every derived value with its reason (Markdown).

    ``earlier``: namespaced name, job, nodes, pool and ending command of each run that the spec no longer asks for.
    """
    name = plan.cluster.name if plan.cluster else ""
    text = bytearray(f"# {name}\n\nRelease {plan.release}; {len(manifests)} objects.\n\n".encode())
    parts = (_findings(diagnostics), _pools(plan), _jobs(plan), _earlier(earlier), _derived(plan))
    for line in chain.from_iterable(parts):  # by the line: there are many
        text += line.encode() + b"\n"
    return bytes(text)


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for cells in chain((header, ["---"] * len(header)), rows):
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
    yield ""


def _findings(diagnostics: Sequence[Diagnostic]) -> Iterator[str]:
    if not diagnostics:
        yield from ("No findings.", "")
        return
    yield from ("## Findings", "")
    rows = ((each.code, str(each.severity), each.message, each.help) for each in diagnostics)
    yield from _table(("code", "severity", "finding", "help"), rows)


def _pools(plan: Plan) -> Iterator[str]:
    rows = (
        (pool.name, ", ".join(pool.instance_types or ()), ", ".join(pool.zones or ()),
         str(pool.replicas) if pool.replicas is not None else "from 0",
         ", ".join(f"{amount} {name}" for name, amount in pool.limits.items()))
        for pool in plan.node_pools
    )
    yield from ("## Pools", "")
    yield from _table(("pool", "type", "zone", "nodes", "limit"), rows)


def _jobs(plan: Plan) -> Iterator[str]:
    if not plan.jobs:
        return
    rows = (
        (f"{job.namespace}/{job.name}", job.queue or "", str(job.nodes),
         ", ".join(f"{amount} {name}" for name, amount in job.requests.items()))
        for job in plan.jobs
    )
    yield from ("## Jobs", "")
    yield from _table(("job", "queue", "nodes", "a node asks for"), rows)


def _earlier(runs: Sequence[Sequence[str]]) -> Iterator[str]:
    if not runs:
        return
    yield from ("## Earlier runs", "", "They go on until they end or are deleted.", "")
    yield from _table(("run", "job", "nodes", "pool", "ends with"), runs)


def _derived(plan: Plan) -> Iterator[str]:
    rows = ((each.object, each.field, each.value, each.reason, each.origin) for each in plan.derived)
    yield from ("## Derived", "")
    yield from _table(("object", "field", "value", "reason", "source"), rows)
