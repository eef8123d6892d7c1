"""Laws that hold for any spec: no crash, the same result twice, and what is written reads back as what was planned."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import (
    OLD_TRAINER,
    RELEASE,
    SPECS,
    components,
    document,
    example,
    files,
    manifests_of,
    spec,
)
from drawn import examples_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from job_keys import job_keys
from trainyard.catalog import load_catalog
from trainyard.eks.kueue.plan import QueueManager
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.load import load_rules
from trainyard.language.diagnostics import Severity
from trainyard.language.places import (
    Document,
    MappingNode,
    Node,
    ScalarNode,
    SequenceNode,
    SourceFile,
    Span,
)
from trainyard.lift import lift
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.plan import Plan
from trainyard.run.language.load import load
from trainyard.run.lower import lower
from trainyard.run.resolve import resolve
from trainyard.verify import verify
from trainyard.verify.formats import lifted, objects

pytestmark = pytest.mark.slow

LAW = settings(
    max_examples=examples_of(150), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)

# Types of every kind, each with a zone of us-west-2 that offers it.
TYPES = {
    "p4d.24xlarge": "b",
    "p5.48xlarge": "a",
    "p5en.48xlarge": "c",
    "p6-b300.48xlarge": "b",
    "g6e.48xlarge": "a",
    "g6.xlarge": "a",
    "g5g.metal": "a",
    "m7i.16xlarge": "a",
    "trn1.32xlarge": "b",
    "p6-b200.48xlarge": "a",
}
REGION = "us-west-2"
FSX_SIZES = st.sampled_from([1200, 2400, 4800, 38400])
DURATIONS = st.integers(1, 24 * 3600).map(lambda seconds: f"{seconds}s")
WORDS = st.text("abc${} \"'\n:#é", max_size=8)


def some(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The value, or nothing."""
    return st.none() | strategy


