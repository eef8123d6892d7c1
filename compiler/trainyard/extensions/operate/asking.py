"""The commands that ask a cluster: each takes the parsed arguments and returns an exit code."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import wraps
from types import TracebackType

from trainyard.cli.exits import CLEAN, DRIFTED, FINDINGS, USAGE
from trainyard.cli.output import as_json, require_text_or_json, say
from trainyard.cli.settings import command, complain, run_options
from trainyard.cli.streams import UsageError, print_out, put_err, visible
from trainyard.cli.subjects import readable
from trainyard.eks.jobs.plan import TrainJob
from trainyard.extensions.forecast.simulate.verdict import Kind, helps, why
from trainyard.extensions.forecast.simulation_shown import forecasts
from trainyard.extensions.forecast.subject import Subject
from trainyard.extensions.forecast.subjects import job_names, subject
from trainyard.extensions.operate import drift_shown, shown
from trainyard.extensions.operate.api import Api
from trainyard.extensions.operate.debug import create, debug_job, steps
from trainyard.extensions.operate.drift import compare
from trainyard.extensions.operate.faults import ClusterError
from trainyard.extensions.operate.kubeconfig import connect
from trainyard.extensions.operate.logs import printed, sources
from trainyard.extensions.operate.proof import Expected, prove, unproven
from trainyard.extensions.operate.runs import runs_in
from trainyard.extensions.operate.status import namespaces_of, status
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.near import name_meant
from trainyard.output.emit.yaml import dump
from trainyard.run.history.committed import Committed
from trainyard.run.language.load import platform_of
from trainyard.run.outcome import Compilation, Options, Outcome

_SECOND = 1.0


def asking(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Report why a cluster is not asked, as any other finding."""

    @command
    @wraps(run)
    def reporting(options: argparse.Namespace) -> int:
        try:
            return run(options)
        except ClusterError as fault:
            complain([fault.diagnostic])
            return USAGE
        except _SpecError as fault:
            complain(fault.diagnostics)
            return FINDINGS

    return reporting


