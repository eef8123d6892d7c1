"""Values that contradict each other or a fact: no plan, and the place and the words say why."""

from __future__ import annotations

from typing import Any

import pytest
from builders import FSX, POOL, plan_of, resolved, spec
from trainyard.catalog import load_catalog
from trainyard.core.jobs.model import checkpoint_bytes
from trainyard.core.jobs.model_spec import Model
from trainyard.core.pools.plan import CapacityWindow
from trainyard.eks.cluster.plan import Cluster
from trainyard.language.diagnostics import Severity

ID = "cr-0a1b2c3d4e5f60718"
BLOCK = {
    "block": {
        "reservations": [{"id": ID}],
        "starts": "2026-12-01T11:30:00Z",
        "ends": "2026-12-02T11:30:00Z",
    }
}
RESERVED = {"reserved": {"reservations": [{"id": ID}]}}
MOUNT = {"mounts": [{"storage": "data", "path": "/data"}]}


def two(**other: Any) -> dict[str, Any]:
    first = {**POOL, "name": "a", "capacity": RESERVED}
    return spec(nodePools=[first, {**first, "name": "b", **other}], job={"pool": "a"})


def saving(every: str, parameters: float, **lustre: Any) -> dict[str, Any]:
    return spec(
        storage=[{"name": "data", "fsxLustre": {"existing": {**FSX, **lustre}}}],
        job={
            **MOUNT,
            "checkpoint": {"path": "/data/run", "every": every},
            "model": {"parameters": parameters, "sharding": "full"},
        },
    )


def ended_apart() -> dict[str, Any]:
    """One Capacity Block in two pools, which say that it ends on another day."""
    found = two()
    for pool, day in zip(found["spec"]["nodePools"], (3, 4), strict=True):
        times = {"starts": "2026-12-01T11:30:00Z", "ends": f"2026-12-{day:02}T11:30:00Z"}
        pool["capacity"] = {"block": {"reservations": [{"id": ID}], **times}}
    return found


def asking(cpu: str) -> dict[str, Any]:
    """Values of Kueue's chart whose manager asks for so many CPUs."""
    manager = {"resources": {"requests": {"cpu": cpu}}}
    return {"controllerManager": {"manager": manager}}


def _large() -> dict[str, Any]:
    """Twice as many nodes, whose GPUs hold what the file system does not."""
    found = saving("1h", 100e9)
    found["spec"]["nodePools"][0]["nodes"] = {"max": 8}
    found["spec"]["jobs"][0]["nodes"] = 8
    return found


def _one_volume() -> dict[str, Any]:
    """Two namespaces and two storages, whose names are the same once they are joined."""
    disks = [
        {"name": "c", "s3": {"existing": {"bucket": "one"}}},
        {"name": "b-c", "s3": {"existing": {"bucket": "two"}}},
    ]
    jobs = [
        {
            "name": f"job-{space}",
            "namespace": space,
            "nodes": 1,
            "image": "a:1",
            "command": ["x"],
            "mounts": [{"storage": name, "path": "/data"}],
        }
        for space, name in (("a-b", "c"), ("a", "b-c"))
    ]
    return spec(
        storage=disks,
        namespaces=[{"name": "a"}, {"name": "a-b"}],
        jobs=jobs,
        queues=[{"name": "q", "namespaces": ["a", "a-b"], "quota": [{"pool": "gpu", "nodes": 4}]}],
    )


def stored(*systems: dict[str, Any]) -> dict[str, Any]:
    return spec(
        storage=[
            {"name": f"s{index}", "fsxLustre": {"existing": {**FSX, **each}}}
            for index, each in enumerate(systems)
        ]
    )