def mapping(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A mapping of the fields whose value is not ``None``; what it holds is its own, and no part of another's."""
    return st.fixed_dictionaries(fields).map(
        lambda found: {
            key: copy.deepcopy(value) for key, value in found.items() if value is not None
        }
    )


@st.composite
def capacity(draw: st.DrawFn, nodes: int, pool: str) -> Any:
    ids = [
        f"cr-0a{kind}{int(pool[1:]):04x}" for kind in ("1b", "1c")
    ]  # a reservation is of one type and zone
    if not draw(st.booleans()):
        bought = draw(st.sampled_from([["onDemand"], ["spot"], ["spot", "onDemand"]]))
        ways: list[dict[str, Any]] = [{way: {}} for way in bought]
        return ways if len(ways) > 1 else ways[0]
    first = draw(st.integers(1, nodes))
    reservations: list[dict[str, Any]] = [{"id": ids[0]}]
    if first < nodes:
        reservations = [{"id": ids[0], "nodes": first}, {"id": ids[1], "nodes": nodes - first}]
    if draw(st.booleans()):
        ends = "2026-12-15T11:30:00Z"
        return {"block": {"reservations": reservations, "ends": ends}}
    return {"reserved": {"reservations": reservations}}


POOL_KEYS = mapping(
    efa=some(st.just(False)),
    localStorage=some(st.just("none")),
    consolidateAfter=some(DURATIONS),
    labels=some(st.just({"team": "a", "example.com/x": ""})),
    topology=some(st.sampled_from(["network", "none"])),
    rootVolume=some(mapping(size=st.sampled_from(["100Gi", "1Ti"]), iops=some(st.just(3000)))),
    taints=some(st.just([{"key": "team", "value": "a", "effect": "NoExecute"}, {"key": "b"}])),
)


@st.composite
def pool(draw: st.DrawFn, name: str) -> dict[str, Any]:
    instance = draw(st.sampled_from(sorted(TYPES)))
    most = draw(st.integers(1, 40))
    placements = ["cluster", "partition", "none", *(["spread"] if most <= 7 else [])]
    return {
        "name": name,
        "instanceTypes": [instance],
        "zones": [f"{REGION}{TYPES[instance]}"],
        "nodes": draw(st.sampled_from([most, {"max": most}])),
        **draw(
            mapping(
                capacity=some(capacity(most, name)), placement=some(st.sampled_from(placements))
            )
        ),
        **draw(POOL_KEYS),
    }


LAUNCHERS: list[dict[str, Any]] = [
    {"torchrun": {}},
    {"jax": {}},
    {"mpi": {}},
    {"mpi": {"sshPort": 2200, "sshd": "/opt/ssh d/sshd"}},
]


JOB_KEYS = mapping(
    args=some(st.lists(WORDS, max_size=3)),
    env=some(st.dictionaries(st.sampled_from(["A", "NCCL_NET", "B.c"]), WORDS)),
    secretEnv=some(st.just([{"env": "TOKEN", "secret": "s", "key": "k"}])),
    checkpoint=some(st.sampled_from([{"path": "/c"}, {"path": "/c", "signalFile": "/tmp/it's"}])),
    torchVersion=some(st.sampled_from(["2.11", "2.12"])),
    launcher=some(st.sampled_from(LAUNCHERS)),
    timeout=some(DURATIONS),
    rerun=some(st.integers(0, 3)),
    maxRestarts=some(st.integers(0, 9)),
    retries=some(st.integers(0, 9)),
    labels=some(st.just({"a": ""})),
    priority=some(st.sampled_from(["low", "high"])),
    sharedMemory=some(st.sampled_from(["1Gi", "64Gi"])),
    resources=some(
        mapping(
            cpu=some(st.sampled_from(["500m", 8])),
            memory=some(st.just("100Gi")),
            ephemeralStorage=some(st.just("10Gi")),
            efa=some(st.just(0)),
        )
    ),
    processesPerNode=some(st.integers(1, 16)),
    serviceAccount=some(st.just("own")),
    terminationGracePeriod=some(DURATIONS),
)
COMMANDS = st.sampled_from(
    [["torchrun", "t.py"], ["bash", "-c", "torchrun --standalone ${A}"], ["x"]]
).map(list)


@st.composite
def job(draw: st.DrawFn, name: str, where: dict[str, Any], storage: list[str]) -> dict[str, Any]:
    mounts = draw(st.lists(st.sampled_from(storage), max_size=3)) if storage else []
    drawn = {
        "name": name,
        **where,
        "nodes": draw(st.integers(1, 40)),
        "image": f"registry.test/x/{name}:1.{len(name)}",
        "command": draw(COMMANDS),
        "mounts": [
            {"storage": each, "path": f"/{each}/{i}", "readOnly": draw(st.booleans())}
            for i, each in enumerate(mounts)
        ],
        **draw(job_keys()),
        **draw(JOB_KEYS),
    }
    if "mpi" in drawn.get("launcher", {}):
        drawn["command"] = ["mpirun", "x"]
    if "jax" in drawn.get("launcher", {}):
        drawn["command"] = ["python", "x"]
    return drawn


NETWORK = st.sampled_from(
    [
        {},
        {"create": {"cidr": "10.0.0.0/16"}},
        {"create": {"zones": ["us-west-2a", "us-west-2b", "us-west-2c"]}},
        {
            "existing": {
                "vpc": "vpc-0a1b2c3d",
                "subnets": [{"id": f"subnet-0a1b2c3{z}", "zone": f"us-west-2{z}"} for z in "abc"],
                "securityGroups": ["sg-0a1b2c3d"],
            }
        },
    ]
)


PREEMPTIONS: list[dict[str, Any]] = [
    {"withinClusterQueue": "Never", "reclaimWithinCohort": "Any"},
    {"borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": -1}},
    {"borrowWithinCohort": {"policy": "Never"}, "reclaimWithinCohort": "Never"},
]


