"""The report for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from compiler.diagnostics import Diagnostic
from compiler.manifest import Manifest
from compiler.plan import Plan


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
