"""The driver: the passes in their order, from files to a judged compilation. It prints and writes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from compiler.catalog import load_catalog
from compiler.diagnostics import Diagnostic, Severity
from compiler.judge import judge
from compiler.manifest import Manifest, ObjectRef
from compiler.outcome import Compilation, Options, Outcome
from compiler.output import Artifact
from compiler.output.formats import Setting, objects
from compiler.plan import Plan
from compiler.policy import Policies, load_policies
from compiler.policy.config import Config
from compiler.resolve.resolve import resolve
from compiler.source import Route
from compiler.source.assemble import SpecSource, assemble
from compiler.source.include import included
from compiler.spec.documents import lists
from compiler.spec.load import load, platform_of
from compiler.subjects.cluster.plan import Bootstrap
from compiler.subjects.overrides.plan import IncludedObject, ObjectPatch
from compiler.targets import lower
from compiler.verify.references import made_elsewhere

_MANY = 16  # specs from which on every core takes a share

Lowered = Callable[[Sequence[Manifest]], None]


def _nobody(manifests: Sequence[Manifest]) -> None:
    """Nobody waits for the objects."""


def _clean(done: Compilation) -> tuple[str, ...] | None:
    """Nothing to say, and no files to compare."""
    return None if done.diagnostics else ()


def check(
    paths: Iterable[str | os.PathLike[str]],
    options: Options,
    lowered: Lowered | None = None,
    current: Callable[[Compilation], tuple[str, ...] | None] = _clean,
) -> Outcome:
    """Every spec of the paths through every pass but writing.

    ``lowered`` gets the objects of each before the passes judge them, so that something can be made of them meanwhile.
    ``current`` gives the files of a compilation after which nothing is left to do; of many specs, only the others are
    handed back whole.
    """
    paths = list(paths)
    sources, found = assemble(paths, lists())
    found += load_catalog(options.catalog).faults
    if any(each.severity is Severity.ERROR for each in found):
        return Outcome([], found)
    policies, faults = load_policies(options.policies, today=options.today)
    done = Outcome(
        _compile_all(sources, policies, options, lowered, current), [*found, *faults]
    )
    _excuse(done, policies.config, everything=any(map(os.path.isdir, paths)))
    return done


def _compile_all(
    sources: Sequence[SpecSource],
    policies: Policies,
    options: Options,
    lowered: Lowered | None,
    current: Callable[[Compilation], tuple[str, ...] | None],
) -> list[Compilation]:
    if lowered is not None or len(sources) < _MANY:
        return [
            _compile(source, policies, options, lowered or _nobody)
            for source in sources
        ]

    from compiler.fleet import spread  # a few specs start sooner without it

    done, verdicts = spread(
        len(sources),
        lambda index: _compile(sources[index], policies, options, _nobody),
        current,
    )
    compilations = []
    for index, source in enumerate(sources):
        compilation = done.get(index) or Compilation(source.name, source.document)
        compilation.current = verdicts.get(index)
        compilations.append(compilation)
    return compilations


def _excuse(done: Outcome, config: Config, *, everything: bool) -> None:
    """Apply the exceptions over all specs at once: one is unused only if none of them needs it."""
    if not config.exceptions:
        return
    every = [each for one in done.compilations for each in one.diagnostics]
    judged = all(
        one.plan is not None or one.current is not None for one in done.compilations
    )
    kept, excused = config.excuse(every, judged=judged, everything=everything)
    known, gone = {id(each) for each in every}, {id(each) for each in excused}
    done.diagnostics += [each for each in kept if id(each) not in known]
    for one in done.compilations:
        one.diagnostics = [each for each in one.diagnostics if id(each) not in gone]
    done.excused = len(excused)


def _compile(
    source: SpecSource, policies: Policies, options: Options, lowered: Lowered
) -> Compilation:
    done = Compilation(source.name, source.document)
    faults = _passes(done, policies, options, lowered)
    done.diagnostics = [each.locate(source.document) for each in faults]
    return done


def _passes(
    done: Compilation, policies: Policies, options: Options, lowered: Lowered
) -> list[Diagnostic]:
    platform = platform_of(done.document)
    spec, faults = load(done.document, platform)
    if spec is None:
        return faults
    catalog = load_catalog(options.catalog)
    plan, more = resolve(
        spec,
        catalog,
        options.folder,
        platform,
        included=included(done.document),
    )
    faults += more
    if plan is None:
        return faults
    artifacts = lower(plan)
    if plan.of(ObjectPatch):
        plan, artifacts, unfit = _patched(plan, artifacts)
        faults += unfit
    manifests = objects(artifacts)
    committed = options.committed / done.name
    if options.hold and committed.is_dir():
        from compiler.history import (
            hold,
        )  # a first compilation starts sooner without it

        held = hold(spec, plan, manifests, done.document, committed, catalog)
        done.steps = held.steps
        plan, manifests, done.runs = held.plan, held.manifests, held.runs
        faults += held.diagnostics
        pages = [each for each in artifacts if not isinstance(each, Manifest)]
        artifacts = [*manifests, *pages]
    done.spec, done.plan = spec.spec, plan
    done.artifacts, done.manifests = artifacts, manifests
    lowered(manifests)
    verdict = judge(artifacts, setting_of(plan), catalog, policies, plan=plan)
    return faults + traced(verdict.diagnostics, artifacts)


def _patched(
    plan: Plan, artifacts: list[Artifact]
) -> tuple[Plan, list[Artifact], list[Diagnostic]]:
    from compiler.patches import patched  # few specs have patches

    return patched(plan, artifacts)


def setting_of(plan: Plan, artifacts: Sequence[Artifact] = ()) -> Setting:
    """What the output of a plan is judged in."""
    external = frozenset(ObjectRef(*each) for each in plan.external)
    bodies = [node.body for node in plan.of(IncludedObject)]
    if bodies:
        external |= made_elsewhere(bodies)
    bootstrap = plan.one(Bootstrap)
    folder = bootstrap.path if bootstrap is not None else ""
    return Setting(external=external, others=artifacts, folder=folder)


def traced(
    found: Sequence[Diagnostic], artifacts: Sequence[Artifact]
) -> list[Diagnostic]:
    """Findings on what is written, reported at the line of the spec that each field came from."""
    if not found:
        return []
    by_id = {each.id: each for each in artifacts}
    return [_trace(each, by_id) for each in found]


def _trace(item: Diagnostic, by_id: Mapping[str, Artifact]) -> Diagnostic:
    if (
        item.at is None
        or not item.at
        or (artifact := by_id.get(str(item.at[0]))) is None
    ):
        return item
    path = tuple(item.at[1:])
    notes = (*item.notes, f"rendered as `{Route(path)}`") if path else item.notes
    return replace(
        item, at=artifact.origin(path), object=str(artifact.ref), notes=notes
    )
