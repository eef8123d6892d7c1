"""A fault is found in every one of several: in each container and each set of pods of a job, in each world of a set of
objects, beside clean ones that come first or last.

Walked are the Fails examples of all rules. Where it is right that a rule finds nothing, the tables say why; what is in
them without need fails, too.
"""

from __future__ import annotations

import copy
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest
from drawn import at_least, drawn, reasons_of
from trainyard.catalog import load_catalog
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.rule import Rule
from trainyard.language.source.libyaml import DUMPER, yaml
from trainyard.output.manifest import Body
from trainyard.run.examples.rehearse import (
    WHOLE,
    UnusableExampleError,
    base_set,
    base_spec,
    config_for,
    merged,
)

from tests.policy.harness import TODAY, builtin_rules, from_spec
from tests.policy.several import (
    ELSEWHERE,
    clean_set,
    examples,
    found,
    in_one_set,
    moved,
    objects_of,
    renamed,
)
from tests.policy.test_same_verdict import documents_of
from tests.policy.wrapping import KINDS, wrapped

pytestmark = pytest.mark.slow

Reasons = Mapping[str, Mapping[str, str]]
WITHIN = ("init", "sidecar")


def each(reason: str, *codes: str, places: tuple[str, ...] = ELSEWHERE) -> Reasons:
    return {code: dict.fromkeys(places, reason) for code in codes}


CONTAINERS: Reasons = {
    **each(
        "variables and options of the ranks, which the program starts",
        *("EFA010", "EFA011", "EFA012", "EFA013", "EFA020", "EFA030", "EFA035", "EFA047"),
        *("RUN009", "RUN010", "RUN026", "RUN031", "RUN036", "RUN066", "RUN082", "RUN100"),
        *("RUN121", "RUN124", "RUN125", "RUN134", "RUN136", "RUN138", "RUN141", "RUN142"),
        *("RUN143", "RUN145", "RUN146", "RUN190", "RUN191", "RUN199"),
    ),
    **each(
        "an agent is no init container",
        *("HLT001", "HLT006", "HLT007", "HLT008", "HLT010", "HLT025", "HLT028", "HLT065"),
        "HLT081",
        places=WITHIN,
    ),
    **each("only sidecars keep their ports", "HLT064", places=("init",)),
    **each(
        "the memory and the devices stay with the program",
        *("LIM007", "LIM013", "RUN037", "RUN076", "RUN120", "RUN133"),
    ),
    **each("what asks for no device is found by the program", "LIM030", places=WITHIN),
    **each(
        "the program saves, and its folder is what counts",
        *("RUN008", "RUN020", "RUN040", "RUN055", "RUN153"),
    ),
    **each("RUN077 finds those of other containers", "RUN013"),
    **each("what is beside the program may be there to fetch", "RUN039"),
    **each("one that ends is as it should be", "RUN074", places=WITHIN),
    **each("a container beside the program may wait", "RUN129"),
    **each("what comes before may put it there", "RUN152", places=WITHIN),
    **each("the operator takes the first container", "RUN176", "RUN196", "RUN203"),
    **each("what comes before starts no ranks", "RUN205", places=WITHIN),
}
"""By rule and place, why a fault of the program is not found in another container."""
PAIRS = ("JobSet", "PyTorchJob", "MPIJob", "RayJob")
"""Kinds with several sets of pods: those of a list, those of roles, and those whose program stands apart."""
FIRST, SECOND = "first", "second"
ONE_NODE = "a master alone is one node"
NO_COMMAND = "its workers have no command"
OF_HEAD = "its entrypoint is not of a second group"
SETS: Reasons = {
    "QUE005": dict.fromkeys(PAIRS[:3], "the clean set fits none of the example's nodes"),
    **{
        code: {"MPIJob": NO_COMMAND}
        for code in (
            *("RUN009", "RUN010", "RUN035", "RUN039", "RUN073"),
            *("RUN075", "RUN082", "RUN100", "RUN123", "RUN127", "RUN128", "RUN140"),
            *("RUN141", "RUN142", "RUN143", "RUN156", "RUN177", "RUN199"),
        )
    },
    "RUN026": {"PyTorchJob": ONE_NODE, "MPIJob": NO_COMMAND},
    "RUN036": {"PyTorchJob": ONE_NODE},
    "RUN066": {"RayJob": OF_HEAD, "MPIJob": NO_COMMAND},
    "RUN121": {"PyTorchJob": ONE_NODE},
    "RUN138": {"RayJob": OF_HEAD, "MPIJob": NO_COMMAND},
    "RUN145": {"RayJob": OF_HEAD, "MPIJob": NO_COMMAND},
    "RUN152": {"RayJob": OF_HEAD, "MPIJob": NO_COMMAND},
    "RUN153": {"RayJob": OF_HEAD, "MPIJob": NO_COMMAND},
}
"""By rule and kind, why a fault is not found in one of two sets of pods."""


