"""``report``: the Markdown of each cluster, one after the other."""

from __future__ import annotations

from compiler.catalog import load_catalog
from compiler.outcome import Compilation, Options, Outcome
from compiler.report import Subject, report, unfinished
from compiler.writer import compare


def text(done: Outcome, options: Options) -> str:
    """What belongs to no cluster, then the report of each."""
    compilations = done.compilations
    parts = [_cluster_report(compilation, options) for compilation in compilations]
    if done.diagnostics:
        parts.insert(0, unfinished("Specs", done.diagnostics))
    return "\n".join(parts)


def _cluster_report(done: Compilation, options: Options) -> str:
    if done.plan is None or done.spec is None:
        return unfinished(done.name, done.diagnostics)
    changes = compare(done, options)
    return report(
        Subject(
            done.name,
            done.spec,
            done.plan,
            load_catalog(options.catalog),
            done.diagnostics,
            done.runs or (),
            changes.added,
            changes.changed,
            changes.removed,
            done.steps,
        )
    )
