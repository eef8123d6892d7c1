"""Jobs that an earlier run wrote: a TrainJob is immutable, so one that was submitted is neither changed nor run twice.

Each job's entry in ``.manifest.json`` says which object it was submitted as (``object``, ``rerun``), which words of the
spec asked for it (``asked``, a digest of the job and of its pool) and what was made of them (``made``, a digest of the
object's ``spec``). Where only what was made would differ, nobody asked for that (a newer release derives other values,
another DaemonSet takes memory): the job stays as it was submitted. Where the words differ, ``rerun:`` must say so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from compiler.diagnostics import Diagnostic, Severity
from compiler.diagnostics.diagnostic import error
from compiler.emit import MANIFEST, UNREADABLE
from compiler.lift import lift
from compiler.manifest import Manifest
from compiler.plan import Derived, Plan
from compiler.plan.jobs import Runtime, TrainJob
from compiler.plan.nodes import NODEPOOL_LABEL, POOL_LABEL, NodePool
from compiler.source import Document, Route, SourceFile
from compiler.source.parse import parse

_KIND = "TrainJob"
_RUNTIME = "ClusterTrainingRuntime"
_NAMED = 3  # jobs that a message names


def record(plan: Plan, manifests: Iterable[Manifest], document: Document) -> dict[str, dict[str, object]]:
    """The entry of each job, by ``namespace/name`` of the spec."""
    words, made = _Words(plan, document), _job_manifests(manifests)
    return {
        f"{job.namespace}/{job.source_name}": {
            "object": job.name, "rerun": job.rerun, "asked": words.of(job), "made": _made(made[job.name]),
        }
        for job in plan.jobs
    }


def hold(
    plan: Plan, manifests: list[Manifest], document: Document, folder: Path
) -> tuple[Plan, list[Manifest], list[Diagnostic]]:
    """Plan and manifests with every job that was submitted as it was submitted, and what is to be said about it.

    ``folder``: the cluster's folder as an earlier run left it; without one, nothing was submitted.
    """
    past = _Past.read(folder)
    if not past.jobs:
        return plan, manifests, []
    words, made = _Words(plan, document), _job_manifests(manifests)
    found: list[Diagnostic] = []
    held: dict[str, _Held] = {}
    for job in plan.jobs:
        before, new = past.jobs.get(job.source_name), made[job.name]
        if before is None or job.rerun > before.rerun or before.is_same(job, new):
            continue
        kept = past.held(before, job, new) if before.asked == words.of(job) else None
        if kept is None:
            found.append(_second_run(job, before))
        else:
            held[job.name] = kept
    if not held:
        return plan, manifests, found
    plan, manifests = _with(plan, manifests, held)
    return plan, manifests, [*found, _told(list(held.values()))]


def _second_run(job: TrainJob, before: _Submission) -> Diagnostic:
    return error(
        "RES030", f"job `{job.source_name}` was submitted as `{before.object}` and would run a second time", job.at,
        label="what has changed cannot be changed in a TrainJob that exists", key=True,
        help=f"add `rerun: {before.rerun + 1}` to run it anew, or undo the change; `--replace` if it was never pushed",
    )


def _told(held: list[_Held]) -> Diagnostic:
    names = [f"`{each.job.source_name}`" for each in held]
    shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
    verb = "stay as they were" if len(names) > 1 else "stays as it was"
    return Diagnostic(
        "RES036", Severity.NOTE, f"{shown} {verb} submitted: nothing in the spec asks for another run",
        held[0].job.at, label="other values would be derived today", key=True,
        help=f"to run one anew with them, write `rerun: {held[0].job.rerun + 1}`",
    )


@dataclass(frozen=True, slots=True)
class _Submission:
    """A job as it was submitted. ``asked`` and ``made`` are empty where the run that wrote it did not note them."""

    namespace: str
    object: str
    rerun: int
    asked: str
    made: str

    def is_same(self, job: TrainJob, manifest: Manifest) -> bool:
        """Whether it would be submitted just so today."""
        return self.object == job.name and self.made in ("", _made(manifest))


@dataclass(frozen=True, slots=True)
class _Held:
    """A job that stays: its node and its runtime's as they were written, and the objects, word for word."""

    job: TrainJob
    runtime: Runtime
    manifests: tuple[Manifest, Manifest]


