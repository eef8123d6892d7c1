"""Runs that continue although the spec no longer asks for them."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.extensions.forecast.blocks import Block, Heading, code_text, paragraph, table
from trainyard.extensions.forecast.subject import Subject


def section(subject: Subject) -> Iterator[Block]:
    """Each with the nodes that it holds, and the command that ends it."""
    earlier = [run for run in subject.runs if run.left]
    if not earlier:
        return
    yield Heading("Earlier runs")
    yield paragraph("They go on until they end or are deleted.")
    rows = (
        (
            f"{run.namespace}/{run.object}",
            run.job,
            str(run.nodes),
            run.pool,
            code_text(run.ends_with()),
        )
        for run in earlier
    )
    yield table(("run", "job", "nodes:", "pool", "ends with"), rows)