# A spec with one fault; code; route; words of the message; words of the help.
CASES: list[tuple[dict[str, Any], str, str, str, str]] = [
    (
        two(instanceTypes=["p5.48xlarge"]),
        "RES039",
        "spec.nodePools[1].capacity[0].reserved.reservations[0].id",
        f"reservation `{ID}` is of `p4d.24xlarge` in pool `a` and of `p5.48xlarge` in pool `b`",
        "of pool `b`",
    ),
    (
        two(zones=["us-west-2a"]),
        "RES039",
        "spec.nodePools[1].capacity[0].reserved.reservations[0].id",
        "of zone `us-west-2b` in pool `a`",
        "type and zone of each",
    ),
    (
        two(capacity={"block": {"reservations": [{"id": ID}]}}),
        "RES039",
        "spec.nodePools[1].capacity[0].block.reservations[0].id",
        "of type `reserved`",
        "type and zone of each",
    ),
    (
        ended_apart(),
        "RES039",
        "spec.nodePools[1].capacity[0].block.reservations[0].id",
        "of an end at 2026-12-03T11:30:00Z in pool `a` and of an end at 2026-12-04T11:30:00Z in pool `b`",
        "type and zone of each",
    ),
    (
        spec(
            pool={
                "instanceTypes": ["g6e.12xlarge"],
                "efa": False,
                "zones": ["us-west-2a", "us-west-2b"],
                "capacity": RESERVED,
            },
            job={"nodes": 1},
        ),
        "RES039",
        "spec.nodePools[0].zones",
        f"reservation `{ID}` of pool `gpu` lies in one zone, and the pool is in 2",
        "write `zones:`",
    ),
    (
        spec(pool={"placement": "spread", "nodes": {"max": 8}}),
        "RES040",
        "spec.nodePools[0].placement",
        "up to 8 nodes, and a placement group of strategy `spread` has at most 7 a zone",
        "at most `max: 7`",
    ),
    (
        spec(pool={"instanceTypes": ["inf2.48xlarge"], "localStorage": "raid0"}),
        "RES041",
        "spec.nodePools[0].localStorage",
        "`inf2.48xlarge` has no NVMe disks",
        "remove it",
    ),
    (
        spec(platform={"eks": {"systemNodes": {"instanceType": "t3.medium"}}}),
        "RES042",
        "spec.platform.eks.systemNodes.instanceType",
        "2 nodes of `t3.medium` have 3860m CPU for pods, and the controllers on them ask for 5050m",
        "`m7i.2xlarge`",
    ),
    (
        spec(platform={"eks": {"systemNodes": {"instanceType": "c7g.medium", "nodes": 20}}}),
        "RES042",
        "spec.platform.eks.systemNodes.instanceType",
        "a node of `c7g.medium` has 940m CPU",
        "a larger type",
    ),
    (
        spec(components={"kueue": {"values": asking("500")}}),
        "RES042",
        "spec.components.kueue.values.controllerManager.manager.resources.requests.cpu",
        "a pod of `kueue` asks for 500000m CPU, and a node of `m7i.2xlarge` has 7910m for pods",
        "ask for less",
    ),
    (
        spec(components={"kueue": {"values": {"controllerManager": {"replicas": 40}}}}),
        "RES042",
        "spec.platform.eks.systemNodes.instanceType",
        "2 nodes of `m7i.2xlarge` have 15820m CPU for pods, and the controllers on them ask for",
        "more `nodes`",
    ),
    (
        spec(platform={"eks": {"admins": ["arn:aws-cn:iam::111122223333:role/admin"]}}),
        "RES043",
        "spec.platform.eks.admins[0]",
        "is of partition `aws-cn`, and region `us-west-2` of `aws`",
        "arn:aws:iam",
    ),
    (
        spec(
            namespaces=[
                {
                    "name": "a",
                    "principals": ["arn:aws:iam::111122223333:role/KarpenterNodeRole-lab"],
                }
            ]
        ),
        "RES043",
        "spec.namespaces[0].principals[0]",
        "is the role of the nodes",
        "of a person",
    ),
    (
        stored({}, {"mountName": "ijklmnop"}),
        "RES044",
        "spec.storage[1].fsxLustre.existing.mountName",
        "has `mountName: ijklmnop` here and `abcdefgh` in `spec.storage[0].fsxLustre.existing`",
        "describe-file-systems",
    ),
    (
        stored({"deployment": "SCRATCH_1", "size": "3600Gi"}),
        "RES044",
        "spec.storage[0].fsxLustre.existing.mountName",
        "always `fsx`, not `abcdefgh`",
        "`mountName: fsx`",
    ),
    (
        stored({"version": "2.10"}),
        "RES044",
        "spec.storage[0].fsxLustre.existing.version",
        "no PERSISTENT_2 file system is",
        'version: "2.12"',
    ),
    (
        spec(pool={"capacity": BLOCK}, job={"timeout": "24h"}),
        "RES045",
        "spec.jobs[0].timeout",
        "may take 24h, and its nodes go after 23h20m, 40m before the end of the Capacity Block",
        "at most `23h20m`",
    ),
    (
        saving("1m", 70e9),
        "RES046",
        "spec.jobs[0].checkpoint.every",
        "has 913 GiB, which takes 5m21s to write",
        "every: 28m",
    ),
    (
        _one_volume(),
        "RES009",
        "spec.storage[1].name",
        "storage `b-c` in namespace `a` and storage `c` in namespace "
        "`a-b` would have one PersistentVolume, `a-b-c`",
        "rename storage `b-c`",
    ),
    (
        _large(),
        "RES046",
        "spec.jobs[0].checkpoint.path",
        "has 1,304 GiB, and its file system",
        "two checkpoints",
    ),
    (
        spec(job={"model": {"parameters": 1e9, "precision": "fp8"}}),
        "RES047",
        "spec.jobs[0].model.precision",
        "`p4d.24xlarge` has A100 GPUs, which do not compute in fp8",
        "write `bf16`",
    ),
    (
        spec(job={"resources": {"ephemeralStorage": "9Ti"}}),
        "RES048",
        "spec.jobs[0].resources.ephemeralStorage",
        "asks for 9Ti of `ephemeral-storage`, and pods can get",
        "or take a type with larger NVMe disks: what pods write lies on those of `p4d.24xlarge`, which have 8000 GB",
    ),
    (
        spec(
            pool={"localStorage": "none", "rootVolume": {"size": "20Ti"}},
            job={"resources": {"ephemeralStorage": "30Ti"}},
        ),
        "RES048",
        "spec.jobs[0].resources.ephemeralStorage",
        "asks for 30Ti of `ephemeral-storage`, and pods can get",
        "or give the pool a larger `rootVolume`",
    ),
]