class _SpecError(Exception):
    """Errors in the spec, so that nobody knows what its jobs are."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        super().__init__()
        self.diagnostics = diagnostics


@asking
def run_status(options: argparse.Namespace) -> int:
    """``status``: how the jobs of a spec are."""
    require_text_or_json(options)
    settings = run_options(options, explained=True)
    compilation, subject = _one_cluster(options, settings)
    api = connect(options.context)
    with _Progress(options, "asking the cluster"):
        proven = _proven(options, api, subject)
        found = status(
            api,
            subject,
            datetime.now(UTC),
            proven=proven,
            forecast=lambda: _forecasts(compilation, settings),
        )
    if options.format == "json":
        print_out(as_json(shown.values(found)))
    else:
        print_out(visible(shown.text(found)))
    return CLEAN


@asking
def run_drift(options: argparse.Namespace) -> int:
    """``drift``: where the cluster differs from the committed output."""
    require_text_or_json(options)
    settings = run_options(options, explained=True)
    compilation, subject = _one_cluster(options, settings)
    committed = Committed(settings.output / compilation.name)
    api = connect(options.context)
    with _Progress(options, "comparing each object with the cluster"):
        proven = _proven(options, api, subject)
        found = compare(api, compilation.name, committed, proven=proven)
    if options.format == "json":
        print_out(as_json(drift_shown.values(found)))
    else:
        print_out(visible(drift_shown.text(found)))
    return DRIFTED if found.drifted else CLEAN


@asking
def run_logs(options: argparse.Namespace) -> int:
    """``logs``: what the pods of a job print."""
    if options.follow and options.rank is None:
        raise UsageError("`--follow` is for one rank: add `--rank 0`")
    settings = run_options(options, explained=True)
    _, subject = _one_cluster(options, settings)
    _job(subject, options.job)
    api = connect(options.context)
    _proven(options, api, subject)
    found = [run for run in runs_in(api, namespaces_of(subject)) if run.job == options.job]
    if not found:
        raise ClusterError(
            "CLU013",
            f"job `{options.job}` has no run in the cluster",
            "`trainyard status` says more; Flux applies what is merged",
        )
    run = max(found, key=lambda one: one.created)
    for source in sources(run, run.pods(api), options.rank, previous=options.previous):
        prefix = "" if options.rank is not None else f"[{source.who}] "
        for line in printed(api, source, options.tail, follow=options.follow):
            print_out(visible(f"{prefix}{line}\n"))
    return CLEAN


@asking
def run_debug(options: argparse.Namespace) -> int:
    """``debug``: a pod like those of a job, which only sleeps."""
    if options.gpus < 0 or options.minutes < 1:
        raise UsageError("`--gpus` is 0 or more, and `--minutes` 1 or more")
    settings = run_options(options, explained=True)
    _, subject = _one_cluster(options, settings)
    job = _job(subject, options.job)
    body = debug_job(subject.plan, job, options.gpus, options.minutes)
    if options.printed:
        comments = [f"# {line}\n" for line in steps(body)]
        print_out("".join(comments) + dump(body))
        return CLEAN
    api = connect(options.context)
    _proven(options, api, subject)
    create(api, body)
    print_out(visible("".join(f"{line}\n" for line in steps(body))))
    return CLEAN


def _job(subject: Subject, name: str) -> TrainJob:
    """The job of a name in the spec."""
    jobs = {job.source_name or job.name: job for job in subject.plan.of(TrainJob)}
    if name not in jobs:
        hint = name_meant(name, jobs) or f"its jobs are {', '.join(sorted(jobs))}"
        raise ClusterError("CLU012", f"the spec has no job `{name}`", hint)
    return jobs[name]


def _one_cluster(options: argparse.Namespace, settings: Options) -> tuple[Compilation, Subject]:
    """The one cluster of the specs that are named, or that has the job that is asked for, compiled."""
    job = getattr(options, "job", "")
    done = readable(options.paths, settings)
    if not done.compilations:
        raise _SpecError(done.errors())
    compilations = _with_job(done.compilations, job)
    names = [each.name for each in compilations]
    if len(names) != 1:
        words = f"{options.command} {job}".rstrip()
        raise ClusterError(
            "CLU009",
            f"the specs are of {len(names)} clusters, and a context is one: {', '.join(names)}",
            f"name the spec of one: `trainyard {words} specs/NAME.yaml`",
        )
    (compilation,) = compilations
    errors = Outcome([compilation], done.diagnostics).errors()
    if errors:
        raise _SpecError(errors)
    if not compilation.manifests:
        platform = platform_of(compilation.document)
        raise ClusterError(
            "CLU010",
            f"`{compilation.name}` runs on platform `{platform.name}`, which has no Kubernetes API",
            platform.asked_by_hand or "ask its scheduler",
        )
    return compilation, subject(compilation, settings)


def _with_job(compilations: Sequence[Compilation], job: str) -> Sequence[Compilation]:
    """The clusters that have a job; all of them where none has it, or no job is asked for."""
    having = [each for each in compilations if job in job_names(each)]
    if having or not job or len(compilations) == 1:
        return having or compilations
    known = dict.fromkeys(name for each in compilations for name in job_names(each))
    raise ClusterError(
        "CLU012",
        f"no spec of {len(compilations)} clusters has a job `{job}`",
        name_meant(job, known) or "`trainyard report` lists the jobs of each cluster",
    )


def expected(subject: Subject) -> Expected:
    """The cluster of a spec, as it can be recognised."""
    return Expected(subject.name, str(subject.spec.account), subject.spec.region)


def _proven(options: argparse.Namespace, api: Api, subject: Subject) -> bool:
    """Whether the cluster is certainly that of the spec; a note where nobody can say."""
    wanted = expected(subject)
    proven = prove(api, wanted)
    if not proven:
        say(options, f"note[CLU007]: {unproven(api, wanted)}")
    return proven


def _forecasts(compilation: Compilation, settings: Options) -> Mapping[str, str]:
    """What the simulation of the spec says of each job."""

    (found,) = forecasts(Outcome([compilation]), settings, [])
    said = {}
    for verdict in found.verdicts:
        parts = [f"{str(verdict.kind).lower()} {why(verdict)}".strip()]
        if verdict.kind in (Kind.FITS, Kind.UNKNOWN):
            continue
        if verdict.edits:
            parts.append(f"helps: {helps(verdict)}")
        said[verdict.job] = "; ".join(parts)
    return said


class _Progress:
    """What is being waited for, on a terminal and after a second."""

    def __init__(self, options: argparse.Namespace, what: str) -> None:
        self._wanted = sys.stderr.isatty() and not options.quiet
        self._timer = threading.Timer(_SECOND, put_err, (f"{what} …\n",))
        self._timer.daemon = True

    def __enter__(self) -> None:
        if self._wanted:
            self._timer.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._timer.cancel()
