"""Which clusters a command is about, and a compilation as a report or a simulation takes it."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.catalog import load_catalog
from trainyard.cli.subjects import readable
from trainyard.extensions.forecast.subject import Subject
from trainyard.judge.model.reading import Reading
from trainyard.language.places.tree import SequenceNode, text_node
from trainyard.run.driver import check
from trainyard.run.language.load import platform_of
from trainyard.run.outcome import Compilation, Options, Outcome


def subject(done: Compilation, options: Options) -> Subject:
    """The subject of a compilation that has a plan and a spec."""
    assert done.plan is not None
    assert done.spec is not None
    catalog = load_catalog(options.catalog)
    reading = Reading(done.plan, catalog, done.manifests)
    return Subject(
        done.spec,
        done.plan,
        catalog,
        reading.pools,
        done.name,
        platform_of(done.document),
        reading,
        findings=done.diagnostics,
        runs=done.runs or (),
        manifests=done.manifests,
        steps=done.steps,
        today=options.today,
    )


def with_job(paths: Sequence[str], options: Options, job: str | None) -> Outcome:
    """The specs, or those alone that have the job that is asked for: what is wrong with others is not in its way."""
    if job is not None:
        having = [each for each in readable(paths, options).compilations if job in job_names(each)]
        if having:
            return Outcome(having)
    return check(paths, options, current=lambda _: None)


def job_names(compilation: Compilation) -> list[str]:
    """The jobs of a spec by their names there, whatever platform runs them."""
    spec = compilation.document.root.child("spec")
    jobs = spec.child("jobs") if spec is not None else None
    items = jobs.items if isinstance(jobs, SequenceNode) else ()
    names = [text_node(item.child("name")) for item in items]
    return [name.text for name in names if name is not None]
