"""Runs: the record of each job that was ever submitted and may still exist in the cluster.

A run is remembered in ``runs/<namespace>.<object>.json`` of the cluster's folder, by what its job says of itself: no
edit of another job, a pool or a queue changes it. Flux reads no folder of that name.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Any

from trainyard.core.pods.plan import GPU, NEURON
from trainyard.disk.inputs import read_bytes, walk
from trainyard.eks.jobs.heads import JOBS
from trainyard.eks.jobs.kinds import kind_called, kind_of_object, kinds
from trainyard.eks.jobs.plan import TRAIN_JOB, TrainJob, runtime_of
from trainyard.language.dataclass import dataclass
from trainyard.language.units import Quantity
from trainyard.output.emit import UNREADABLE
from trainyard.output.emit.marker import KEY
from trainyard.output.lowering.body import object_path
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.run.history.words import Words, digest

FOLDER = "runs"
SUBMITTED = "submitted"
LEFT = "left"
ENDED = "ended"
_RUNTIME = "ClusterTrainingRuntime"
# Of several runs of a job with the same number, the one with the last of these states counts.
_STATES = (ENDED, LEFT, SUBMITTED)


@dataclass(frozen=True, slots=True)
class Run:
    """One TrainJob, or job of another ``kind``, as it was submitted, and what it needs as long as it runs.

    ``state``: ``submitted`` while the spec asks for it; ``left`` when the spec no longer does and nobody said that it
    has ended; ``ended`` when the spec says so. ``accelerators`` are those of all nodes, by resource. ``landing`` is
    what the nodes of its pool were when it left (``run.history.landing``). ``asked`` and ``work`` are digests of
    the words of the spec, with and without the job's name; ``made`` is one of the TrainJob's ``spec``, and ``ran`` of
    its runtime's. A digest is empty where it was not noted. ``fallbacks`` are pools that it may be on instead of
    ``pool``. ``pods``: of a run that has left, how many pods of a kind it has, and what each asks for.
    """

    job: str
    namespace: str
    object: str
    rerun: int = 0
    state: str = SUBMITTED
    asked: str = ""
    work: str = ""
    made: str = ""
    runtime: str = ""
    ran: str = ""
    queue: str = ""
    pool: str = ""
    nodes: int = 0
    accelerators: Mapping[str, int] = field(default_factory=dict)
    landing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    storage: tuple[str, ...] = ()
    priority: str = ""
    fallbacks: tuple[str, ...] = ()
    kind: str = TRAIN_JOB
    pods: tuple[tuple[int, Mapping[str, str]], ...] = ()

    @property
    def path(self) -> str:
        """The file that remembers it, relative to the cluster's folder."""
        return f"{FOLDER}/{self.namespace}.{self.object}.json"

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name of its object."""
        return self.namespace, self.object

    @property
    def ref(self) -> str:
        """How its object is referred to: ``Kind/namespace/name``."""
        return f"{kind_called(self.kind).kind}/{self.namespace}/{self.object}"

    @property
    def committed_path(self) -> str:
        """The file of its object, relative to the cluster's folder."""
        return object_path(JOBS, kind_called(self.kind).kind, self.object, self.namespace)

    @property
    def left(self) -> bool:
        """Whether it goes on although the spec does not ask for it."""
        return self.state == LEFT

    @property
    def order(self) -> tuple[int, int]:
        """Later runs of a job stand higher."""
        return self.rerun, _STATES.index(self.state)

    def to_bytes(self) -> bytes:
        """The content of its file."""
        words = {name: getattr(self, name) for name in _NAMES}
        if not self.fallbacks:
            del words["fallbacks"]  # as Trainyard wrote it before there were any
        if not self.pods:
            del words["pods"]
        if self.kind == TRAIN_JOB:  # as runs were noted before there were other kinds
            del words["kind"]
        return _indented(words, "\n").encode() + b"\n"

    def is_same(self, job: TrainJob, manifest: Manifest) -> bool:
        """Whether the job would be submitted the same way today."""
        if self.object != job.name or self.kind != job.kind:
            return False
        spec = manifest.body["spec"]
        return self.made in ("", digest(spec))

    def row(self) -> tuple[str, ...]:
        """Its line in the report."""
        return (
            f"{self.namespace}/{self.object}",
            self.job,
            str(self.nodes),
            self.pool,
            self.ends_with(),
        )

    def shown_with(self) -> str:
        """The command that shows it."""
        word = kind_called(self.kind).word
        return f"kubectl get {word} {self.object} -n {self.namespace}"

    def ends_with(self) -> str:
        """The command that ends it."""
        word = kind_called(self.kind).word
        return f"kubectl delete {word} {self.object} -n {self.namespace}"


_NAMES = tuple(column.name for column in fields(Run))


def _indented(value: object, line: str) -> str:
    """JSON of one space a level. The standard library's indents in Python, and leaves a cycle of functions each time,
    which stays in memory as long as the collector is off."""
    below = line + " "
    if isinstance(value, Mapping) and value:
        entries = [f"{json.dumps(key)}: {_indented(entry, below)}" for key, entry in value.items()]
        content = f",{below}".join(entries)
        return f"{{{below}{content}{line}}}"
    if isinstance(value, (list, tuple)) and value:
        items = [_indented(item, below) for item in value]
        content = f",{below}".join(items)
        return f"[{below}{content}{line}]"
    return json.dumps(value)