@pytest.mark.parametrize(("data", "code", "at", "message", "help"), CASES)
def test_each_contradiction_is_told_at_its_place(
    data: dict[str, Any], code: str, at: str, message: str, help: str
) -> None:
    _, found = resolved(data)
    assert [(each.code, str(each.at)) for each in found] == [(code, at)]
    assert message in found[0].message
    assert help in found[0].help
    assert [each for each in found[0].notes if each.startswith("source: ")]


V100 = {"instanceTypes": ["p3dn.24xlarge"], "zones": ["us-west-2b"]}
BF16 = {"model": {"parameters": 1e9, "precision": "bf16"}}
# Likely wrong, and not for certain: compression may be on, and a GPU without bf16 computes it, slowly.
DOUBTED: list[tuple[dict[str, Any], str, str, str, str]] = [
    (
        saving("6m", 70e9),
        "RES046",
        "spec.jobs[0].checkpoint.every",
        "takes 13m56s to write at 1,172 MB/s, the most that the disks of",
        "every: 28m",
    ),
    (
        saving("10m", 70e9, deployment="PERSISTENT_1", throughputPerTiB=40, size="1800Gi"),
        "RES046",
        "spec.jobs[0].checkpoint.every",
        "at 264 MB/s, the most that the disks of",
        "every: 2h4m",
    ),
    (
        spec(platform={"eks": {"systemNodes": {"instanceType": "m7i.48xlarge", "nodes": 4}}}),
        "RES287",
        "spec.platform.eks.systemNodes",
        "4 system nodes of `m7i.48xlarge` have 765 CPUs, and what runs on them asks for 6",
        "two nodes of `m7i.2xlarge`",
    ),
    (
        spec(pool=V100, job=BF16),
        "RES047",
        "spec.jobs[0].model.precision",
        "has V100 GPUs, which have no bf16",
        "`fp16`",
    ),
]


@pytest.mark.parametrize(("data", "code", "at", "message", "help"), DOUBTED)
def test_each_doubt_is_a_warning(
    data: dict[str, Any], code: str, at: str, message: str, help: str
) -> None:
    made, found = resolved(data)
    assert made is not None
    assert [(each.code, each.severity, str(each.at)) for each in found] == [
        (code, Severity.WARNING, at)
    ]
    assert message in found[0].message
    assert help in found[0].help
    assert [each for each in found[0].notes if each.startswith("source: ")]


GOOD: list[dict[str, Any]] = [
    two(),
    two(
        capacity={"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60719"}]}},
        instanceTypes=["p5.48xlarge"],
    ),
    spec(pool={"placement": "spread", "nodes": {"max": 7}}),
    spec(platform={"eks": {"systemNodes": {"instanceType": "m7i.xlarge"}}}),
    spec(platform={"eks": {"systemNodes": {"instanceType": "c7g.2xlarge"}}}),
    stored({}, {}),
    stored({"deployment": "SCRATCH_1", "mountName": "fsx", "size": "3600Gi"}),
    spec(pool={"capacity": BLOCK}, job={"timeout": "23h20m"}),
    spec(pool={"capacity": {"block": {"reservations": [{"id": ID}]}}}, job={"timeout": "9999h"}),
    saving("30m", 70e9),
    saving("1m", 1e9),
    spec(
        job={
            "model": {"parameters": 1e9, "precision": "bf16"},
            "resources": {"ephemeralStorage": "100Gi"},
        }
    ),
]


