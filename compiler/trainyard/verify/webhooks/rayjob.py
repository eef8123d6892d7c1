"""RayJob of ray.io/v1: what KubeRay's operator does not run (v1.6.2, ray-operator/controllers/ray/utils/validation.go),
and what Kueue's webhook refuses of one that has a queue (kueue v0.19.2, pkg/controller/jobs/rayjob and raycluster).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.language.diagnostics.diagnostic import listed
from trainyard.output.body import mappings_at, value_at
from trainyard.output.manifest import Body, placeholder
from trainyard.verify.fault import Fault, Path, nearest, never_works, refused
from trainyard.verify.webhooks import Lookup
from trainyard.verify.webhooks._pods import template

GROUP = "ray.io"

_CLUSTER: Path = ("spec", "rayClusterSpec")
_WORKERS: Path = (*_CLUSTER, "workerGroupSpecs")
_QUEUE = "kueue.x-k8s.io/queue-name"
_ELASTIC = "kueue.x-k8s.io/elastic-job"
_HEAD = "head"
_MADE = frozenset({"ray-token"})
"""Volumes that the operator adds to pods where Kubernetes' tokens open Ray (controllers/ray/common/pod.go)."""
_MODES = ("K8sJobMode", "HTTPMode", "InteractiveMode", "SidecarMode")
_NO_SUBMITTER = ("HTTPMode", "InteractiveMode")
_OWN_SUBMITTER = ("submitterPodTemplate", "submitterConfig")


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    """What never runs."""
    spec = value_at(body, "spec") or {}
    cluster = value_at(body, *_CLUSTER)
    selects = bool(spec.get("clusterSelector"))
    if cluster is None and not selects:
        message = "a RayJob has `rayClusterSpec` or `clusterSelector`, and this one neither"
        yield refused(("spec",), message, "write `rayClusterSpec`", key=True)
    yield from _submission(spec, selects=selects)
    queue = value_at(body, "metadata", "labels", _QUEUE)
    if cluster is not None and selects and queue is None:
        yield never_works(
            ("spec", "rayClusterSpec"),
            "`rayClusterSpec` has no effect: the job runs on the cluster of `clusterSelector`",
            "keep one of the two",
            key=True,
            warning=True,
        )
    if isinstance(cluster, dict):
        yield from groups(cluster)
    if queue is not None:
        yield from _queued(body, spec, cluster, selects=selects)


def _submission(spec: dict[str, Any], *, selects: bool) -> Iterator[Fault]:
    mode = spec.get("submissionMode")
    if isinstance(mode, str) and mode not in _MODES and not placeholder(mode):
        yield never_works(
            ("spec", "submissionMode"),
            f"`{mode}` is no way to submit a job",
            nearest(mode, _MODES, f"write {listed(_MODES, ' or ')}"),
        )
    for key in _OWN_SUBMITTER if mode in _NO_SUBMITTER else ():
        if spec.get(key) is not None:
            message = f"`{key}` has no effect: in `{mode}` no pod submits the job"
            yield never_works(("spec", key), message, "remove it", key=True, warning=True)
    if spec.get("suspend") is True and spec.get("shutdownAfterJobFinishes") is not True:
        message = "a suspended RayJob deletes its cluster at the end, and this one keeps it"
        yield refused(("spec", "suspend"), message, "write `shutdownAfterJobFinishes: true`")
    limit = spec.get("backoffLimit") or 0
    if mode == "SidecarMode":
        for key in _OWN_SUBMITTER:
            if spec.get(key) is not None:
                message = f"`{key}` has no place in `SidecarMode`"
                yield refused(("spec", key), message, "remove it", key=True)
    if limit > 0 and (selects or mode == "InteractiveMode"):
        what = "`clusterSelector`" if selects else "`InteractiveMode`"
        message = f"`backoffLimit` {limit} cannot be combined with {what}"
        yield refused(("spec", "backoffLimit"), message, "remove it")
    for key in ("activeDeadlineSeconds", "preRunningDeadlineSeconds"):
        seconds = spec.get(key)
        if seconds is not None and seconds <= 0:
            message = f"`{key}` is {seconds}, and must be above 0"
            yield refused(("spec", key), message, "write a time, or remove it")