@dataclass(frozen=True, slots=True)
class _Past:
    """What an earlier run left in a folder: its index, and its jobs by their name in the spec.

    Nothing where that cannot be read.
    """

    folder: Path
    index: Mapping[str, Any]
    jobs: Mapping[str, _Submission]

    @staticmethod
    def read(folder: Path) -> _Past:
        try:
            index = json.loads((folder / MANIFEST).read_bytes())
            jobs = {
                name: _Submission(namespace, str(each["object"]), int(each["rerun"]), str(each.get("asked", "")),
                                  str(each.get("made", "")))
                for key, each in index["jobs"].items() for namespace, _, name in [key.partition("/")]
            }  # fmt: skip
        except UNREADABLE:
            return _Past(folder, {}, {})
        return _Past(folder, index, jobs)

    def held(self, before: _Submission, job: TrainJob, new: Manifest) -> _Held | None:
        """The submitted job; ``None`` where its files are not as they were written."""
        old = self._manifest(f"{_KIND}/{before.namespace}/{before.object}", new)
        if old is None or before.namespace != job.namespace:
            return None
        runtime = self._manifest(f"{_RUNTIME}/{old.body['spec']['runtimeRef']['name']}", new)
        if runtime is None:
            return None
        lifted = lift([old, runtime], closed=False)
        (node,), (ran,) = lifted.jobs, lifted.runtimes
        node = replace(node, at=job.at, origins=job.origins, source_name=job.source_name, rerun=job.rerun)
        return _Held(node, ran, (old, runtime))

    def _manifest(self, ref: str, new: Manifest) -> Manifest | None:
        try:
            path = self.index["objects"][ref]["path"]
            data = (self.folder / path).read_bytes()
            if self.index["files"][path] != sha256(data).hexdigest():
                return None
        except (OSError, KeyError, TypeError):
            return None
        (document,), _ = parse(SourceFile(path, data.decode()))
        same = new.ref.kind == ref.partition("/")[0]
        return Manifest(document.root.to_python(), path, new.at, new.origins if same else {}, new.lists if same else ())


@dataclass(slots=True)
class _Words:
    """Digests of what the spec says of jobs: the job's own part and that of its pool, bases included."""

    plan: Plan
    document: Document
    _pools: dict[str, str] = field(default_factory=dict)

    def of(self, job: TrainJob) -> str:
        """Sixteen hex digits."""
        if job.runtime not in self._pools:
            runtime = next(each for each in self.plan.runtimes if each.name == job.runtime)
            selectors = [each.pod.node_selector for each in runtime.jobs]
            pools = {pool.at: None for pool in self.plan.node_pools for selector in selectors
                     if pool.name == selector.get(NODEPOOL_LABEL) or _of_pool(pool, selector)}
            self._pools[job.runtime] = _digest([self._said(at) for at in pools])
        return _digest([self._said(job.at), self._pools[job.runtime]])

    def _said(self, route: Route) -> Any:
        return self.document.node(route)[0].to_python()


def _of_pool(pool: NodePool, selector: Mapping[str, str]) -> bool:
    """Whether a NodePool is one of several of the pool that a selector names."""
    return POOL_LABEL in selector and pool.labels.get(POOL_LABEL) == selector[POOL_LABEL]


def _with(plan: Plan, manifests: list[Manifest], held: Mapping[str, _Held]) -> tuple[Plan, list[Manifest]]:
    """What was submitted in the place of what would be; and just those runtimes that jobs refer to."""
    jobs = tuple(held[job.name].job if job.name in held else job for job in plan.jobs)
    used = {job.runtime for job in jobs}
    runtimes = {each.name: each for each in (*plan.runtimes, *(each.runtime for each in held.values()))}
    objects = {
        each.id: each for new in manifests
        for each in (held[new.ref.name].manifests if new.ref.kind == _KIND and new.ref.name in held else (new,))
        if each.ref.kind != _RUNTIME or each.ref.name in used
    }
    names = {f"job/{each.job.source_name}": each.job.name for each in held.values()}
    derived = [each for each in plan.derived if each.object not in names]
    derived += [Derived(job, "name", name, "submitted before, and no other run is asked for", MANIFEST)
                for job, name in names.items()]
    kept = tuple(each for name, each in runtimes.items() if name in used)
    return replace(plan, jobs=jobs, runtimes=kept, derived=tuple(derived)), list(objects.values())


def _job_manifests(manifests: Iterable[Manifest]) -> dict[str, Manifest]:
    return {each.ref.name: each for each in manifests if each.body["kind"] == _KIND}


def _made(manifest: Manifest) -> str:
    return _digest(manifest.body["spec"])


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]

