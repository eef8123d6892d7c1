"""The plan against submitted runs: what stays, what would run twice, what continues."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from dataclasses import replace as replaced
from functools import cache
from pathlib import Path

from trainyard.catalog import Catalog, VersionStep
from trainyard.core.jobs.reruns import replaced_jobs, second_run
from trainyard.core.jobs.spec import JobsSection
from trainyard.eks.jobs.kinds import kind_called
from trainyard.eks.jobs.plan import TrainJob
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.model.reading import Reading
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.diagnostics.words import numbered
from trainyard.language.models.cluster import TrainingCluster
from trainyard.language.places import Document
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.run.history.changes import Change, changed_fields
from trainyard.run.history.claims import keep_claim_sizes
from trainyard.run.history.committed import Committed
from trainyard.run.history.drift import drifted_pools
from trainyard.run.history.earlier import (
    earlier_runs,
    earlier_runs_note,
    ended_runs_faults,
    forgotten_run_errors,
    lost_needs,
    replaced_runs_note,
    unreadable_run_errors,
)
from trainyard.run.history.ended import added_again, ended_now
from trainyard.run.history.immutable import refused_edits
from trainyard.run.history.keep import Kept, kept, kept_as_submitted, with_kept
from trainyard.run.history.landing import Landing
from trainyard.run.history.moved import moved_network, other_tool
from trainyard.run.history.needs import committed_landing, with_needs
from trainyard.run.history.node_rights import lost_rights
from trainyard.run.history.pruned import deletions_note
from trainyard.run.history.replaced import replaced_storage
from trainyard.run.history.room import stranded_runs
from trainyard.run.history.runs import ENDED, LEFT, SUBMITTED, Run, job_manifests, submitted
from trainyard.run.history.standing import Pods, committed_pods, standing_runs
from trainyard.run.history.stays import pools_that_stay
from trainyard.run.history.upgrades import reported, steps
from trainyard.run.history.words import Words

_SHOWN = 3  # fields that a message names


@dataclass()
class Held:
    """A plan and its manifests with every submitted job as it was submitted, every run to remember, and the
    steps between versions that the edit takes."""

    plan: Plan
    manifests: list[Manifest]
    runs: list[Run] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    steps: list[VersionStep] = field(default_factory=list)


def hold(
    spec: TrainingCluster,
    plan: Plan,
    manifests: list[Manifest],
    document: Document,
    folder: Path,
    catalog: Catalog,
    replace: Sequence[str] = (),
) -> Held:
    """Compare a plan with the committed ``folder`` of its cluster; ``catalog`` knows what upgrades ask for.

    ``replace``: jobs whose last run was never pushed, by name or pattern.
    """
    words = Words(document)
    section = JobsSection.of(spec.spec)
    committed = Committed(folder, replaced_jobs(replace, section))
    held = Held(plan, keep_claim_sizes(manifests, committed))
    held.diagnostics += unreadable_run_errors(committed.broken_runs)
    held.diagnostics += forgotten_run_errors(committed.forgotten())
    held.diagnostics += refused_edits(held.manifests, committed)
    held.diagnostics += replaced_storage(plan, committed)
    held.diagnostics += moved_network(plan, committed)
    held.diagnostics += other_tool(plan, committed)
    held.diagnostics += lost_rights(plan, committed)
    held.diagnostics += pools_that_stay(held.manifests, committed)
    if plan.of(NodeGroup):
        from trainyard.run.history.groups import groups_to_recreate

        held.diagnostics += groups_to_recreate(held.manifests, committed)
    in_doubt = _keep_jobs(held, committed, words, section)
    held.runs = submitted(held.plan, held.manifests, words)
    known = committed.runs
    remembered = [run for run in known if run.job not in in_doubt]

    def landed_on(pool: str) -> Landing:
        return committed_landing(committed, pool, held.manifests)

    def pods_of(run: Run) -> Pods:
        return committed_pods(run, committed, held.manifests, catalog)

    earlier = earlier_runs(remembered, held.runs, spec.spec, landed_on, pods_of)
    needs = lost_needs(earlier, _asked_for(remembered, section), spec.spec, held.plan)
    held.diagnostics += needs or earlier_runs_note(earlier, held.plan)
    held.diagnostics += ended_runs_faults(earlier, held.runs, spec.spec)
    held.diagnostics += ended_now(known, earlier, spec.spec, held.plan)
    held.diagnostics += added_again(known, held.plan, committed, held.manifests)
    held.diagnostics += replaced_runs_note(committed.replaced, held.runs, plan)
    held.runs += earlier
    held.plan, held.manifests = with_needs(held.plan, held.manifests, earlier, committed)
    standing = list(standing_runs(known, held.runs))
    held.plan = replaced(held.plan, items=(*held.plan.items, *standing))
    reading = Reading(held.plan, catalog, held.manifests)
    held.diagnostics += stranded_runs(reading, standing)
    held.steps = steps(held.plan, held.manifests, committed, held.runs, catalog)
    held.diagnostics += reported(held.steps, spec.spec)
    held.diagnostics += committed.faults(made.path for made in held.manifests)
    severities = {diagnostic.severity for diagnostic in held.diagnostics}
    if Severity.ERROR not in severities:
        known_keys = {run.key for run in known}
        going_on = [run for run in held.runs if run.key in known_keys]
        held.diagnostics += drifted_pools(held.manifests, committed, going_on)
        held.diagnostics += deletions_note(held.manifests, committed)
    return held


def _asked_for(runs: Sequence[Run], section: JobsSection) -> set[str]:
    """The objects of the runs for which git asks until this edit is merged. A job that is done has ended by itself."""
    done = {job.name for job in section.jobs if job.completed}
    return {run.object for run in runs if run.state == SUBMITTED and run.job not in done}


def _keep_jobs(held: Held, committed: Committed, words: Words, section: JobsSection) -> set[str]:
    """Put every job that stays into its place, and report every job that would run a second time.

    Returns the names of jobs whose run is uncertain.
    """
    objects = job_manifests(held.manifests)

    @cache
    def by_ref() -> dict[str, Manifest]:
        """Computed once, and only where something has changed."""
        return {str(manifest.ref): manifest for manifest in held.manifests}

    stay: dict[str, Kept] = {}
    second: dict[str, Diagnostic] = {}
    in_doubt: set[str] = set()
    gone = _gone(committed.runs, section)
    for job in held.plan.of(TrainJob):
        runs = committed.latest.get(job.source_name)
        if runs is None:
            before = _same_work(job, words.work(job), gone)
            if before is not None:
                second[job.source_name] = _renamed_job_error(job, before)
                in_doubt.add(before.job)
            continue
        new = objects[job.kind, job.name]
        run = _matching_run(runs, job, new)
        if job.rerun > run.rerun:
            continue
        if run.state == ENDED:
            second[job.source_name] = _ended_job_error(job, run)
            continue
        if run.is_same(job, new):
            held.diagnostics += _job_is_back_note(job, run)
            continue
        if run.kind != job.kind:
            second[job.source_name] = _other_kind_error(job, run)
            continue
        old = None
        if run.asked == words.asked(job):
            old = kept(committed, run, job, new)
        if old is not None:
            stay[job.name] = old
            continue
        changes = changed_fields(committed, run, job, by_ref())
        written = _written(section, job.source_name)
        second[job.source_name] = _second_run_error(job, run, changes, written)
    held.diagnostics += second.values()
    if stay:
        held.plan, held.manifests = with_kept(held.plan, held.manifests, stay)
        jobs = list(stay.values())
        held.diagnostics.append(kept_as_submitted(jobs))
    return in_doubt | set(second)


def _matching_run(runs: Sequence[Run], job: TrainJob, manifest: Manifest) -> Run:
    """The run that a job asks for. Two branches may have submitted one each: the merged spec asks for one of them, and
    the other goes on."""
    for run in runs:
        if run.is_same(job, manifest):
            return run
    return runs[-1]


def _written(section: JobsSection, name: str) -> set[str]:
    """The keys that the spec gives a job."""
    (job,) = [each for each in section.jobs if each.name == name]
    fields = type(job).model_fields
    return {fields[field].alias or field for field in job.model_fields_set}


def _second_run_error(
    job: TrainJob, run: Run, changes: Sequence[Change], written: set[str]
) -> Diagnostic:
    at, label = job.at, f"what has changed cannot be changed in a {run.kind} that exists"
    if changes:
        # What somebody has written, before what follows from it.
        key = len(job.at)
        of_keys = [change for change in changes if {*change.at[key : key + 1]} & written]
        first = next(iter(of_keys), changes[0])
        at = first.at
        label = _submitted(first, run.kind)
    shown = changes[:_SHOWN]
    notes = [str(change) for change in shown]
    more = len(changes) - len(shown)
    if more:
        notes.append(f"and {numbered(more, 'more field')}")
    return second_run(job, run.object, run.rerun, at, label=label, notes=notes)


def _submitted(change: Change, kind: str) -> str:
    if change.before is None:
        return f"the job was submitted without it, which cannot be changed in a {kind} that exists"
    was, _ = change.shown()
    return f"{was} was submitted, and cannot be changed in a {kind} that exists"


def _other_kind_error(job: TrainJob, run: Run) -> Diagnostic:
    """Another kind is another object, made by another controller: the run does not continue in it."""
    was, now = run.kind, job.kind
    command = run.ends_with()
    stays = f"`{run.object}` stays a {was}: its nodes and quota are its own until it ends or `{command}`"
    restarts = (
        f"a {now} restarts {kind_called(now).restarted}, a {was} {kind_called(was).restarted}"
    )
    again = f"add `rerun: {run.rerun + 1}` to run it again as a {now}, and `{command}` when that is merged"
    return error(
        "CHG026",
        f"job `{job.source_name}` was submitted as {was} `{run.object}`, and would run a second time as a {now}",
        job.at / "kind",
        label=f"a {was} cannot become a {now}",
        notes=(stays, restarts),
        help=f"write `completed: true` once it has ended; {again}; or keep the `kind` of this job; "
        f"`--replace {job.source_name}` if it was never pushed",
    )


def _ended_job_error(job: TrainJob, run: Run) -> Diagnostic:
    return error(
        "RES030",
        f"job `{job.source_name}` has ended as `{run.object}` and would run a second time",
        job.at,
        label="the spec said that it has completed",
        key=True,
        help=f"add `rerun: {run.rerun + 1}` to run it again, or write `completed: true` again",
    )


def _job_is_back_note(job: TrainJob, run: Run) -> list[Diagnostic]:
    if run.state != LEFT:
        return []
    return [
        Diagnostic(
            "CHG006",
            Severity.NOTE,
            f"job `{job.source_name}` is back as `{run.object}`, the run that it had before",
            job.at,
            label=f"nothing is submitted as long as that {run.kind} exists",
            key=True,
            help=f"if the {run.kind} was deleted it runs again; "
            f"to run it again in any case, write `rerun: {run.rerun + 1}`",
        )
    ]


def _gone(runs: Sequence[Run], section: JobsSection) -> list[Run]:
    """Runs that may go on, of jobs that the spec no longer has."""
    declared = {job.name for job in section.jobs}
    ended = set(section.completed_runs)
    gone = []
    for run in runs:
        has_ended = run.state == ENDED or run.object in ended
        if not has_ended and run.job not in declared:
            gone.append(run)
    return gone


def _same_work(job: TrainJob, work: str, gone: Sequence[Run]) -> Run | None:
    """The run of a job that the spec no longer has, and that did what a job of another name would do."""
    for run in gone:
        is_rerun = job.rerun > run.rerun
        if run.work == work and not is_rerun:
            return run
    return None


def _renamed_job_error(job: TrainJob, run: Run) -> Diagnostic:
    again = f"add `rerun: {run.rerun + 1}` for a second run"
    return error(
        "CHG004",
        f"job `{job.source_name}` is job `{run.job}` under another name and would run a second time",
        job.at / "name",
        label=f"`{run.object}` does the same, and may still run",
        help=f"name it `{run.job}`, or {again}; if `{run.object}` has ended, write `completedRuns: [{run.object}]` "
        "under `spec`",
    )