def groups(cluster: dict[str, Any], path: Path = _CLUSTER) -> Iterator[Fault]:
    """Faults of the head and the groups of workers of a cluster at a path."""
    yield from _pods((*path, "headGroupSpec"), cluster.get("headGroupSpec"), "the head")
    known: set[Any] = set()
    for index, group in enumerate(mappings_at(cluster, "workerGroupSpecs")):
        here = (*path, "workerGroupSpecs", index)
        given = group.get("groupName")
        name = f"group `{given}`"
        yield from _pods(here, group, name)
        yield from _size(here, group, name)
        if given in known:
            message = f"another group is called `{given}` too"
            yield refused((*here, "groupName"), message, "give each group a name of its own")
        known.add(given)


def _pods(path: Path, group: Any, name: str) -> Iterator[Fault]:
    yield from _starts(path, group)
    yield from template((*path, "template"), value_at(group, "template"), volumes=_MADE)
    if not mappings_at(value_at(group, "template", "spec"), "containers"):
        message = f"{name} has no container"
        yield refused((*path, "template"), message, "write the one that runs Ray")


def _starts(path: Path, group: Any) -> Iterator[Fault]:
    """Each key is an option of `ray start`, of which none has an underscore (Ray 2.48, scripts.py; common/pod.go)."""
    for key in value_at(group, "rayStartParams") or ():
        if "_" in str(key):
            yield never_works(
                (*path, "rayStartParams", key),
                f"`ray start` has no option `--{key}`, and ends at once",
                f"write `{str(key).replace('_', '-')}`",
                key=True,
            )


def _size(path: Path, group: dict[str, Any], name: str) -> Iterator[Fault]:
    least = group.get("minReplicas")
    most = group.get("maxReplicas")
    if least is None or most is None:
        return
    if least <= most:
        return
    message = f"{name} has `minReplicas` {least} above `maxReplicas` {most}"
    yield refused((*path, "minReplicas"), message, f"write at most {most}")


def _queued(body: Body, spec: dict[str, Any], cluster: Any, *, selects: bool) -> Iterator[Fault]:
    """What Kueue's webhook says to a RayJob with a queue."""
    if selects:
        if cluster is not None:
            message = "a RayJob with a queue makes a cluster of its own, and this one takes another"
            help = "remove `clusterSelector`"
            yield refused(("spec", "clusterSelector"), message, help, key=True)
            return
        yield never_works(
            ("metadata", "labels", _QUEUE),
            "a RayJob that takes a cluster by `clusterSelector` is not managed by Kueue: its queue has no effect",
            "give the RayCluster the queue, and remove it here",
            key=True,
            warning=True,
        )
        return
    if spec.get("shutdownAfterJobFinishes") is not True:
        yield refused(
            ("spec", "shutdownAfterJobFinishes"),
            "a RayJob with a queue deletes its cluster at the end, and this one keeps it",
            "write `shutdownAfterJobFinishes: true`",
        )
    if not isinstance(cluster, dict):
        return
    scales = cluster.get("enableInTreeAutoscaling") is True
    if scales and value_at(body, "metadata", "annotations", _ELASTIC) != "true":
        yield refused(
            (*_CLUSTER, "enableInTreeAutoscaling"),
            "a RayJob with a queue has the size that Kueue admitted, and this one scales itself",
            "remove it",
        )
    for index, group in enumerate(mappings_at(cluster, "workerGroupSpecs")):
        if group.get("groupName") == _HEAD:
            message = f"`{_HEAD}` is Kueue's name of the head"
            place = (*_WORKERS, index, "groupName")
            yield refused(place, message, "rename the group")
