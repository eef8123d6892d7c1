"""Records what a real Kueue decides in random scenarios: the data of ``agreement.py``.

``python -m tests.simulate.record FILE [--fair] [--from SEED] [--count N]`` asks the cluster of ``KUBECONFIG``, which
must have Kueue and JobSet, and for topologies nodes of kwok, whose pods never end. ``--fair`` says in the records that
the manager's configuration has fair sharing. Each scenario has objects and a namespace of its own by a prefix, which is
taken off in the record. It is recorded twice: one that does not come out the same, by two reservations in one second or
by uids, is left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any

from kubernetes import client, config

GROUP, VERSION = "kueue.x-k8s.io", "v1beta2"
KUEUE = f"{GROUP}/{VERSION}"
GPU = "nvidia.com/gpu"
LAYER, HOST = "topology.k8s.aws/network-node-layer-3", "kubernetes.io/hostname"
NAMESPACE = "team"
PRIORITIES = {"low": 10, "mid": 100, "high": 1000}
_QUIET, _MOST = 2.5, 40.0
_AT_ONCE, _FRESH = 7, 0.5
Body = dict[str, Any]


# -- random scenarios


def scenario(seed: int, *, fair: bool) -> Body:
    """The objects and submissions of a seed."""
    dice = random.Random(seed)
    with_sets = dice.random() < 0.4
    placed = dice.random() < 0.45
    flavors = ["main"] if placed or dice.random() < 0.5 else ["main", "spare"]
    queues = [_queue(dice, name, flavors, fair=fair) for name in "abc"[: dice.randint(1, 3)]]
    cohorts = _cohorts(dice, queues, flavors, fair=fair)
    nodes = _nodes(dice) if placed else []
    return {
        "id": seed,
        "dimension": _dimension(with_sets, placed, fair, cohorts),
        "kind": "JobSet" if with_sets else "Job",
        "namespaces": {NAMESPACE: {}},
        "objects": {
            "resourceFlavors": [_flavor(name, placed=placed) for name in flavors],
            "topologies": [_topology()] if placed else [],
            "cohorts": cohorts,
            "clusterQueues": queues,
            "localQueues": [_local(queue["metadata"]["name"]) for queue in queues],
            "priorityClasses": [_priority(name, value) for name, value in PRIORITIES.items()],
            "nodes": nodes,
        },
        "submissions": list(_submissions(dice, queues, with_sets=with_sets, placed=placed)),
        "fair": fair,
    }


def _dimension(with_sets: bool, placed: bool, fair: bool, cohorts: list[Body]) -> str:
    words = ["fair"] if fair else []
    if any(each["spec"] for each in cohorts):
        words.append("tree")
    if with_sets:
        words.append("sets")
    if placed:
        words.append("placed")
    return "-".join(words) or "quota"


def _body(kind: str, name: str, spec: Body, **more: Any) -> Body:
    return {"apiVersion": KUEUE, "kind": kind, "metadata": {"name": name, **more}, "spec": spec}


def _flavor(name: str, *, placed: bool) -> Body:
    spec: Body = {"nodeLabels": {"node-pool": name}}
    if placed:
        spec["topologyName"] = "net"
    return _body("ResourceFlavor", name, spec)


def _topology() -> Body:
    return _body("Topology", "net", {"levels": [{"nodeLabel": LAYER}, {"nodeLabel": HOST}]})


def _nodes(dice: random.Random) -> list[Body]:
    nodes = []
    for layer in range(dice.randint(1, 3)):
        for number in range(dice.randint(1, 4)):
            name = f"n{layer}{number}"
            room = {"cpu": "190", "memory": "1820Gi", GPU: "8", "pods": "110"}
            nodes.append(
                {
                    "apiVersion": "v1",
                    "kind": "Node",
                    "metadata": {
                        "name": name,
                        "labels": {"node-pool": "main", LAYER: f"nn-{layer}", HOST: name},
                        "annotations": {"kwok.x-k8s.io/node": "fake"},
                    },
                    "spec": {},
                    "status": {"allocatable": room, "capacity": room},
                }
            )
    return nodes


def _queue(dice: random.Random, name: str, flavors: list[str], *, fair: bool) -> Body:
    spec: Body = {
        "namespaceSelector": {},
        "queueingStrategy": dice.choice(["StrictFIFO", "BestEffortFIFO"]),
        "resourceGroups": [
            {
                "coveredResources": [GPU],
                "flavors": [
                    {
                        "name": flavor,
                        "resources": [{"name": GPU, "nominalQuota": str(dice.choice([8, 16, 24]))}],
                    }
                    for flavor in flavors
                ],
            }
        ],
    }
    preemption: Body = {}
    if dice.random() < 0.7:
        preemption["withinClusterQueue"] = dice.choice(
            ["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
        )
    if dice.random() < 0.6:
        preemption["reclaimWithinCohort"] = dice.choice(["Never", "LowerPriority", "Any"])
    if (
        not fair
        and preemption.get("reclaimWithinCohort", "Never") != "Never"
        and dice.random() < 0.3
    ):
        preemption["borrowWithinCohort"] = {"policy": "LowerPriority"}
    if preemption:
        spec["preemption"] = preemption
    if len(flavors) > 1 and dice.random() < 0.6:
        spec["flavorFungibility"] = {
            "whenCanBorrow": dice.choice(["MayStopSearch", "TryNextFlavor"]),
            "whenCanPreempt": dice.choice(["MayStopSearch", "TryNextFlavor"]),
        }
    if fair and dice.random() < 0.5:
        spec["fairSharing"] = {"weight": str(dice.choice([1, 2, 3]))}
    return _body("ClusterQueue", name, spec)


def _cohorts(
    dice: random.Random, queues: list[Body], flavors: list[str], *, fair: bool
) -> list[Body]:
    """None, one of all queues, or a tree with quotas of its own."""
    if len(queues) == 1 or dice.random() < 0.2:
        return []
    for queue in queues:
        queue["spec"]["cohortName"] = "all"
        if "borrowWithinCohort" in queue["spec"].get("preemption", {}):
            continue
        quotas = queue["spec"]["resourceGroups"][0]["flavors"]
        for flavor in quotas:
            quota = flavor["resources"][0]
            if dice.random() < 0.3:
                quota["lendingLimit"] = str(dice.choice([0, 8]))
            if dice.random() < 0.3:
                quota["borrowingLimit"] = str(dice.choice([0, 8]))
    for queue in queues:
        if "cohortName" not in queue["spec"]:
            queue["spec"].get("preemption", {}).pop("borrowWithinCohort", None)
    if dice.random() < 0.6:
        return []
    queues[-1]["spec"]["cohortName"] = "part"
    shared = {
        "coveredResources": [GPU],
        "flavors": [
            {"name": flavor, "resources": [{"name": GPU, "nominalQuota": "8"}]}
            for flavor in flavors
        ],
    }
    weight = {"fairSharing": {"weight": "2"}} if fair and dice.random() < 0.5 else {}
    return [
        _body("Cohort", "all", {"resourceGroups": [shared]}),
        _body("Cohort", "part", {"parentName": "all", **weight}),
    ]


def _local(queue: str) -> Body:
    return _body("LocalQueue", queue, {"clusterQueue": queue}, namespace=NAMESPACE)


def _priority(name: str, value: int) -> Body:
    return {
        "apiVersion": KUEUE,
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": value,
    }


def _submissions(
    dice: random.Random, queues: list[Body], *, with_sets: bool, placed: bool
) -> Iterator[Body]:
    alive: list[str] = []
    for step in range(1, dice.randint(5, 8) + 1):
        if len(alive) > 1 and dice.random() < 0.25:
            name = alive.pop(dice.randrange(len(alive)))
            yield {"step": step, "op": "delete", "name": name, "namespace": NAMESPACE}
            continue
        name = f"j{step}"
        alive.append(name)
        job: Body = {
            "step": step,
            "op": "create",
            "name": name,
            "namespace": NAMESPACE,
            "queue": dice.choice(queues)["metadata"]["name"],
        }
        if dice.random() < 0.6:
            job["priorityClass"] = dice.choice(list(PRIORITIES))
        if with_sets:
            parts = dice.randint(1, 3)
            job["sets"] = [
                {"name": f"s{number}", **_pods(dice, placed=placed)} for number in range(parts)
            ]
        else:
            job |= _pods(dice, placed=placed)
        yield job


def _pods(dice: random.Random, *, placed: bool) -> Body:
    part: Body = {"numNodes": dice.randint(1, 3), "perPod": {GPU: str(dice.choice([2, 4, 8]))}}
    if placed:
        mode = dice.choice(["required", "preferred", "unconstrained"])
        part["topology"] = {"mode": mode}
        if mode != "unconstrained":
            part["topology"]["level"] = dice.choice([LAYER, HOST])
    return part


# -- one scenario on a cluster


class Seen:
    """The workloads and queues of the cluster, asked for once for all scenarios that are under way."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._at = 0.0
        self._workloads: dict[str, list[Body]] = {}
        self._queues: dict[str, Body] = {}

    def now(self) -> tuple[dict[str, list[Body]], dict[str, Body]]:
        """Workloads by namespace, and queues by name, no older than half a second."""
        with self._lock:
            if time.monotonic() - self._at > _FRESH:
                api = client.CustomObjectsApi()
                found: dict[str, list[Body]] = {}
                for each in api.list_cluster_custom_object(GROUP, VERSION, "workloads")["items"]:
                    found.setdefault(each["metadata"]["namespace"], []).append(each)
                queues = api.list_cluster_custom_object(GROUP, VERSION, "clusterqueues")["items"]
                self._workloads = found
                self._queues = {each["metadata"]["name"]: each for each in queues}
                self._at = time.monotonic()
            return self._workloads, self._queues