def submitted(plan: Plan, manifests: Sequence[Manifest], words: Words) -> list[Run]:
    """The run of each job of a plan."""
    objects = job_manifests(manifests)
    runtimes = {
        manifest.ref.name: digest(manifest.body["spec"])
        for manifest in manifests
        if manifest.body["kind"] == _RUNTIME
    }
    runs = []
    for job in plan.of(TrainJob):
        if job.kind == TRAIN_JOB:
            runtime = job.runtime
        else:
            runtime = ""
        manifest = objects[job.kind, job.name]
        run = Run(
            job=job.source_name,
            namespace=job.namespace,
            object=job.name,
            rerun=job.rerun,
            asked=words.asked(job),
            work=words.work(job),
            made=digest(manifest.body["spec"]),
            runtime=runtime,
            ran=runtimes.get(job.runtime, ""),
            queue=job.queue or "",
            pool=job.pool,
            fallbacks=job.fallbacks,
            nodes=job.whole_nodes,
            accelerators=_accelerators(job),
            storage=_claims(plan, job),
            priority=job.priority or "",
            kind=job.kind,
        )
        runs.append(run)
    return runs


def _accelerators(job: TrainJob) -> dict[str, int]:
    nodes = job.nodes or 1
    accelerators = {}
    for resource in (GPU, NEURON):
        count = job.asks(resource)
        if count:
            accelerators[resource] = count.value * nodes
    return accelerators


def _claims(plan: Plan, job: TrainJob) -> tuple[str, ...]:
    pods = [patch.pod for patch in job.patches]
    if job.kind != TRAIN_JOB:
        own = runtime_of(plan, job)
    else:
        own = None
    if own is not None:
        pods = [part.pod for part in own.jobs]
    claims = [
        volume.source
        for pod in pods
        for volume in pod.volumes
        if volume.type == "persistentVolumeClaim"
    ]
    return tuple(dict.fromkeys(claims))


def job_manifests(manifests: Iterable[Manifest]) -> dict[tuple[str, str], Manifest]:
    """The objects that may be jobs of the spec among manifests, by kind and name; none that the spec includes but
    TrainJobs."""
    jobs = {}
    for manifest in manifests:
        kind = kind_of_object(manifest.ref.group, manifest.ref.kind)
        if kind is None:
            continue
        is_own = not manifest.key
        if is_own or kind.name == TRAIN_JOB:
            jobs[kind.name, manifest.ref.name] = manifest
    return jobs


def read_runs(folder: Path) -> tuple[list[Run], list[str]]:
    """The runs that an earlier compilation left in a folder; and the files of those that cannot be read: edited, merged
    by hand, or written by a newer Trainyard."""
    runs: list[Run] = []
    broken: list[str] = []
    for path in sorted(_files(os.path.join(folder, FOLDER))):
        run = _read(path)
        if run is None:
            broken.append(path)
        else:
            runs.append(run)
    return runs, broken


def _files(folder: str) -> Iterator[str]:
    """The files of runs in a folder, at any depth."""
    for parent, _, names in walk(folder):
        for name in names:
            if name.endswith(".json"):
                yield os.path.join(parent, name)


def _read(path: str) -> Run | None:
    try:
        words = json.loads(read_bytes(path))
        words.pop(KEY, None)
        run = Run(**words)
        if not _is_sound(run):
            return None
        pods = tuple((count, asks) for count, asks in run.pods)
        return replace(run, storage=tuple(run.storage), fallbacks=tuple(run.fallbacks), pods=pods)
    except UNREADABLE:
        return None


def _is_sound(run: Run) -> bool:
    """Whether every value has its type: the file may have been edited, or merged by hand."""
    texts = (
        run.job,
        run.namespace,
        run.object,
        run.asked,
        run.work,
        run.made,
        run.runtime,
        run.ran,
        run.queue,
        run.pool,
        run.priority,
    )
    names = [*texts, *run.storage, *run.fallbacks]
    for values in run.landing.values():
        names += values
    for _, asks in run.pods:
        names += asks
        if any(Quantity.read(amount) is None for amount in asks.values()):
            return False
    if not all(isinstance(name, str) for name in names):
        return False
    counts = (run.rerun, run.nodes, *run.accelerators.values(), *(count for count, _ in run.pods))
    if not all(type(count) is int for count in counts):
        return False
    return run.state in _STATES and run.kind in kinds()


def runs_of_index(index: Mapping[str, Any]) -> list[Run]:
    """Runs as Trainyard 0.1 noted them, all in ``.manifest.json``."""
    runs = []
    try:
        for key, entry in index.get("jobs", {}).items():
            namespace, _, job = key.partition("/")
            runs.append(
                Run(
                    job,
                    namespace,
                    str(entry["object"]),
                    int(entry["rerun"]),
                    asked=str(entry.get("asked", "")),
                    made=str(entry.get("made", "")),
                )
            )
    except UNREADABLE:
        return []
    return runs
