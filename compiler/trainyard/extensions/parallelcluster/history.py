"""What an edit means for a cluster of ParallelCluster that runs: keys that it never changes or only without nodes, and
jobs that were submitted.

The committed files are the record: ``jobs.sh`` submits what is committed, and ``up.sh`` hands the configuration to
``pcluster update-cluster``. How ParallelCluster takes a change is its update policy of that key (aws-parallelcluster
3.16.1, cluster_schema.py and update_policy.py), with ``QueueUpdateStrategy: DRAIN``, which Trainyard writes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trainyard.core.jobs.reruns import replaced_jobs, second_run
from trainyard.core.jobs.spec import JobsSection
from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.extensions.parallelcluster.cluster.lower import PATH
from trainyard.extensions.parallelcluster.formats.parallelcluster.structure import updates
from trainyard.extensions.parallelcluster.formats.sbatch import lifted
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.models.cluster import ClusterSpec
from trainyard.language.places import Key, Route
from trainyard.output import Artifact
from trainyard.output.body import value_at as value_at
from trainyard.output.emit.committed import CommittedFolder
from trainyard.plan import Plan

__all__ = ["held", "submitted"]

_STOPS = frozenset({"COMPUTE_FLEET_STOP", "COMPUTE_AND_LOGIN_NODES_STOP"})
_LOGIN_STOPS = frozenset(
    {"LOGIN_NODES_POOL_STOP", "LOGIN_NODES_STOP", "LOGIN_NODES_POOLS_UPDATE_POLICY"}
)
_STOPS_ON_REMOVE = frozenset({"COMPUTE_FLEET_STOP_ON_REMOVE", "RESIZE_UPDATE_STRATEGY_ON_REMOVE"})
_DRAINS = frozenset({"QUEUE_UPDATE_STRATEGY", "MANAGED_PLACEMENT_GROUP", "MANAGED_FSX"})
_SPEC = Route(("spec",))
_OLD = "bootstrap/cluster"
_SHOWN = 3  # keys that a message names


@dataclass(frozen=True, slots=True)
class Edit:
    """A key of the configuration that is changed: its ``policy`` of update, what people find it by, and its place in
    the spec. ``adds``: nothing that was there is changed or taken away."""

    policy: str
    shown: str
    at: Route
    adds: bool


def held(
    spec: ClusterSpec,
    plan: Plan,
    artifacts: Sequence[Artifact],
    folder: Path,
    replaced: Sequence[str] = (),
) -> list[Diagnostic]:
    """What is to be said of an edit of what is committed in a cluster's folder. ``replaced``: jobs whose last run was
    never pushed, by name or pattern."""
    committed = CommittedFolder(folder)
    found = list(_of_cluster(artifacts, committed))
    found += _of_jobs(spec, plan, committed, replaced)
    found += committed.faults(artifact.path for artifact in artifacts)
    return found


def submitted(folder: Path) -> set[str]:
    """The names of jobs that are committed in a cluster's folder, and of their runs."""
    names: set[str] = set()
    for job in _committed_jobs(CommittedFolder(folder)):
        names |= {job.source_name, job.name}
    return names


# --- the cluster


def _of_cluster(artifacts: Sequence[Artifact], committed: CommittedFolder) -> Iterator[Diagnostic]:
    edits = list(_edits(artifacts, committed))
    refused = [edit for edit in edits if edit.policy == "UNSUPPORTED"]
    if refused:
        yield _finding(
            refused,
            "CHG032",
            Severity.ERROR,
            "ParallelCluster never changes {keys} of a cluster",
            label="`pcluster update-cluster` refuses it",
            help="change it back; or, when no job runs, take the cluster down by `bootstrap/down.sh --keep-data`, "
            "remove its folder from the output, compile, and bring it up again",
        )
    stopping = [edit for edit in edits if _needs_stop(edit)]
    if stopping:
        yield _finding(
            stopping,
            "CHG033",
            Severity.WARNING,
            "ParallelCluster changes {keys} only while no compute node runs",
            label="`up.sh` fails at `check` as long as nodes run",
            help="when no job runs, `pcluster update-compute-fleet --status STOP_REQUESTED`, then `up.sh`, then the "
            "same with `START_REQUESTED`; a new queue of another name needs no stop",
        )
    logged_in = [edit for edit in edits if edit.policy in _LOGIN_STOPS and not edit.adds]
    if logged_in and _has_login_nodes(committed):
        yield _finding(
            logged_in,
            "CHG036",
            Severity.WARNING,
            "ParallelCluster changes {keys} only while no login node runs",
            label="`up.sh` fails at `check` as long as there are login nodes",
            help="write `count: 0`, compile, run `up.sh`, and make the change after that",
        )
    draining = [edit for edit in edits if edit.policy in _DRAINS]
    if draining:
        yield _finding(
            draining,
            "CHG034",
            Severity.NOTE,
            "nodes are replaced to change {keys}",
            label="each node when its job is over: QueueUpdateStrategy is DRAIN",
            help="nothing, unless a job that runs must restart on the same nodes",
        )


def _has_login_nodes(committed: CommittedFolder) -> bool:
    """Whether what is committed has login nodes that run."""
    pools = value_at(_configuration(committed), "LoginNodes", "Pools")
    return any(pool.get("Count") != 0 for pool in pools or ())


def _finding(
    edits: Sequence[Edit], code: str, severity: Severity, message: str, *, label: str, help: str
) -> Diagnostic:
    names = [edit.shown for edit in edits[:_SHOWN]]
    more = len(edits) - _SHOWN
    if more > 0:
        names.append(f"{more} more")
    return Diagnostic(
        code, severity, message.format(keys=listed(names)), edits[0].at, label=label, help=help
    )


