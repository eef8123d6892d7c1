"""Replays what was recorded from a real Kueue, and says where the simulation decides otherwise.

``python tests/simulate/agreement.py`` prints the agreement by dimension. ``kueue-0.19.2.jsonl.gz`` has 118 scenarios,
recorded from a real Kueue 0.19.2 with its released configuration (API server, scheduler and controllers 1.36.3, JobSet
0.12.0, Trainer 2.3.0, simulated nodes), each two to four times; ``kueue-0.19.2-fair.jsonl.gz`` has 45 with fair
sharing, each recorded once; the two files of random ones were written by ``record.py``, each scenario of which came
out the same twice. The first line of each says so too. Each scenario has objects, what was submitted step by step, and
what Kueue had decided after each step. Agreement is the same for every job after every step: admitted, with which
flavors and how many pods, of each set where they are recorded so, ever preempted, evicted; of a job with a topology
the same count of pods in each domain of the level that it asked for; of a job that waits the condition's reason, and
the resources that its message names; and the same usage of every queue.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from trainyard.extensions.forecast.simulate.objects import Job, Placement, PodSet
from trainyard.extensions.forecast.simulate.reading import read_amounts, read_world, whole
from trainyard.extensions.forecast.simulate.simulator import Simulator
from trainyard.extensions.forecast.simulate.state import World

RECORDED = ("kueue-0.19.2.jsonl.gz", "kueue-0.19.2-fair.jsonl.gz")
BY_SET = ("kueue-0.19.2-random.jsonl.gz", "kueue-0.19.2-random-fair.jsonl.gz")
"""In these a job that is admitted has its flavors, pods and domains by set of pods."""
Case = Mapping[str, Any]
_INADMISSIBLE = {"no-local-queue", "local-queue-stopped", "no-queue", "queue-inactive"}
_SECTIONS = {
    "ResourceFlavor": "resourceFlavors",
    "ClusterQueue": "clusterQueues",
    "LocalQueue": "localQueues",
}


class Difference(NamedTuple):
    """Where the simulation decided otherwise."""

    step: int
    subject: str
    what: str
    kueue: Any
    ours: Any


@cache
def cases() -> tuple[Case, ...]:
    """All scenarios."""
    found: list[Case] = []
    for name in (*RECORDED, *BY_SET):
        found += read(Path(__file__).with_name(name), by_set=name in BY_SET)
    return tuple(found)


def read(path: Path, *, by_set: bool) -> list[Case]:
    """The scenarios of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        _, *lines = map(json.loads, file)
    return [{**line, "by_set": by_set} for line in lines]


def differences(case: Case) -> list[Difference]:
    """All differences of a scenario."""
    return list(_Replay(case).run())