@pytest.mark.parametrize("data", GOOD)
def test_what_agrees_is_taken(data: dict[str, Any]) -> None:
    assert plan_of(data)


def test_the_most_that_the_help_offers_is_taken() -> None:
    def faults_of(amount: str) -> list[Any]:
        return resolved(spec(job={"resources": {"ephemeralStorage": amount}}))[1]

    (refused,) = faults_of("9Ti")
    most = refused.help.split("`")[1]
    assert faults_of(most) == []
    more = f"{int(most.removesuffix('Gi')) + 1}Gi"
    assert [fault.code for fault in faults_of(more)] == ["RES048"]


def test_no_address_opens_no_endpoint() -> None:
    """An empty list is nobody, not everybody."""
    network = plan_of(spec(platform={"eks": {"apiServer": {"public": []}}})).one(Cluster)
    assert network is not None
    assert network.network.public_endpoint is False
    assert network.network.public_cidrs == ()


def test_the_default_system_has_room_with_every_option() -> None:
    storage = [
        {"name": "a", "fsxLustre": {"existing": FSX}},
        {"name": "b", "s3": {"existing": {"bucket": "runs"}}},
    ]
    assert plan_of(spec(storage=storage, health={"nodeMonitoringAgent": True}))


@pytest.mark.parametrize(
    ("precision", "optimizer", "each"), [("bf16", None, 14), ("fp32", None, 12), ("fp8", 0, 1)]
)
def test_a_checkpoint_has_weights_and_optimizer(
    precision: str, optimizer: int | None, each: int
) -> None:
    model = Model.model_validate(
        {"parameters": 1e9, "precision": precision, "optimizerBytes": optimizer}
    )
    assert checkpoint_bytes(model) == each * 10**9


def test_every_gpu_of_the_catalog_has_a_generation() -> None:
    """A new GPU is one that computes in bf16 and fp8, or must be named where those that do not are."""
    known = {
        "V100",
        "T4",
        "T4g",
        "A100",
        "A10G",
        "L4",
        "L40S",
        "H100",
        "H200",
        "B200",
        "B300",
        "GB200",
        "RTX PRO 4500",
        "RTX PRO Server 6000",
        "Inferentia",
        "Inferentia2",
        "Trainium",
        "Trainium2",
    }
    assert {
        each.accelerator for each in load_catalog().instance_types.values() if each.accelerator
    } <= known


def test_a_controller_may_be_large_where_a_pool_of_cpus_takes_it() -> None:
    """Its nodes have no taint, so that nothing says that the pod waits for ever."""
    cpus = {"name": "cpu", "instanceTypes": ["c7i.48xlarge"], "zones": ["us-west-2b"], "nodes": 2}
    components = {"kueue": {"values": asking("9")}}
    _, found = resolved(spec(nodePools=[POOL, cpus], components=components, job={"pool": "gpu"}))
    assert [each.code for each in found] == ["RES042"]  # the sum of both replicas
    assert "ask for" in found[0].message


def test_what_is_included_may_need_large_system_nodes() -> None:
    """Nobody knows what it asks for, nor what add-ons of the cluster's own do."""
    large = {"instanceType": "m7i.48xlarge", "nodes": 4}
    addons = {"amazon-cloudwatch-observability": {}}
    _, found = resolved(spec(platform={"eks": {"systemNodes": large, "addons": addons}}))
    assert found == []


@pytest.mark.parametrize("starts", [None, "2026-12-01T11:30:00Z"])
@pytest.mark.parametrize("ends", [None, "2026-12-03T11:30:00Z"])
def test_a_block_of_which_one_end_is_known(starts: str | None, ends: str | None) -> None:
    times = {key: value for key, value in (("starts", starts), ("ends", ends)) if value}
    block = {"block": {"reservations": [{"id": ID}], **times}}
    windows = plan_of(spec(pool={"capacity": block}, jobs=[])).of(CapacityWindow)
    closes = [each.closes for each in windows]
    notice = 40 * 60  # EKS user guide, ml-capacity-block
    assert closes == ([] if not times else [1796297400 - notice if ends else None])
    length = 2 * 24 * 3600 - notice if starts and ends else None
    assert [each.length for each in windows] == ([] if not times else [length])