def _needs_stop(edit: Edit) -> bool:
    return edit.policy in _STOPS or (edit.policy in _STOPS_ON_REMOVE and not edit.adds)


def _edits(artifacts: Sequence[Artifact], committed: CommittedFolder) -> Iterator[Edit]:
    """What differs of the configuration."""
    before = _configuration(committed)
    if before is None:
        return  # another platform was committed here, or nothing that can be read
    (cluster,) = [artifact for artifact in artifacts if artifact.path == PATH]
    yield from _changed(before, cluster.body, cluster, (), "", updates())


def _configuration(committed: CommittedFolder) -> dict[str, Any] | None:
    """The configuration that is committed."""
    return committed.template(PATH) or _of_parts(committed)


def _of_parts(committed: CommittedFolder) -> dict[str, Any] | None:
    """The same from the files that it was written in before, with one of its own for each item of a list."""
    body = committed.template(f"{_OLD}/cluster.yaml")
    if body is None:
        return None
    scheduling = {**body["Scheduling"], "SlurmQueues": _items(committed, "queues")}
    head = {**body["HeadNode"]}
    for one in (head, *scheduling["SlurmQueues"]):
        one["Iam"] = {**one["Iam"], "S3Access": _items(committed, "access")}
    return {
        **body,
        "HeadNode": head,
        "Scheduling": scheduling,
        "SharedStorage": _items(committed, "storage"),
    }


def _items(committed: CommittedFolder, folder: str) -> list[dict[str, Any]]:
    paths = committed.files_below(f"{_OLD}/{folder}")
    return [body for body in map(committed.template, paths) if body is not None]


def _changed(
    before: Any,
    after: Any,
    artifact: Artifact,
    route: tuple[Key, ...],
    keys: str,
    known: Mapping[str, str],
    shown: str = "",
) -> Iterator[Edit]:
    """The keys that differ below a key, each by its own policy; items of a list with names are compared by these."""
    if before == after:
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys((*before, *after)):
            path = f"{keys}.{key}" if keys else str(key)
            title = f"{shown}/{key}" if shown else str(key)
            yield from _changed(
                before.get(key), after.get(key), artifact, (*route, key), path, known, title
            )
        return
    old, new = _by_name(before), _by_name(after)
    if old is None or new is None:
        adds = before is None or _grows(before, after)
        yield Edit(known.get(keys, ""), shown, artifact.origin(route), adds)
        return
    numbers = {name: index for index, name in enumerate(new)}
    for name in dict.fromkeys((*old, *new)):
        title = f"{shown}[{name}]"
        if name not in old or name not in new:
            at = artifact.origin((*route, numbers[name]) if name in numbers else route)
            yield Edit(known.get(keys, ""), title, at, adds=name not in old)
            continue
        yield from _changed(
            old[name], new[name], artifact, (*route, numbers[name]), f"{keys}.[]", known, title
        )


def _by_name(value: Any) -> dict[str, Any] | None:
    """The items of a list by their names, where all have one."""
    if value is None:
        return {}
    if not isinstance(value, list) or not all(
        isinstance(item, Mapping) and "Name" in item for item in value
    ):
        return None
    return {str(item["Name"]): item for item in value}


def _grows(before: Any, after: Any) -> bool:
    """Whether a number of nodes is as large as before, or larger."""
    return isinstance(before, int) and isinstance(after, int) and after >= before


# --- jobs


def _of_jobs(
    spec: ClusterSpec, plan: Plan, committed: CommittedFolder, replaced: Sequence[str]
) -> Iterator[Diagnostic]:
    section = JobsSection.of(spec)
    names = replaced_jobs(replaced, section)
    before = {_identity(job): job for job in _committed_jobs(committed)}
    wanted = {_identity(job): job for job in plan.of(BatchJob)}
    for identity, job in wanted.items():
        earlier = before.get(identity)
        if earlier is None or earlier.name == job.name or job.source_name in names:
            continue
        if job.rerun <= earlier.rerun:
            label = "what the spec says of it has changed"
            yield second_run(job, earlier.name, earlier.rerun, job.at, label=label)
        else:
            yield _cancelled(earlier, job.at, f"and `{job.name}` starts after its end")
    completed = {job.name for job in section.jobs if job.completed}
    for identity, job in before.items():
        if identity not in wanted and job.source_name not in completed:
            yield _cancelled(job, _SPEC / "jobs", "since the spec has it no longer")


def _identity(job: BatchJob) -> tuple[str, str]:
    return job.namespace, job.source_name


def _committed_jobs(committed: CommittedFolder) -> list[BatchJob]:
    """The jobs of the batch scripts that are committed, as their format reads them."""
    paths = [path for path in committed.files_below("jobs") if path.endswith(".sbatch")]
    scripts = [Artifact(path=path, text=committed.text(path), format="sbatch") for path in paths]
    return [node for node in lifted(scripts, closed=False) if isinstance(node, BatchJob)]


def _cancelled(job: BatchJob, at: Route, why: str) -> Diagnostic:
    return Diagnostic(
        "CHG035",
        Severity.NOTE,
        f"`jobs.sh` cancels `{job.name}` if it waits or runs, {why}",
        at,
        key=True,
        label="it gets SIGTERM, and has the time of KillWait to save",
        help="nothing, if that is meant; a job that has ended is left out of the spec without effect",
    )