class _Replay:
    def __init__(self, case: Case) -> None:
        self._case = case
        self._bodies: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._classes: dict[str, int] = {}
        for name, labels in case["namespaces"].items():
            self._put({"kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        for section, bodies in case["objects"].items():
            for body in bodies:
                if section == "priorityClasses":
                    self._classes[body["metadata"]["name"]] = body["value"]
                else:
                    self._put(body)
        self._simulator = Simulator(self._world())
        self._wanted: dict[str, Mapping[str, Any]] = {}

    def _put(self, body: dict[str, Any]) -> None:
        metadata = body["metadata"]
        key = body["kind"], metadata.get("namespace", ""), metadata["name"]
        self._bodies[key] = deepcopy(body)

    def run(self) -> Iterator[Difference]:
        for after in self._case["after"]:
            self._submit(after["step"])
            yield from self._compare(after)

    def _submit(self, step: int) -> None:
        simulator = self._simulator
        deleted = []
        for submission in self._case["submissions"]:
            if submission["step"] != step:
                continue
            if submission["op"] == "delete":
                deleted.append(f"{submission['namespace']}/{submission['name']}")
                continue
            if submission["op"] == "create":
                simulator.submit(self._job(submission))
                self._wanted[submission["name"]] = submission
            else:
                self._change(submission)
            simulator.settle()
        if deleted:
            simulator.end(deleted)
            simulator.settle()

    def _change(self, submission: Mapping[str, Any]) -> None:
        if submission["op"] == "apply":
            self._put(submission["object"])
        else:
            body = self._bodies[
                submission["kind"], submission.get("namespace", ""), submission["name"]
            ]
            _merge(body, submission["patch"])
        self._simulator.change(self._world())

    def _world(self) -> World:
        return read_world(self._bodies.values(), fair=self._case.get("fair", False))

    def _job(self, submission: Mapping[str, Any]) -> Job:
        affinity = submission.get("affinity") or {}
        required = (affinity.get("nodeAffinity") or {}).get(
            "requiredDuringSchedulingIgnoredDuringExecution"
        ) or {}
        name = "node" if self._case["kind"] == "TrainJob" else "main"
        pods = PodSet(
            name,
            submission.get("numNodes", 0),
            read_amounts(submission.get("perPod", {})),
            least=submission.get("least"),
            selector=submission.get("nodeSelector") or {},
            tolerations=tuple(submission.get("tolerations") or ()),
            terms=tuple(
                tuple(term.get("matchExpressions") or ())
                for term in required.get("nodeSelectorTerms") or ()
            ),
            placement=_placement(submission),
        )
        sets = tuple(
            PodSet(
                part["name"],
                part["numNodes"],
                read_amounts(part["perPod"]),
                placement=_placement(part),
            )
            for part in submission.get("sets", ())
        )
        created = datetime.fromisoformat(submission["creationTimestamp"])
        return Job(
            submission["namespace"],
            submission["name"],
            submission["queue"],
            sets or (pods,),
            self._classes.get(submission.get("priorityClass", ""), 0),
            int(created.timestamp()),
        )

    def _compare(self, after: Mapping[str, Any]) -> Iterator[Difference]:
        step = after["step"]
        for name, theirs in after["jobs"].items():
            if self._case.get("by_set"):
                ours, expected_of = self._ours_by_set(name), self._theirs_by_set(name, theirs)
            else:
                ours, expected_of = self._ours(name), self._theirs(name, theirs)
            for what, found in ours.items():
                expected = expected_of[what]
                if found != expected:
                    yield Difference(step, name, what, expected, found)
        for queue, used in after["usage"].items():
            yield from self._compare_usage(step, queue, used)

    def _work(self, name: str) -> Any:
        found = [work for work in self._simulator.works.values() if work.job.name == name]
        return found[0]

    def _ours(self, name: str) -> dict[str, Any]:
        work = self._work(name)
        admission = work.admission
        flavors, domains = None, None
        if admission is not None:
            flavors = {
                resource: choice.flavor
                for each in admission.sets
                for resource, choice in each.choices.items()
            }
            placed: Counter[tuple[str, ...]] = Counter()
            for _, _, place in admission.places():
                placed.update(place)
            domains = self._domains(name, placed) or None
        reason, named = None, frozenset()
        if admission is None and work.obstacles is not None:
            kinds = {obstacle.kind for obstacle in work.obstacles}
            reason = "Inadmissible" if kinds & _INADMISSIBLE else "Pending"
            named = frozenset(obstacle.resource for obstacle in work.obstacles if obstacle.resource)
        return {
            "admitted": admission is not None,
            "flavors": flavors,
            "pods": sum(each.count for each in admission.sets) if admission else 0,
            "preempted": "Preempted" in work.evictions,
            "evictions": work.evictions,
            "domains": domains,
            "reason": reason,
            "resources": named,
        }

    def _theirs(self, name: str, job: Mapping[str, Any]) -> dict[str, Any]:
        placed: Counter[tuple[str, ...]] = Counter()
        for domain in (job.get("topologyAssignment") or {}).get("domains", ()):
            placed[tuple(domain["values"])] += domain["count"]
        return {
            "admitted": job["admitted"],
            "flavors": job.get("flavors") if job["admitted"] else None,
            "pods": job.get("count", self._wanted[name]["numNodes"]) if job["admitted"] else 0,
            "preempted": job["preempted"],
            "evictions": job.get("evictions") or {},
            "domains": self._domains(name, placed) or None,
            "reason": None if job["admitted"] else job.get("reason"),
            "resources": _resources(None if job["admitted"] else job.get("message")),
        }

    def _ours_by_set(self, name: str) -> dict[str, Any]:
        work = self._work(name)
        admission = work.admission
        sets = {}
        if admission is not None:
            places = {pods.name: placed for _, pods, placed in admission.places()}
            for each in admission.sets:
                flavors = {resource: choice.flavor for resource, choice in each.choices.items()}
                placed = places.get(each.pods.name) or {}
                domains = self._domains_of(self._part(name, each.pods.name), placed)
                sets[each.pods.name] = flavors, each.count, domains
        found = self._ours(name)
        kept = {
            key: found[key] for key in ("admitted", "preempted", "evictions", "reason", "resources")
        }
        return {**kept, "sets": sets}

    def _theirs_by_set(self, name: str, job: Mapping[str, Any]) -> dict[str, Any]:
        sets = {}
        for part, body in (job.get("sets") or {}).items():
            domains = (body.get("topologyAssignment") or {}).get("domains", ())
            placed = {tuple(each["values"]): each["count"] for each in domains}
            where = self._domains_of(self._part(name, part), placed)
            sets[part] = body["flavors"], body["count"], where
        return {
            "admitted": job["admitted"],
            "preempted": job["preempted"],
            "evictions": job["evictions"],
            "reason": None if job["admitted"] else job["reason"],
            "resources": _resources(None if job["admitted"] else job["message"]),
            "sets": sets,
        }

    def _part(self, name: str, part: str) -> Mapping[str, Any]:
        """A set of pods as it was submitted."""
        wanted = self._wanted[name]
        found = [each for each in wanted.get("sets", ()) if each["name"] == part]
        return found[0] if found else wanted

    def _domains(self, name: str, placed: Mapping[tuple[str, ...], int]) -> dict[str, int]:
        return self._domains_of(self._wanted[name], placed)

    def _domains_of(
        self, wanted: Mapping[str, Any], placed: Mapping[tuple[str, ...], int]
    ) -> dict[str, int]:
        """Pods by domain of the level that the job asked for; of an unconstrained job only how many there are, since
        the level is the host and any host does."""
        topology = wanted.get("topology") or {}
        level = topology.get("level")
        if level is None:
            return {"": sum(placed.values())} if placed else {}
        found: Counter[str] = Counter()
        for values, count in placed.items():
            node = self._bodies.get(("Node", "", values[-1]))
            if node is not None:
                found[node["metadata"]["labels"][level]] += count
            else:
                found[values[self._levels.index(level)]] += count
        return dict(found)

    @property
    def _levels(self) -> list[str]:
        (topology,) = self._case["objects"]["topologies"]
        return [each["nodeLabel"] for each in topology["spec"]["levels"]]

    def _compare_usage(
        self, step: int, queue: str, used: Mapping[str, Any]
    ) -> Iterator[Difference]:
        account = self._simulator.state.accounts[queue]
        for flavor, resources in used.items():
            for resource, (total, borrowed) in resources.items():
                cell = next((each for each in account.quotas if each == (flavor, resource)), None)
                ours = account.used.get(cell, 0) if cell else 0
                beyond = max(0, ours - account.limits(cell).nominal) if cell else 0
                theirs = whole(resource, total), whole(resource, borrowed)
                if theirs != (ours, beyond):
                    where = f"usage of {flavor} {resource}"
                    yield Difference(step, queue, where, theirs, (ours, beyond))


def _placement(asked: Mapping[str, Any]) -> Placement | None:
    topology = asked.get("topology")
    return Placement(topology["mode"], topology.get("level")) if topology else None


def _merge(body: dict[str, Any], patch: Mapping[str, Any]) -> None:
    for key, value in patch.items():
        if isinstance(value, Mapping) and isinstance(body.get(key), dict):
            _merge(body[key], value)
        else:
            body[key] = value


def _resources(message: str | None) -> frozenset[str]:
    found = re.findall(r"(?:quota for|resource) ([a-z][A-Za-z0-9./-]*)", message or "")
    return frozenset(found)


def main() -> None:
    """Print the agreement by dimension, and every scenario that differs."""
    all_of: Counter[str] = Counter()
    same: Counter[str] = Counter()
    for case in cases():
        all_of[case["dimension"]] += 1
        found = differences(case)
        same[case["dimension"]] += not found
        for difference in found[:4]:
            print(case["id"], case["dimension"], *difference)
    for dimension, count in all_of.items():
        print(f"{dimension:12} {same[dimension]:3} of {count}")
    print(f"{'all':12} {sum(same.values()):3} of {sum(all_of.values())}")


if __name__ == "__main__":
    main()