QUOTA = mapping(
    nodes=st.integers(0, 40),
    borrowingLimit=some(st.integers(0, 4)),
    lendingLimit=some(st.integers(0, 4)),
)
QUEUE_KEYS = mapping(
    cohort=some(st.sampled_from(["all", "top"])),
    queueingStrategy=some(st.just("StrictFIFO")),
    preemption=some(st.sampled_from(PREEMPTIONS)),
    fairSharing=some(st.sampled_from([{"weight": 0}, {"weight": "2.5"}])),
    flavorFungibility=some(st.sampled_from([{}, {"whenCanPreempt": "MayStopSearch"}])),
    stopPolicy=some(st.sampled_from(["None", "Hold"])),
)
VERSION = mapping(version=some(st.sampled_from(["2.12", "2.15"])))
WEIGHT = mapping(fairSharing=some(st.just({"weight": 3})))
NAMESPACES = mapping(namespaces=some(st.just([{"name": "n0"}])))
NAMESPACES_OF_QUEUES = mapping(
    namespaces=some(
        st.just(
            [
                {"name": "n0", "group": "g", "quota": {"cpu": 0, "memory": "1Ti"}},
                {"name": "n1", "principals": ["arn:aws:iam::111122223333:role/n1"]},
            ]
        )
    )
)
CLUSTER_KEYS = mapping(
    components=some(
        st.sampled_from(
            [
                components(trainer=OLD_TRAINER),
                components(
                    trainer=f"{RELEASE.components['trainer'].supported[1]}.0",
                    karpenter=f"{RELEASE.components['karpenter'].supported[0]}.0",
                ),
            ]
        )
    ),
    health=some(
        mapping(nodeMonitoringAgent=some(st.booleans()), nodeProblemDetector=some(st.booleans()))
    ),
    flux=some(st.sampled_from([{"url": "ssh://git@h.test/x", "path": "a/b"}, {"source": "fleet"}])),
    tags=some(st.just({"cost": "", "team": "a b"})),
    labels=some(st.just({"org": "x"})),
    platform=some(
        mapping(
            eks=mapping(
                apiServer=some(st.just({"public": ["203.0.113.0/24"]})),
                admins=some(st.just(["arn:aws:iam::111122223333:role/a"])),
            )
        )
    ),
    kueue=some(
        mapping(
            waitForPodsReady=some(
                mapping(timeout=some(DURATIONS), recoveryTimeout=some(DURATIONS))
            ),
            fairSharing=some(st.just({})),
        )
    ),
)


@st.composite
def specs(draw: st.DrawFn) -> dict[str, Any]:
    """Specs without a fault: every name exists, everything fits."""
    pools = [draw(pool(f"p{i}")) for i in range(draw(st.integers(1, 3)))]
    storage = [f"s{i}" for i in range(draw(st.integers(0, 2)))]
    queues = [
        {
            "name": f"q{i}",
            "namespaces": [f"n{j}" for j in range(draw(st.integers(1, 2)))],
            "quota": [{"pool": each["name"], **draw(QUOTA)} for each in pools],
            **draw(QUEUE_KEYS),
        }
        for i in range(draw(st.integers(0, 2)))
    ]
    for queue in queues:
        if "cohort" not in queue:
            queue.pop("fairSharing", None)
            queue.get("preemption", {}).pop("borrowWithinCohort", None)
        for quota in queue["quota"]:
            if "cohort" not in queue:
                quota.pop("borrowingLimit", None)
                quota.pop("lendingLimit", None)
            elif "lendingLimit" in quota:
                quota["lendingLimit"] = min(quota["lendingLimit"], quota["nodes"])
    jobs = []
    for i in range(draw(st.integers(0, 4))):
        where = {"pool": draw(st.sampled_from(pools))["name"]}
        if queues:
            queue = draw(st.sampled_from(queues))
            where |= {
                "queue": queue["name"],
                "namespace": draw(st.sampled_from(queue["namespaces"])),
            }
        jobs.append(draw(job(f"j{i}", where, storage)))
    volumes = [
        {
            "name": name,
            **draw(
                st.sampled_from(
                    [
                        {"s3": {"existing": {"bucket": "my-bucket"}, "prefix": "a/b"}},
                        {"s3": {"existing": {"bucket": "my-bucket"}}},
                        {
                            "fsxLustre": {
                                "existing": {
                                    "id": f"fs-0a1b2c3{index}",
                                    "mountName": "abc",
                                    "size": f"{draw(FSX_SIZES)}Gi",
                                    "zone": "us-west-2a",
                                    **draw(VERSION),
                                }
                            }
                        },
                    ]
                )
            ),
        }
        for index, name in enumerate(storage)
    ]
    return spec(
        nodePools=pools,
        jobs=jobs,
        queues=queues,
        storage=volumes,
        network=draw(NETWORK),
        priorities=[
            {"name": "low", "value": 0},
            {"name": "high", "value": 9, "description": "first"},
        ],
        cohorts=[{"name": "all", "parentName": "top", **draw(WEIGHT)}, {"name": "top"}],
        **draw(NAMESPACES_OF_QUEUES if queues else NAMESPACES),
        **draw(CLUSTER_KEYS),
    )