class Recorder:
    """A scenario under way. All names that belong to no namespace, and the namespace, begin with its prefix."""

    def __init__(self, case: Body, prefix: str, seen: Seen) -> None:
        self._case = case
        self._seen = seen
        self._prefix = prefix
        self._api = client.CustomObjectsApi()
        self._core = client.CoreV1Api()
        self._namespace = self._own(NAMESPACE)

    def _own(self, name: str) -> str:
        return f"{self._prefix}{name}"

    def record(self) -> Body:
        """The scenario with what Kueue had decided after each step."""
        self._make()
        try:
            steps = []
            for submission in self._case["submissions"]:
                self._submit(submission)
                steps.append({"step": submission["step"], **self._settled()})
        finally:
            self._remove()
        return {**self._case, "after": steps}

    def _make(self) -> None:
        labels = {"kubernetes.io/metadata.name": self._namespace}
        meta = client.V1ObjectMeta(name=self._namespace, labels=labels)
        self._core.create_namespace(client.V1Namespace(metadata=meta))
        objects = self._case["objects"]
        for section in ("topologies", "resourceFlavors", "cohorts", "clusterQueues", "localQueues"):
            for body in objects[section]:
                self._create(self._renamed(body))
        for body in objects["priorityClasses"]:
            self._create(self._renamed(body))
        for node in objects["nodes"]:
            self._core.create_node(self._renamed_node(node))
        time.sleep(3)

    def _renamed(self, body: Body) -> Body:
        own = json.loads(json.dumps(body))
        own["metadata"]["name"] = self._own(own["metadata"]["name"])
        if own["kind"] == "LocalQueue":
            own["metadata"] |= {"name": body["metadata"]["name"], "namespace": self._namespace}
            own["spec"]["clusterQueue"] = self._own(own["spec"]["clusterQueue"])
        spec = own.get("spec", {})
        for key in ("cohortName", "parentName", "topologyName"):
            if key in spec:
                spec[key] = self._own(spec[key])
        for group in spec.get("resourceGroups", ()):
            for flavor in group["flavors"]:
                flavor["name"] = self._own(flavor["name"])
        if own["kind"] == "ResourceFlavor":
            spec["nodeLabels"] = {"node-pool": self._own(body["metadata"]["name"])}
        return own

    def _renamed_node(self, node: Body) -> Body:
        own = json.loads(json.dumps(node))
        labels = own["metadata"]["labels"]
        own["metadata"]["name"] = self._own(own["metadata"]["name"])
        labels["node-pool"] = self._own(labels["node-pool"])
        labels[HOST] = own["metadata"]["name"]
        labels[LAYER] = self._own(labels[LAYER])
        found: Body = own
        return found

    def _create(self, body: Body) -> None:
        plural = _PLURALS[body["kind"]]
        group, version = body["apiVersion"].split("/")
        namespace = body["metadata"].get("namespace")
        if namespace:
            self._api.create_namespaced_custom_object(group, version, namespace, plural, body)
        else:
            self._api.create_cluster_custom_object(group, version, plural, body)

    def _submit(self, submission: Body) -> None:
        if submission["op"] == "delete":
            self._delete_job(submission["name"])
            return
        _next_second()
        body = _jobset(submission) if "sets" in submission else _job(submission)
        labels = body["metadata"].setdefault("labels", {})
        labels["kueue.x-k8s.io/queue-name"] = submission["queue"]
        if "priorityClass" in submission:
            labels["kueue.x-k8s.io/priority-class"] = self._own(submission["priorityClass"])
        if "sets" in submission:
            made = self._api.create_namespaced_custom_object(
                "jobset.x-k8s.io", "v1alpha2", self._namespace, "jobsets", body
            )
            created = made["metadata"]["creationTimestamp"]
        else:
            job = client.BatchV1Api().create_namespaced_job(self._namespace, body)
            created = job.metadata.creation_timestamp.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        submission["creationTimestamp"] = created

    def _delete_job(self, name: str) -> None:
        if self._case["kind"] == "JobSet":
            self._api.delete_namespaced_custom_object(
                "jobset.x-k8s.io",
                "v1alpha2",
                self._namespace,
                "jobsets",
                name,
                propagation_policy="Foreground",
            )
        else:
            client.BatchV1Api().delete_namespaced_job(
                name, self._namespace, propagation_policy="Background"
            )

    def _settled(self) -> Body:
        """The state once nothing has changed for a while."""
        started = last = time.monotonic()
        seen: Body = {}
        while True:
            now = self._state()
            if now != seen:
                seen, last = now, time.monotonic()
            quiet = _QUIET
            if any(job["reason"] is None for job in now["jobs"].values() if not job["admitted"]):
                quiet = 2 * _QUIET
            if time.monotonic() - last > quiet or time.monotonic() - started > _MOST:
                return now
            time.sleep(0.4)

    def _state(self) -> Body:
        workloads, queues = self._seen.now()
        jobs = {}
        for workload in workloads.get(self._namespace, ()):
            if workload["metadata"].get("deletionTimestamp"):
                continue
            owner = next(iter(workload["metadata"].get("ownerReferences") or ()), None)
            if owner is not None:
                jobs[owner["name"]] = self._of_job(workload)
        usage = {}
        for queue in self._case["objects"]["clusterQueues"]:
            name = queue["metadata"]["name"]
            usage[name] = self._usage(queues.get(self._own(name), {}))
        return {"jobs": dict(sorted(jobs.items())), "usage": usage}

    def _usage(self, queue: Body) -> Body:
        reserved = queue.get("status", {}).get("flavorsReservation") or ()
        return {
            self._plain(flavor["name"]): {
                each["name"]: [str(each["total"]), str(each.get("borrowed", 0))]
                for each in flavor["resources"]
            }
            for flavor in reserved
        }

    def _plain(self, text: str) -> str:
        return text.replace(self._prefix, "")

    def _of_job(self, workload: Body) -> Body:
        status = workload.get("status", {})
        verdicts = {each["type"]: each for each in status.get("conditions", ())}
        admission = status.get("admission")
        has_quota = verdicts.get("QuotaReserved", {}).get("status") == "True"
        evictions: dict[str, int] = {}
        for each in (status.get("schedulingStats") or {}).get("evictions") or ():
            evictions[each["reason"]] = evictions.get(each["reason"], 0) + each["count"]
        found: Body = {
            "admitted": bool(has_quota and admission),
            "preempted": "Preempted" in evictions,
            "evictions": evictions,
            "reason": None,
            "message": None,
        }
        if found["admitted"]:
            parts = admission["podSetAssignments"]
            found["sets"] = {part["name"]: self._of_set(part) for part in parts}
        else:
            waits = verdicts.get("QuotaReserved", {})
            found["reason"] = waits.get("reason")
            message = waits.get("message")
            found["message"] = self._plain(message) if message else None
        return found

    def _of_set(self, part: Body) -> Body:
        found: Body = {
            "flavors": {key: self._plain(name) for key, name in part.get("flavors", {}).items()},
            "count": part.get("count"),
        }
        if part.get("topologyAssignment"):
            found["topologyAssignment"] = self._domains(part["topologyAssignment"])
        return found

    def _domains(self, assignment: Body) -> Body:
        """The compressed form of the API written out."""
        domains = []
        for piece in assignment.get("slices") or ():
            count = piece["domainCount"]
            columns = [_values(each, count) for each in piece["valuesPerLevel"]]
            pods = piece["podCounts"]
            counts = pods.get("individual") or [pods["universal"]] * count
            for index in range(count):
                values = [self._plain(column[index]) for column in columns]
                domains.append({"values": values, "count": counts[index]})
        return {"levels": assignment["levels"], "domains": domains}

    def _remove(self) -> None:
        self._core.delete_namespace(self._namespace)
        for _ in range(60):
            left = self._api.list_namespaced_custom_object(
                GROUP, VERSION, self._namespace, "workloads"
            )["items"]
            if not left:
                break
            for name in {submission["name"] for submission in self._case["submissions"]}:
                _quietly(self._delete_job, name)
            time.sleep(0.5)
        objects = self._case["objects"]
        for section in (
            "clusterQueues",
            "cohorts",
            "resourceFlavors",
            "topologies",
            "priorityClasses",
        ):
            for body in objects[section]:
                plural = _PLURALS[body["kind"]]
                name = self._own(body["metadata"]["name"])
                _quietly(self._api.delete_cluster_custom_object, GROUP, VERSION, plural, name)
        for node in objects["nodes"]:
            _quietly(self._core.delete_node, self._own(node["metadata"]["name"]))


