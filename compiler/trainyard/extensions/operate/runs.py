"""The runs of a cluster: objects that run jobs, as the API server has them, with what Kueue and JobSet say of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from http import HTTPStatus
from typing import Any

from trainyard.core.jobs.plan import SPEC_NAME
from trainyard.eks.jobs.kind import JobKind
from trainyard.eks.jobs.kinds import kind_called, kinds
from trainyard.eks.jobs.plan import TRAIN_JOB
from trainyard.extensions.operate.api import Api, path_of
from trainyard.extensions.operate.faults import RefusedError
from trainyard.output.body import mappings_at, value_at
from trainyard.output.lowering.body import MANAGED_BY
from trainyard.output.manifest import Body

_KUEUE = "kueue.x-k8s.io"


class Run:
    """An object that runs a job. ``workload`` is what Kueue makes of it, ``jobset`` what Trainer does; ``None`` where
    there is none."""

    def __init__(
        self, kind: JobKind, body: Body, workload: Body | None, jobset: Body | None
    ) -> None:
        self.kind = kind
        self.body = body
        self.workload = workload
        self.jobset = jobset

    @property
    def name(self) -> str:
        """The name of its object."""
        return str(self.body["metadata"]["name"])

    @property
    def namespace(self) -> str:
        return str(self.body["metadata"]["namespace"])

    @property
    def job(self) -> str:
        """The name of its job in the spec."""
        labels = self.body["metadata"].get("labels") or {}
        return str(labels.get(SPEC_NAME, self.name))

    @property
    def created(self) -> datetime:
        """When its object was made."""
        return time_of(self.body["metadata"]["creationTimestamp"])

    @property
    def queue(self) -> str:
        """The LocalQueue that it is in; empty where Kueue does not queue it."""
        labels = self.body["metadata"].get("labels") or {}
        return str(labels.get(f"{_KUEUE}/queue-name", ""))

    @cached_property
    def conditions(self) -> Mapping[str, Body]:
        """What its own controller says of it, by type."""
        return conditions(self.body)

    @cached_property
    def verdicts(self) -> Mapping[str, Body]:
        """What Kueue says of it, by type."""
        return conditions(self.workload)

    def pods(self, api: Api) -> list[Body]:
        """Its pods that there are, of this attempt and, where their controller keeps those, of earlier ones."""
        labels = self.kind.run_pods
        value = value_at(self.body, *labels.named_at) if labels.named_at else self.name
        if not isinstance(value, str) or not value:
            return []
        return api.items(path_of("v1", "pods", self.namespace), {labels.run: value})


def runs_in(api: Api, namespaces: Iterable[str], used: Iterable[str] = ()) -> list[Run]:
    """All runs in some namespaces that a compilation submitted, in the order in which they were submitted; ``used``:
    the kinds of jobs that must be readable. Kinds that the cluster does not serve have no runs."""
    required = {kind_called(name).name for name in used}
    found: list[Run] = []
    for namespace in namespaces:
        found += _runs_of(api, namespace, required)
    return sorted(found, key=lambda run: (run.created, run.namespace, run.name))


def _runs_of(api: Api, namespace: str, required: set[str]) -> Iterator[Run]:
    objects: list[tuple[JobKind, Body]] = []
    for kind in kinds().values():
        try:
            bodies = api.items(path_of(kind.api, kind.plural, namespace), MANAGED_BY)
        except RefusedError as fault:
            # A team's Role names only the kinds that the spec has.
            if fault.status == HTTPStatus.FORBIDDEN and kind.name not in required:
                continue
            raise
        objects += [(kind, body) for body in bodies if not _is_owned(body)]
    if not objects:
        return
    workloads = _by_owner(workloads_in(api, namespace))
    jobsets = {}
    if any(kind.name == TRAIN_JOB for kind, _ in objects):
        jobset = kind_called("JobSet")
        jobsets = _by_owner(api.items(path_of(jobset.api, jobset.plural, namespace)))
    for kind, body in objects:
        uid = body["metadata"]["uid"]
        own = body if kind.name == "JobSet" else jobsets.get(uid)
        yield Run(kind, body, workloads.get(uid), own)


def workloads_in(api: Api, namespace: str) -> list[Body]:
    """Kueue's Workloads of a namespace."""
    version = api.preferred.get(_KUEUE)
    if version is None:
        return []
    return api.items(path_of(version, "workloads", namespace))


def _is_owned(body: Body) -> bool:
    return bool(body["metadata"].get("ownerReferences"))


def _by_owner(bodies: Iterable[Body]) -> dict[str, Body]:
    """Objects by the uid of their controller."""
    found = {}
    for body in bodies:
        for owner in mappings_at(body, "metadata", "ownerReferences"):
            if owner.get("controller"):
                found[str(owner["uid"])] = body
    return found


def conditions(body: Body | None) -> dict[str, Body]:
    """The conditions in the status of an object, by type."""
    return {str(each["type"]): each for each in mappings_at(body, "status", "conditions")}


def is_true(found: Mapping[str, Body], *types: str) -> bool:
    """Whether a condition of one of these types holds."""
    return any(value_at(found, name, "status") == "True" for name in types)


def time_of(text: Any) -> datetime:
    """A time as the API server writes it."""
    return datetime.fromisoformat(str(text))