def difference(planned: Plan, read: Plan) -> str:
    """The first kind in which two plans differ, for the reader of a failure."""
    kinds = {type(node) for node in (*planned.items, *read.items)}
    for kind in sorted(kinds, key=lambda kind: kind.__name__):
        one, two = planned.of(kind), read.of(kind)
        if kind.carried and one != two:
            return f"{kind.__name__}: {one} != {two}"
    return ""


@pytest.mark.parametrize("name", SPECS)
def test_what_is_written_reads_back_as_what_was_planned(name: str) -> None:
    _, plan = example(name)
    read = lifted(lower(plan), closed=True)
    assert difference(plan, read) == ""
    assert read == plan


@LAW
@given(specs())
def test_the_law_holds_for_any_spec(data: dict[str, Any]) -> None:
    model, faults = load(document(data))
    assert model is not None, faults
    plan, found = resolve(model, load_catalog())
    wrong = [each for each in found if each.severity is Severity.ERROR]
    # Zones of the network, namespaces of queues and the version of Trainer are drawn apart: these may not meet, and
    # nothing else may fail.
    assert {each.code for each in wrong} <= {
        "RES010",
        "RES013",
        "RES017",
        "RES028",
        "RES132",
        "RES348",
    }, wrong
    if plan is None:
        return
    artifacts = lower(plan)
    manifests = objects(artifacts)
    read = lifted(artifacts, closed=True)
    assert difference(plan, read) == ""
    assert json.dumps([each.body for each in artifacts]) == json.dumps(
        [each.body for each in lower(plan)]
    )
    again, _ = resolve(load(document(data))[0] or model, load_catalog())
    assert again == plan
    assert again.derived == plan.derived
    assert files(plan)
    refused = verify(
        manifests, closed=True, external=frozenset(ObjectRef(*each) for each in plan.external)
    )
    assert [
        (each.object, str(each.at), each.message)
        for each in refused
        if each.severity is Severity.ERROR
    ] == []


# --- anything at all

SPAN = Span(SourceFile("spec.yaml", ""), 1, 1, 1, 1)


def tree_of(data: Any) -> Document:
    """The document of any data, without going through text."""

    def node(value: Any) -> Node:
        if isinstance(value, dict):
            return MappingNode(SPAN, {key: node(each) for key, each in value.items()})
        if isinstance(value, list):
            return SequenceNode(SPAN, [node(each) for each in value])
        return ScalarNode(SPAN, value, str(value))

    return Document(node(data))


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 10**30)
    | st.floats(allow_nan=True)
    | WORDS
    | st.sampled_from(
        ["8Gi", "20m", "1e9", "us-west-2a", "a:1", "2026-02-30", "[" * 2000, "{a: 2026-02-30}"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["name", "spec", "a"]), inner, max_size=3)
    ),
    max_leaves=4,
)