_PLURALS = {
    "Topology": "topologies",
    "ResourceFlavor": "resourceflavors",
    "Cohort": "cohorts",
    "ClusterQueue": "clusterqueues",
    "LocalQueue": "localqueues",
    "WorkloadPriorityClass": "workloadpriorityclasses",
}


def _values(level: Body, count: int) -> list[str]:
    if "universal" in level:
        return [level["universal"]] * count
    each = level["individual"]
    prefix, suffix = each.get("prefix", ""), each.get("suffix", "")
    return [f"{prefix}{root}{suffix}" for root in each["roots"]]


def _quietly(call: Callable[..., Any], *arguments: Any) -> None:
    try:
        call(*arguments)
    except client.ApiException as refusal:
        if refusal.status != 404:
            sys.stderr.write(f"{refusal.status} {refusal.reason}\n")


def _next_second() -> None:
    """Kueue orders by whole seconds."""
    now = time.time()
    time.sleep(1.05 - now % 1)


def _template(part: Mapping[str, Any]) -> Body:
    annotations = {"pod-complete.stage.kwok.x-k8s.io/delay": "24h"}
    topology = part.get("topology")
    if topology is not None:
        mode = topology["mode"]
        key = f"kueue.x-k8s.io/podset-{mode}-topology"
        annotations[key] = topology.get("level", "true")
    resources = dict(part["perPod"])
    return {
        "metadata": {"annotations": annotations},
        "spec": {
            "restartPolicy": "Never",
            "containers": [
                {
                    "name": "main",
                    "image": "registry.test/pause",
                    "resources": {"requests": resources, "limits": resources},
                }
            ],
        },
    }