def as_job_set(bodies: list[Body]) -> list[Body]:
    """Objects with pods that have all that they run: a TrainJob and its runtime as one JobSet."""
    if not any(body["kind"] == "TrainJob" for body in bodies):
        return bodies
    return wrapped(bodies, KINDS["JobSet"]) or []


def job_of(bodies: list[Body], kind: str) -> int:
    """The place of the job that was wrapped as a kind."""
    return next(index for index, body in enumerate(bodies) if body["kind"] == kind)


def two_sets(rule: Rule, text: str, bodies: list[Body], kind: str) -> Iterator[list[Body]]:
    """Objects with the fault in one of two sets of pods of their job, where it is found in both, and not in neither."""
    if sum(body["kind"] == "TrainJob" for body in bodies) != 1:
        return
    faulty = wrapped(bodies, KINDS[kind])
    without = wrapped(list(base_set()), KINDS[kind])
    if faulty is None or without is None:
        return
    place = job_of(faulty, kind)
    clean = {**without[job_of(without, kind)], "metadata": faulty[place]["metadata"]}
    neither = [*faulty[:place], clean, *faulty[place + 1 :]]
    if found(rule, text, neither) or not found(rule, text, faulty):
        return
    for first in (True, False):
        mixed = in_one_set(kind, faulty[place], clean, first=first)
        if mixed is not None:
            yield [*faulty[:place], mixed, *faulty[place + 1 :]]


MOST = 2
"""So many examples of a rule are walked, with each kind of job."""


def test_a_fault_is_found_in_every_container_and_set_of_pods() -> None:
    in_containers = defaultdict[str, dict[str, str]](dict)
    in_sets = defaultdict[str, dict[str, str]](dict)
    compared, walked = 0, Counter[tuple[str, str]]()
    rules = drawn(builtin_rules(), 36)
    for rule, text, bodies in examples(rules):
        pods = as_job_set(bodies) if walked[rule.code, ""] < MOST else []
        if pods and found(rule, text, pods) and not found(rule, text, moved(pods, "")):
            walked[rule.code, ""] += 1
            for where in ELSEWHERE:
                compared += 1
                if not found(rule, text, moved(pods, where)):
                    in_containers[rule.code][where] = CONTAINERS.get(rule.code, {}).get(where, "")
        for kind in PAIRS:
            if walked[rule.code, kind] >= MOST:
                continue
            for mixed in two_sets(rule, text, bodies, kind):
                walked[rule.code, kind] += 1
                compared += 1
                if not found(rule, text, mixed):
                    in_sets[rule.code][kind] = SETS.get(rule.code, {}).get(kind, "")
    codes = {rule.code for rule in rules}
    assert compared >= at_least(700)
    assert in_containers == reasons_of(CONTAINERS, codes)
    assert in_sets == reasons_of(SETS, codes)


def test_a_misspelt_device_of_an_init_container_is_found() -> None:
    (rule,) = (each for each in builtin_rules() if each.code == "EFA004")
    first = {"name": "first", "image": "r:1", "resources": {"limits": {"nvidia.com/gpus": 1}}}
    pod = {"restartPolicy": "Never", "initContainers": [first], "containers": [{"name": "a"}]}
    job: Body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}
    assert found(rule, "", [{**job, "spec": {"template": {"spec": pod}}}])