def places(body: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a body but its root."""
    entries = (
        body.items()
        if isinstance(body, dict)
        else enumerate(body)
        if isinstance(body, list)
        else ()
    )
    return [
        place for key, value in entries for place in ((*path, key), *places(value, (*path, key)))
    ]


def mutated(body: Any, path: tuple[Any, ...], value: Any, *, delete: bool) -> Any:
    """A copy with one place deleted or replaced."""
    body = copy.deepcopy(body)
    owner = body
    for key in path[:-1]:
        owner = owner[key]
    if delete:
        del owner[path[-1]]
    else:
        owner[path[-1]] = value
    return body


@cache
def ours() -> list[dict[str, Any]]:
    """One object of each kind and shape that we write."""
    from targets.test_lowering import VARIANTS

    found = {}
    for data in VARIANTS.values():
        for each in manifests_of(data):
            found.setdefault(
                (each.body["kind"], tuple(sorted(each.body.get("spec", {})))), each.body
            )
    return list(found.values())


@cache
def third_party() -> list[dict[str, Any]]:
    """Every object of the sets that lint is tried on."""
    files = sorted((Path(__file__).parent / "lint_sets").rglob("*.y*ml"))
    return [
        body
        for file in files
        for body in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader)
        if isinstance(body, dict) and {"apiVersion", "kind"} <= set(body)
    ]


def broken(
    data: st.DataObject, source: list[dict[str, Any]], most: int = 3
) -> list[dict[str, Any]]:
    """Some objects with something else in up to three places of each."""
    bodies = []
    for index in data.draw(st.lists(st.integers(0, len(source) - 1), min_size=1, max_size=most)):
        body = source[index]
        for _ in range(data.draw(st.integers(1, 3))):
            if spots := places(body):
                spot = spots[data.draw(st.integers(0, len(spots) - 1))]
                body = mutated(body, spot, data.draw(JUNK), delete=data.draw(st.booleans()))
        bodies.append(body)
    return bodies


@settings(
    max_examples=examples_of(300), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.data())
def test_whatever_stands_in_objects_is_reported_with_a_help(data: st.DataObject) -> None:
    manifests = [Manifest(body) for body in (*broken(data, ours() + third_party(), 8), *ours())]
    found = verify(manifests, closed=False)
    found += run(
        lift(manifests, closed=False), load_catalog(), load_rules(None)[0], manifests=manifests
    )
    assert [each for each in found if not each.help or each.code.startswith("INT")] == []


@settings(
    max_examples=examples_of(300), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.data())
def test_lift_never_raises(data: st.DataObject) -> None:
    bodies = broken(data, ours())
    plan = lift([Manifest(body) for body in bodies], closed=False)
    assert plan == lift(
        [Manifest(copy.deepcopy(body)) for body in bodies], closed=False
    ) or "nan" in repr(plan)


@settings(max_examples=examples_of(100), deadline=None)
@given(JUNK)
def test_lift_reads_nothing_from_what_is_no_object(junk: Any) -> None:
    kinds = [
        ("v1", "ConfigMap"),
        ("karpenter.sh/v1", "NodePool"),
        ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
    ]
    for api_version, kind in kinds:
        for body in (
            {"apiVersion": api_version, "kind": kind, "spec": junk},
            {"apiVersion": junk, "kind": junk},
        ):
            lift([Manifest({**body, "metadata": junk})], closed=False)


def test_kueues_configuration_may_be_anything_in_a_release() -> None:
    from targets.test_lowering import body_of, manifests_of

    release = body_of(manifests_of(spec()), "HelmRelease", "kueue")
    for text in (
        "a: 2026-02-30",
        "[" * 5000,
        "{",
        "- 1",
        "",
        "a: &a [*a]",
        "? {a: 1}\n: 2",
        "!!python/object:os.x {}",
    ):
        values = {"managerConfig": {"controllerManagerConfigYaml": text}}
        plan = lift(
            [Manifest(mutated(release, ("spec", "values"), values, delete=False))], closed=False
        )
        assert plan.one(QueueManager) is None or text.startswith(("a:", "?"))


@settings(
    max_examples=examples_of(150), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(st.data())
def test_load_never_raises_and_resolve_never_raises_on_what_it_accepts(data: st.DataObject) -> None:
    body = data.draw(specs())
    for _ in range(data.draw(st.integers(1, 4))):
        spots = places(body)
        spot = spots[data.draw(st.integers(0, len(spots) - 1))]
        body = mutated(body, spot, data.draw(JUNK), delete=data.draw(st.booleans()))
    model, faults = load(tree_of(body))
    assert (model is None) == bool(faults)
    assert all(each.code.startswith("SPC") and each.help and each.message for each in faults)
    if model is not None:
        plan, found = resolve(model, load_catalog())
        assert (plan is None) == any(each.severity is Severity.ERROR for each in found)
        if plan is not None:
            assert difference(plan, lifted(lower(plan), closed=True)) == ""