def _job(submission: Body) -> Body:
    nodes = submission["numNodes"]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": submission["name"]},
        "spec": {
            "suspend": True,
            "parallelism": nodes,
            "completions": nodes,
            "template": _template(submission),
        },
    }


def _jobset(submission: Body) -> Body:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": submission["name"]},
        "spec": {
            "suspend": True,
            "replicatedJobs": [
                {
                    "name": part["name"],
                    "replicas": 1,
                    "template": {
                        "spec": {
                            "parallelism": part["numNodes"],
                            "completions": part["numNodes"],
                            "template": _template(part),
                        }
                    },
                }
                for part in submission["sets"]
            ],
        },
    }


# -- all of them


def decided(record: Body) -> list[Any]:
    """What two recordings are compared by: everything but times and messages."""
    return [
        [
            step["usage"],
            {
                name: {key: value for key, value in job.items() if key != "message"}
                for name, job in step["jobs"].items()
            },
        ]
        for step in record["after"]
    ]


def recorded(seed: int, seen: Seen, *, fair: bool) -> Body | None:
    """The record of a seed, if it comes out the same twice."""
    runs = []
    for number in range(2):
        case = scenario(seed, fair=fair)
        try:
            runs.append(Recorder(case, f"r{seed}x{number}-", seen).record())
        except client.ApiException as refusal:
            sys.stderr.write(f"{seed}: {refusal.status} {refusal.body}\n")
            return None
    if decided(runs[0]) != decided(runs[1]):
        sys.stderr.write(f"{seed}: two recordings differ\n")
        return None
    return runs[0]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--fair", action="store_true")
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--count", type=int, default=20)
    given = parser.parse_args()
    config.load_kube_config()
    seen = Seen()
    seeds = range(given.first, given.first + given.count)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(lambda seed: recorded(seed, seen, fair=given.fair), seeds))
    records = [record for record in found if record is not None]
    head = {
        "source": "recorded twice with the same result from a real Kueue 0.19.2"
        + (" with fair sharing on" if given.fair else "")
        + f"; {datetime.now(UTC):%B %Y}",
        "scenarios": len(records),
    }
    with gzip.GzipFile(given.file, "wb", mtime=0) as file:
        for line in (head, *records):
            file.write(f"{json.dumps(line, separators=(',', ':'))}\n".encode())
    sys.stdout.write(f"{len(records)} of {len(seeds)} scenarios\n")


if __name__ == "__main__":
    main()
