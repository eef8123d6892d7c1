"""Names of objects: syntax and length by kind, and of the pods named after them.

Sources: pkg/apis/*/validation of k8s.io/kubernetes v1.36 (which kinds want labels and which subdomains);
sigs.k8s.io/jobset v0.12 pkg/webhooks (Job and pod names of a JobSet are labels of at most 63 characters);
helm.sh/helm v3 (release names of at most 53); k8s.io/api batch/v1 (CronJob names of at most 52: its Jobs get 11 more);
kuberay v1.6.2 ray-operator/controllers/ray/utils (RayJob names of at most 47).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from trainyard.output.manifest import Body, group_of
from trainyard.verify.fault import NAME, Fault, Path
from trainyard.verify.jobs import job_objects
from trainyard.verify.syntax import SYNTAXES

# What `metadata.name` must be; other kinds: a DNS subdomain
NAME_SYNTAX: dict[str, str] = {
    **dict.fromkeys(("Namespace", "Service"), "dns-label"),
    **dict.fromkeys(("Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"), "path-segment"),
}
# Kinds whose name is also used as a label value or in names that have a limit: most characters, and why
NAME_LIMIT: dict[str, tuple[int, str]] = {
    "CronJob": (52, "the Jobs of a CronJob get 11 more"),
    "NodePool": (63, "it is the value of the node label `karpenter.sh/nodepool`"),
    "LocalQueue": (63, "it is the value of the label `kueue.x-k8s.io/queue-name`"),
    "WorkloadPriorityClass": (63, "it is the value of the label `kueue.x-k8s.io/priority-class`"),
}
MOST = 63
POD_SUFFIX = len("-abcde")


def name_faults(body: Body, metadata: dict[str, Any], *, namespaced: bool) -> list[Fault]:
    """Faults of an object's name and namespace."""
    faults: list[Fault] = []
    kind = body["kind"]
    name = metadata.get("name")
    is_generated = name is None and metadata.get("generateName")
    if isinstance(name, str) and name:
        faults += _name_faults(body, name)
    elif name in ("", None) and not is_generated:
        message = f"a `{kind}` without a name"
        faults.append(Fault(NAME, "NAM006", _NAME, message, "write `metadata.name`"))
    namespace = metadata.get("namespace")
    if isinstance(namespace, str) and namespace:
        faults += _namespace_faults(kind, namespace, namespaced)
    return faults


_NAME: Path = ("metadata", "name")
_NAMESPACE: Path = ("metadata", "namespace")


def _namespace_faults(kind: str, namespace: str, namespaced: bool) -> Iterator[Fault]:
    syntax = SYNTAXES["dns-label"]
    if not namespaced and kind != "ClusterConfig":
        # The API server drops it (k8s.io/apiserver v0.36, EnsureObjectNamespaceMatchesRequestNamespace).
        message = f"a `{kind}` has no namespace, and `{namespace}` is given"
        yield Fault(NAME, "NAM007", _NAMESPACE, message, "leave it out", key=True, warning=True)
    elif not syntax.accepts(namespace):
        help = syntax.advice(namespace)
        yield Fault(NAME, syntax.code, _NAMESPACE, syntax.breach(namespace), help)


def _name_faults(body: Body, name: str) -> Iterator[Fault]:
    kind = body["kind"]
    group = group_of(str(body["apiVersion"]))
    wanted, limit = NAME_SYNTAX.get(kind, "dns-subdomain"), NAME_LIMIT.get(kind)
    of_jobs = job_objects().get((group, kind))
    if of_jobs is not None:
        wanted, limit = of_jobs.name_syntax, of_jobs.name_limit
    syntax = SYNTAXES[wanted]
    if not syntax.accepts(name):
        is_too_long = len(name) > syntax.longest
        code = "NAM002" if is_too_long else syntax.code
        yield Fault(NAME, code, _NAME, syntax.breach(name), syntax.advice(name))
    if limit is not None and len(name) > limit[0]:
        yield too_long(_NAME, name, *limit)


def tightest_length(faults: list[Fault]) -> list[Fault]:
    """Of several limits that a name exceeds the last: that of what is named after it."""
    lengths = [fault for fault in faults if fault.code == "NAM002" and fault.path == _NAME]
    if len(lengths) < 2:
        return faults
    return [fault for fault in faults if fault not in lengths[:-1]]


def too_long(path: Path, name: str, most: int, why: str) -> Fault:
    """The fault of a name that is valid by itself and too long for what is made of it."""
    length = f"`{name}` has {len(name)} characters"
    message = f"{length}, at most {most} fit: {why}"
    return Fault(NAME, "NAM002", path, message, f"leave out {len(name) - most}")


@lru_cache(maxsize=256)
def characters_added(job: str, replicas: int, pods: int) -> int:
    """Characters that a JobSet adds to its own name for a pod: ``-node-0-3-abcde`` is 15.

    A Job is named JOBSET-JOB-INDEX and its pod JOB-INDEX plus a suffix of six.
    """
    return len(_last_pod(job, replicas, pods)) + POD_SUFFIX


def _last_pod(job: str, replicas: int, pods: int) -> str:
    last_replica = max(replicas, 1) - 1
    last_pod = max(pods, 1) - 1
    return f"-{job}-{last_replica}-{last_pod}"


def pod_name_faults(name: str, jobs: Iterable[tuple[str, int, int]]) -> list[Fault]:
    """The fault of a JobSet's or TrainJob's name, by its replicated jobs (name, replicas, pods of each), if pods'
    names are too long.
    """
    rooms = [(MOST - characters_added(*job), job) for job in jobs]
    tightest = min(rooms, default=None)
    if tightest is None:
        return []
    room, job = tightest
    if len(name) <= room:
        return []
    shown = f"`{name}{_last_pod(*job)}-abcde`"
    why = f"a pod would be called {shown}, and that has at most {MOST}"
    most = max(room, 0)
    return [too_long(_NAME, name, most, why)]