CLEAN_ITEMS: Mapping[str, Mapping[str, Any]] = {
    "containers": {"name": "clean", "image": "public.ecr.aws/team/clean:1.0"},
    "initContainers": {"name": "clean", "image": "public.ecr.aws/team/clean:1.0"},
    "volumes": {"name": "clean", "emptyDir": {}},
    "volumeMounts": {"name": "clean", "mountPath": "/clean"},
    "env": {"name": "CLEAN", "value": "1"},
    "ports": {"name": "clean", "containerPort": 12345},
    "tolerations": {"key": "example.com/clean", "operator": "Exists"},
    "taints": {"key": "example.com/clean", "value": "true", "effect": "NoSchedule"},
    "requirements": {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
    "managedNodeGroups": {"name": "clean", "instanceType": "m7i.xlarge", "maxSize": 2},
    "subjects": {"kind": "Group", "name": "clean", "apiGroup": "rbac.authorization.k8s.io"},
    "groups": {"name": "clean", "rules": []},
}
"""An item without fault of each list that an object may have several of."""
TAKEN = "the operator takes the first container"
NOT_FIRST: Mapping[tuple[str, str], str] = {
    ("EFA019", "requirements"): "it is of overlays for pools by name alone",
    ("EFA050", "ports"): "the other entry lets all ports through",
    ("RUN202", "containers"): TAKEN,
    ("RUN203", "containers"): TAKEN,
    ("QUE049", "taints"): "nobody tolerates the other taint, so that no node is left",
    ("RUN176", "containers"): TAKEN,
    ("RUN196", "containers"): TAKEN,
}
"""By rule and list, why nothing is found behind a clean item."""
MORE_ROOM = "its pods fit the clean pool"
ANOTHER_WORLD = {"LIM031": MORE_ROOM, "PLC004": MORE_ROOM, "PLC061": "with pools PLC005 finds it"}
"""Why nothing is found beside a clean set of objects."""


def with_item(value: Any, key: str, item: Mapping[str, Any]) -> Any:
    """A value with an item before the first of each list of a key."""
    if isinstance(value, list):
        return [with_item(each, key, item) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {name: with_item(each, key, item) for name, each in value.items()}
    items = changed.get(key)
    if isinstance(items, list) and items and isinstance(items[0], dict):
        changed[key] = [dict(item), *items]
    return changed


def of_objects(rules: Iterable[Rule]) -> Iterator[tuple[Rule, str, list[Body]]]:
    """Each Fails example of others' objects."""
    for rule in rules:
        for text in rule.fails:
            documents = documents_of(text)
            if documents and "kind" in documents[0] and WHOLE not in text:
                yield rule, text, list(objects_of(text))


def test_a_fault_is_found_behind_a_clean_item_of_each_list() -> None:
    missed, compared = set(), 0
    rules = drawn(builtin_rules(), 60, "behind a clean item")
    codes = {rule.code for rule in rules}
    for rule, text, bodies in of_objects(rules):
        for key, item in CLEAN_ITEMS.items():
            behind = [with_item(body, key, item) for body in bodies]
            if behind != bodies:
                compared += 1
                if not found(rule, text, behind):
                    missed.add((rule.code, key))
    assert compared >= at_least(1500)
    assert missed == {reason for reason in NOT_FIRST if reason[0] in codes}


def test_a_fault_is_found_beside_a_clean_set_and_in_any_order_of_objects() -> None:
    missed, compared = set(), 0
    rules = drawn(builtin_rules(), 60, "beside a clean set")
    for rule, text, bodies in of_objects(rules):
        for others in ([*clean_set(), *bodies], [*bodies, *clean_set()]):
            compared += 1
            if not found(rule, text, others):
                missed.add(rule.code)
        codes = [each.code for each in found(rule, text, bodies)]
        assert [each.code for each in found(rule, text, bodies[::-1])] == codes, rule.code
    assert compared >= at_least(600)
    assert missed == reasons_of(ANOTHER_WORLD, {rule.code for rule in rules}).keys()


IDS = {
    "fs-0a1b2c3d4e5f60718": "fs-0a1b2c3d4e5f60719",
    "cr-0a1b2c3d4e5f60718": "cr-0a1b2c3d4e5f6071a",
    "cr-0a1b2c3d4e5f60719": "cr-0a1b2c3d4e5f6071b",
}
"""Reservations and file systems of the examples, and others."""


def world_beside(
    own: Mapping[str, Any], other: Mapping[str, Any], *, first: bool
) -> dict[str, Any]:
    """A spec of a part of one, with the pools, queues, jobs, storage and namespaces of another part, which share none
    of their names, before those of its own or behind them."""
    spec = copy.deepcopy(merged(base_spec(), {"spec": own}))
    clean = copy.deepcopy(merged(base_spec(), {"spec": other})["spec"])
    for job in (*spec["spec"]["jobs"], *clean["jobs"]):
        for key in ("queue", "pool"):  # which may be left out where there is one
            job.setdefault(key, spec["spec"]["jobs"][0][key])
    lists = {
        key: items
        for key, items in clean.items()
        if isinstance(items, list) and items and all("name" in item for item in items)
    }
    names = {item["name"]: f"z{item['name']}" for items in lists.values() for item in items}
    names |= {"team-a": "zteam-a", **IDS}
    if "namespaces" in own:
        lists.setdefault("namespaces", [{"name": "team-a"}])
    for key, items in lists.items():
        behind, before = spec["spec"].get(key, []), renamed(items, names)
        spec["spec"][key] = [*before, *behind] if first else [*behind, *before]
    return spec


def parts_of(texts: tuple[str, ...]) -> list[tuple[str, dict[str, Any]]]:
    """The examples that are parts of specs."""
    parts = [(text, documents_of(text)) for text in texts]
    return [
        (text, part[0])
        for text, part in parts
        if part and not {"kind", "Resources"} & part[0].keys()
    ]


def test_a_fault_of_a_spec_is_found_beside_a_clean_cluster() -> None:
    """The base is before the fault, or the first example that passes behind it, as a seed draws it."""
    any_of = random.Random(20261129)
    missed, compared = set(), 0
    rules = drawn(builtin_rules(), 50, "beside a clean cluster")
    for rule in rules:
        passing = [part for _, part in parts_of(rule.passes)[:1]]
        for text, own in parts_of(rule.fails):
            other = any_of.choice([{}, *passing])
            spec = world_beside(own, other, first=not other)
            plan, manifests = from_spec(yaml.dump(spec, Dumper=DUMPER))
            config = config_for(rule, text, TODAY)
            compared += 1
            if not run(plan, load_catalog(), (rule,), config, manifests):
                missed.add(rule.code)
    assert compared >= at_least(300)
    assert missed == set()


CLEAN_STORAGE: tuple[dict[str, Any], ...] = (
    {"name": "bucket", "s3": {"existing": {"bucket": "clean-111122223333"}}},
    {
        "name": "lustre",
        "fsxLustre": {
            "existing": {
                "id": "fs-0a1b2c3d4e5f60719",
                "mountName": "abcdefgi",
                "size": "4800Gi",
                "version": "2.15",
                "zone": "us-west-2b",
                "deployment": "PERSISTENT_2",
                "throughputPerTiB": 250,
            }
        },
    },
)


def with_mount(spec: Mapping[str, Any], storage: Mapping[str, Any]) -> dict[str, Any]:
    """A spec with another storage before its own, which each job mounts before all others."""
    spec = copy.deepcopy(dict(spec))
    spec["spec"]["storage"].insert(0, dict(storage))
    for job in spec["spec"]["jobs"]:
        mount = {"storage": storage["name"], "path": f"/{storage['name']}"}
        job["mounts"] = [mount, *job.get("mounts", ())]
    return spec


def test_a_fault_of_a_storage_is_found_behind_another_mount() -> None:
    compared = 0
    for rule in builtin_rules():
        for text, own in parts_of(rule.fails):
            spec = merged(base_spec(), {"spec": own})
            for storage in CLEAN_STORAGE if "storage" in spec["spec"] else ():
                compared += 1
                assert is_found_in(rule, text, with_mount(spec, storage)), (rule.code, own)
    assert compared > 40


def with_two(spec: Mapping[str, Any], *, first: bool) -> dict[str, Any]:
    """A spec whose pools have another type of the same GPUs, and another zone."""
    spec = copy.deepcopy(dict(spec))
    for pool in spec["spec"]["nodePools"]:
        for key, other in (("instanceTypes", "p4de.24xlarge"), ("zones", "us-west-2c")):
            own = pool.get(key, [])
            pool[key] = [other, *own] if first else [*own, other]
    return spec


def test_the_order_of_types_and_zones_changes_nothing() -> None:
    """Whatever rule it is, over the examples of all rules."""
    parts = [part for rule in builtin_rules() for _, part in parts_of(rule.fails)]
    compared = 0
    walked = drawn(parts, 20, "order of types and zones")
    for own in walked:
        spec = merged(base_spec(), {"spec": own})
        said = []
        for first in (True, False):
            try:
                plan, manifests = from_spec(yaml.dump(with_two(spec, first=first), Dumper=DUMPER))
            except UnusableExampleError:
                break  # the pool is of other GPUs, or a reservation of it is of one zone
            judged = run(plan, load_catalog(), builtin_rules(), TODAY, manifests)
            said.append(sorted(each.code for each in judged))
        if said:
            compared += 1
            assert len(said) == 2
            assert said[0] == said[1], own
    assert compared >= at_least(40)


PROGRAM = ("command", "args", "env")
OF_JOB = "it is of the program that saves, or of the job's own `model`"
IN_ROLE = {
    "RUN020": OF_JOB,
    "RUN040": OF_JOB,
    "RUN082": "the three nodes of the role can be divided so",
    "RUN096": OF_JOB,
    "RUN201": OF_JOB,
}
"""Why a fault of a job's program is not found in a role."""


def with_role(own: Mapping[str, Any], place: str) -> dict[str, Any] | None:
    """A JobSet of the job of a part of a spec, with the part's program at a place: in the `job`, in a `role` on most of
    its nodes, beside which the job runs that of the base, or nowhere. ``None`` where the part says nothing of the
    program of one job of several nodes."""
    spec = copy.deepcopy(merged(base_spec(), {"spec": own}))
    job, base = spec["spec"]["jobs"][0], base_spec()["spec"]["jobs"][0]
    said = {key: job[key] for key in PROGRAM if key in job}
    clean = {key: copy.deepcopy(base[key]) for key in PROGRAM if key in base}
    single = len(spec["spec"]["jobs"]) > 1 or job["nodes"] < 4
    if said == clean or single or not {"kind", "roles", "launcher"}.isdisjoint(job):
        return None
    job["kind"] = "JobSet"
    if place != "job":
        for key in said:
            del job[key]
        program = said if place == "role" else {"command": clean["command"]}
        roles = [{"name": "other", "nodes": job["nodes"] - 1, **program}]
        job |= {"nodes": 1, **clean, "roles": roles}
    return spec


def is_found_in(rule: Rule, text: str, spec: Mapping[str, Any] | None) -> bool:
    if spec is None:
        return False
    try:
        plan, manifests = from_spec(yaml.dump(spec, Dumper=DUMPER))
    except UnusableExampleError:
        return False
    return bool(run(plan, load_catalog(), (rule,), config_for(rule, text, TODAY), manifests))


def test_a_fault_of_a_program_is_found_in_a_role() -> None:
    missed, compared = set(), 0
    rules = drawn(builtin_rules(), 50, "in a role")
    for rule in rules:
        for text, own in parts_of(rule.fails):
            if not is_found_in(rule, text, with_role(own, "job")):
                continue
            if is_found_in(rule, text, with_role(own, "")):
                continue  # the fault is elsewhere
            compared += 1
            if not is_found_in(rule, text, with_role(own, "role")):
                missed.add(rule.code)
    assert compared >= at_least(80)
    assert missed == reasons_of(IN_ROLE, {rule.code for rule in rules}).keys()
