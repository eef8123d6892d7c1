"""The host names by which the pods of a job find each other, read from the job's object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from trainyard.judge.model.values import mappings_at, value_at
from trainyard.language.places import Route

_ROLES = (
    *("pytorchReplicaSpecs", "tfReplicaSpecs", "xgbReplicaSpecs", "paddleReplicaSpecs"),
    "jaxReplicaSpecs",
)
_POD = ("spec", "template", "spec")


class Hosts(NamedTuple):
    """The hosts of a job: the name of each group of pods before its numbers, and how many of each number there are.

    ``domain`` is the Service behind a pod's name, empty where each pod has one of its own. ``hidden`` says why no
    host resolves, and at which place.
    """

    groups: Mapping[str, tuple[int, ...]]
    domain: str
    hidden: str = ""
    at: tuple[str, ...] = ()
    help: str = ""

    def has(self, host: str) -> bool:
        """Whether a pod is called so, without its domain."""
        for stem, counts in self.groups.items():
            numbers = "".join(r"-(\d+)" for _ in counts)
            found = re.fullmatch(re.escape(stem) + numbers, host)
            if found and all(
                int(one) < most for one, most in zip(found.groups(), counts, strict=True)
            ):
                return True
        return False

    @property
    def first(self) -> str:
        """The host of the first pod."""
        stem, counts = next(iter(self.groups.items()))
        name = stem + "-0" * len(counts)
        return f"{name}.{self.domain}" if self.domain else name


def hosts_of(body: Any) -> Hosts | None:
    """The hosts of a job's pods by its object; ``None`` for a kind whose pods have none that are known.

    Sources: jobset v0.12.0 (placement.go: GenPodName, network.enableDNSHostnames), batch/v1 Job (completionMode),
    training-operator v1.9.4 (a Service for each replica), mpi-operator v0.8.2 (newWorker).
    """
    name = value_at(body, "metadata", "name")
    if not isinstance(name, str) or not name:
        return None
    kind = str(value_at(body, "kind"))
    if kind == "JobSet":
        return _of_job_set(body, name)
    if kind == "Job" and str(value_at(body, "apiVersion")).startswith("batch/"):
        return _of_job(body, name)
    if kind == "MPIJob":
        count = _count(value_at(body, "spec", "mpiReplicaSpecs", "Worker", "replicas"))
        return Hosts({f"{name}-worker": (count,), f"{name}-launcher": ()}, name)
    for field in _ROLES:
        roles = value_at(body, "spec", field)
        if isinstance(roles, dict):
            groups = {
                f"{name}-{str(role).lower()}": (_count(value_at(spec, "replicas")),)
                for role, spec in roles.items()
            }
            return Hosts(groups, "") if groups else None
    return None


def _of_job_set(body: Any, name: str) -> Hosts | None:
    groups = {}
    for job in mappings_at(body, "spec", "replicatedJobs"):
        spec = value_at(job, "template", "spec")
        pods = value_at(spec, "completions") or value_at(spec, "parallelism")
        groups[f"{name}-{job.get('name')}"] = (_count(job.get("replicas")), _count(pods))
    domain = value_at(body, "spec", "network", "subdomain") or name
    at = ("spec", "network", "enableDNSHostnames")
    hidden = "has `enableDNSHostnames: false`" if value_at(body, *at) is False else ""
    if not groups:
        return None
    return Hosts(groups, str(domain), hidden, at, "write `enableDNSHostnames: true`")


def _of_job(body: Any, name: str) -> Hosts | None:
    domain = value_at(body, *_POD, "subdomain")
    indexed = value_at(body, "spec", "completionMode") == "Indexed"
    count = _count(value_at(body, "spec", "completions") or value_at(body, "spec", "parallelism"))
    hidden, help = "", ""
    if not indexed:
        hidden = "is not Indexed, so that its pods have names by chance"
        help = (
            "write `completionMode: Indexed`, and `subdomain` with a headless Service of that name"
        )
    elif not domain:
        hidden = "has no `subdomain`, so that no name of its pods resolves"
        help = (
            f"write `subdomain: {name}` into the pod template, with a headless Service of that name"
        )
    return Hosts({name: (count,)}, str(domain or name), hidden, (), help)


def _count(written: Any) -> int:
    """A number of pods: 1 where none is said, and any where it cannot be read."""
    if written is None:
        return 1
    return written if isinstance(written, int) else 10**6


def at_hidden(at: Route, hosts: Hosts) -> Route:
    """The place of what hides the hosts of a job."""
    return Route((*at[:1], *hosts.at))
