"""Which clusters a command is about, and a compilation as a report or a simulation takes it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trainyard.catalog import load_catalog
from trainyard.judge.model.reading import Reading
from trainyard.language.places.tree import SequenceNode, text_node
from trainyard.run.driver import check
from trainyard.run.language.load import platform_of
from trainyard.run.outcome import Compilation, Options, Outcome
from trainyard.run.subject import Subject


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


def readable(paths: Sequence[str], options: Options) -> Outcome:
    """The specs that can be read: one that cannot is in the way of no command that asks about another one."""
    done = check(paths, options, current=lambda _: None)
    entries = [entry for path in paths for entry in _entries(Path(path))]
    if done.compilations or len(entries) < 2:
        return done
    alone = [check([entry], options, current=lambda _: None) for entry in entries]
    found = [compilation for each in alone for compilation in each.compilations]
    return Outcome(found, []) if found else done


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


def _entries(path: Path) -> list[Path]:
    """The specs and the folders of clusters in a folder; a file is itself."""
    if not path.is_dir():
        return [path]
    return sorted(
        entry
        for entry in path.iterdir()
        if not entry.name.startswith(".") and (entry.is_dir() or entry.suffix in (".yaml", ".yml"))
    )
