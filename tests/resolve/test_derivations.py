"""What nobody wrote: every derived value is right, and says why."""

from __future__ import annotations

from typing import Any

import pytest
from builders import (
    FSX,
    OLD_TRAINER,
    PAIR,
    POOL,
    RELEASE,
    SPECS,
    components,
    example,
    job_of,
    plan_of,
    resolved,
    spec,
)
from trainyard.catalog import allocatable, huge_pages_mib, load_catalog
from trainyard.core.launch.plan import NetworkInterface
from trainyard.core.pods.plan import EFA, EPHEMERAL, GPU, HUGEPAGES, NEURON
from trainyard.core.storage.plan import PersistentVolume, VolumeClaim
from trainyard.eks.cluster.plan import Bootstrap, Cluster
from trainyard.eks.flux.plan import HelmRelease, Stage, chart_version
from trainyard.eks.health.plan import ProblemDetector
from trainyard.eks.jobs.plan import TRAINER_CHART, Runtime, TrainJob, runtime_of
from trainyard.eks.kueue.plan import (
    ClusterQueue,
    Flavor,
    QueueManager,
    Topology,
    WorkloadPriority,
    queue_of,
)
from trainyard.eks.nodes.plan import NodeClass, NodeOverlay, NodePool
from trainyard.eks.teams.plan import PodPriority
from trainyard.language.places import Route
from trainyard.language.units import Duration, Quantity
from trainyard.plan import Derived, Plan
from trainyard.plan.scheduling import NODEPOOL_LABEL, POOL_LABEL, Requirement, untolerated


def env(job: TrainJob) -> dict[str, str | None]:
    return {each.name: each.value for each in job.env}


def reasons(plan: Plan, target: str) -> dict[str, str]:
    return {each.field: each.reason for each in plan.derived if each.object == target}


# --- resources


@pytest.mark.parametrize(
    ("instance", "zone", "nodes", "efa"),
    [
        ("p4d.24xlarge", "us-west-2b", 1, 0),
        ("p4d.24xlarge", "us-west-2b", 2, 4),
        ("p5.48xlarge", "us-west-2a", 2, 32),
        ("g6e.48xlarge", "us-west-2a", 2, 4),
        ("m7i.16xlarge", "us-west-2a", 2, 0),
        ("g5g.metal", "us-west-2a", 2, 0),
    ],
)
def test_several_nodes_talk_over_all_efa_devices_and_one_over_none(
    instance: str, zone: str, nodes: int, efa: int
) -> None:
    job = job_of(spec(pool={"instanceTypes": [instance], "zones": [zone]}, job={"nodes": nodes}))
    assert job.requests.get(EFA, Quantity(0)).value == efa
    assert (HUGEPAGES in job.requests) is (efa > 0)


def test_requests_are_limits_and_lie_inside_what_a_node_has() -> None:
    plan = plan_of(spec())
    (job,) = plan.of(TrainJob)
    assert job.requests == job.limits
    assert job.requests[GPU].value == 8
    assert 80 <= job.requests["cpu"].value < 96
    # 1152 GiB, less Karpenter's 7.5 % and the EFA driver's huge pages: the scheduler's view.
    assert Quantity.gib(1000) <= job.requests["memory"] < Quantity.gib(1066 - 10)


@pytest.mark.parametrize("gpus", [0, 1, 2, 4, 8])
def test_a_part_of_the_gpus_comes_with_its_part_of_the_node(gpus: int) -> None:
    whole = job_of(spec(job={"nodes": 1})).requests
    part = job_of(spec(job={"nodes": 1, "resources": {"accelerators": gpus}})).requests
    assert part.get(GPU, Quantity(0)).value == gpus
    assert part["cpu"].value == whole["cpu"].value * max(gpus, 1) // 8
    assert part["memory"] <= whole["memory"]


def test_what_is_written_wins() -> None:
    own = {
        "cpu": "90",
        "memory": "1000Gi",
        "accelerators": 4,
        "efa": 2,
        "hugePages": "2Gi",
        "ephemeralStorage": "100Gi",
    }
    plan = plan_of(spec(job={"resources": own, "sharedMemory": "64Gi", "processesPerNode": 3}))
    (job,) = plan.of(TrainJob)
    assert {name: str(amount) for name, amount in job.requests.items()} == {
        "cpu": "90",
        "memory": "1000Gi",
        GPU: "4",
        EFA: "2",
        HUGEPAGES: "2Gi",
        EPHEMERAL: "100Gi",
    }
    assert job.processes == 3
    derived = {each.field: each for each in plan.derived if each.object == "job/train"}
    for field, value in (
        ("resources.cpu", "90"),
        ("resources.efa", "2"),
        ("sharedMemory", "64Gi"),
        ("processesPerNode", "3"),
    ):
        at = Route(("spec", "jobs", 0, *field.split(".")))
        assert derived[field] == Derived("job/train", field, value, "set by the spec", at=at)


@pytest.mark.parametrize("memory", [None, "1Gi", "2Gi", "100Gi"])
def test_shared_memory_lies_inside_the_memory_limit(memory: str | None) -> None:
    job = {"resources": {"memory": memory}} if memory else {}
    plan = plan_of(spec(job=job))
    (shm,) = plan.of(Runtime)[0].jobs[0].pod.volumes
    assert shm.medium == "Memory"
    assert shm.size is not None
    assert (
        Quantity.mib(256)
        <= shm.size
        <= Quantity.mib(plan.of(TrainJob)[0].limits["memory"].value // 1024**2 // 4)
    )


@pytest.mark.parametrize(
    ("instance", "zone", "job", "count"),
    [
        ("p4d.24xlarge", "us-west-2b", {}, 8),
        ("p4d.24xlarge", "us-west-2b", {"resources": {"accelerators": 4}}, 4),
        ("m7i.16xlarge", "us-west-2a", {}, 1),
        ("trn1.32xlarge", "us-west-2d", {}, 32),
        ("trn2.48xlarge", "us-east-2a", {}, 64),
        ("trn2.48xlarge", "us-east-2a", {"resources": {"accelerators": 4}}, 16),
        ("trn2.48xlarge", "us-east-2a", {"env": {"NEURON_LOGICAL_NC_CONFIG": "1"}}, 128),
    ],
)
def test_one_process_an_accelerator(
    instance: str, zone: str, job: dict[str, Any], count: int
) -> None:
    found = job_of(
        spec(
            pool={"instanceTypes": [instance], "zones": [zone]},
            job={"nodes": 1, **job},
            region=zone[:-1],
        )
    )
    assert found.processes == count


@pytest.mark.parametrize(
    ("job", "field", "value"),
    [
        ({"env": {"NCCL_NET": "Socket"}}, "env.NCCL_NET", "Socket"),
        ({"env": {"PET_RDZV_CONF": "timeout=60"}}, "env.PET_RDZV_CONF", "timeout=60"),
        (
            {"secretEnv": [{"env": "NCCL_NET", "secret": "s", "key": "k"}]},
            "env.NCCL_NET",
            "from Secret s",
        ),
        ({"retries": 2}, "retries", "2"),
        ({"terminationGracePeriod": "5m"}, "terminationGracePeriod", "5m"),
        ({"serviceAccount": "loader"}, "serviceAccount", "loader"),
        ({"pool": "gpu"}, "pool", "gpu"),
        ({"queue": "gpu"}, "queue", "gpu"),
        ({"namespace": "training"}, "namespace", "training"),
    ],
)
def test_what_the_spec_sets_is_told_with_its_place(
    job: dict[str, Any], field: str, value: str
) -> None:
    before = {each.field: each for each in plan_of(spec()).derived if each.object == "job/train"}
    plan = plan_of(spec(job=job))
    (derived,) = [
        each for each in plan.derived if each.object == "job/train" and each.field == field
    ]
    assert (derived.value, derived.reason) == (value, "set by the spec")
    assert derived.at is not None
    assert before[field].at is None
    assert len([each for each in plan.of(TrainJob)[0].env if f"env.{each.name}" == field]) <= 1


def test_pods_run_as_the_account_that_the_job_names_and_have_its_time_to_save() -> None:
    plan = plan_of(spec(job={"serviceAccount": "loader", "terminationGracePeriod": "5m"}))
    (pod,) = [each.pod for each in plan.of(Runtime)[0].jobs]
    assert (pod.service_account, pod.grace_seconds) == ("loader", 300)
    assert ("v1", "ServiceAccount", "training", "loader") in plan.external


# --- rendezvous and network

RENDEZVOUS = {
    "PET_RDZV_BACKEND",
    "PET_RDZV_ENDPOINT",
    "PET_RDZV_ID",
    "PET_RDZV_CONF",
    "PET_MAX_RESTARTS",
}


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (["torchrun", "t.py"], set()),
        (["/opt/venv/bin/torchrun", "t.py"], set()),
        (["python", "-m", "torch.distributed.run", "t.py"], set()),
        (["bash", "-c", "set -e; torchrun t.py"], set()),
        (["torchrun", "--rdzv-backend=static", "t.py"], {"PET_RDZV_BACKEND"}),
        (
            ["torchrun", "--rdzv_backend", "c10d", "--max_restarts=0", "t.py"],
            {"PET_RDZV_BACKEND", "PET_MAX_RESTARTS"},
        ),
        (["bash", "-c", "torchrun --rdzv-endpoint=$A:1 t.py"], {"PET_RDZV_ENDPOINT"}),
        (["bash", "-c", "torchrun 'unclosed --rdzv-id=1"], {"PET_RDZV_ID"}),
        (["torchrun", "--standalone", "t.py"], RENDEZVOUS),
        (["python", "t.py"], RENDEZVOUS),
        (["deepspeed", "t.py"], RENDEZVOUS),
    ],
)
def test_the_rendezvous_is_told_to_torchrun_unless_its_flags_say_it(
    command: list[str], missing: set[str]
) -> None:
    job = job_of(spec(job={"command": command}))
    assert env(job).keys() & RENDEZVOUS == RENDEZVOUS - missing


def test_the_rendezvous_meets_at_rank_0_of_this_very_run() -> None:
    job = job_of(spec(job={"maxRestarts": 5}))
    # The very name of rank 0's own /etc/hosts: nothing that DNS knows a moment later.
    assert (
        env(job)["PET_RDZV_ENDPOINT"]
        == f"{job.name}-node-0-0.{job.name}.training.svc.cluster.local:29500"
    )
    assert env(job)["PET_RDZV_ID"] == job.name
    assert env(job)["PET_MAX_RESTARTS"] == "5"


def test_ranks_wait_for_each_other_as_long_as_kueue_waits_for_their_pods() -> None:
    plan = plan_of(spec())
    said = env(plan.of(TrainJob)[0])["PET_RDZV_CONF"]
    assert said is not None
    waits = dict(each.split("=") for each in said.split(","))
    # c10d reads these two and not `timeout`, which is the static backend's.
    assert {"join_timeout", "read_timeout"} <= waits.keys()
    assert plan.one(QueueManager) is not None
    assert plan.one(QueueManager).recovery is not None
    assert {int(each) for each in waits.values()} == {plan.one(QueueManager).recovery.seconds}


def test_a_variable_of_the_spec_is_never_set_twice() -> None:
    own = {"PET_RDZV_CONF": "timeout=60", "NCCL_NET": "Socket", "CHECKPOINT_DIR": "/c"}
    job = job_of(spec(job={"env": own, "checkpoint": {"path": "/data"}}))
    names = [each.name for each in job.env]
    assert len(names) == len(set(names))
    assert own.items() <= env(job).items()


@pytest.mark.parametrize(
    ("pool", "nodes", "expected"),
    [
        ({}, 2, True),
        ({}, 1, False),
        ({"efa": False}, 2, False),
        ({"instanceTypes": ["trn1.32xlarge"], "zones": ["us-west-2d"]}, 2, False),
        ({"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}, 2, False),
        ({"instanceTypes": ["g5g.metal"], "zones": ["us-west-2a"]}, 2, False),
    ],
)
def test_nccl_is_tied_to_the_efa_plugin_only_where_gpus_talk_over_efa(
    pool: dict[str, Any], nodes: int, expected: bool
) -> None:
    assert ("NCCL_NET" in env(job_of(spec(pool=pool, job={"nodes": nodes})))) is expected


def test_secrets_become_references_and_are_expected_to_exist() -> None:
    plan = plan_of(spec(job={"secretEnv": [{"env": "HF_TOKEN", "secret": "hf", "key": "token"}]}))
    (variable,) = [each for each in plan.of(TrainJob)[0].env if each.secret]
    assert (variable.name, variable.value, variable.secret, variable.key) == (
        "HF_TOKEN",
        None,
        "hf",
        "token",
    )
    assert ("v1", "Secret", "training", "hf") in plan.external


# --- pods, runtimes, restarts


def test_failures_pass_to_jobset_which_makes_all_pods_anew() -> None:
    (runtime,) = plan_of(spec(job={"maxRestarts": 1, "retries": 7})).of(Runtime)
    (node,) = runtime.jobs
    assert (runtime.max_restarts, node.backoff_limit, node.pod.restart_policy) == (7, 0, "Never")
    assert node.step == "trainer"


def test_a_job_that_saves_gets_time_to_do_so() -> None:
    assert plan_of(spec()).of(Runtime)[0].jobs[0].pod.grace_seconds == 60
    (runtime,) = plan_of(spec(job={"checkpoint": {"path": "/data"}})).of(Runtime)
    assert runtime.jobs[0].pod.grace_seconds == 300


@pytest.mark.parametrize("name", SPECS)
def test_tolerations_are_the_pools_taints(name: str) -> None:
    _, plan = example(name)
    for runtime in plan.of(Runtime):
        pod = runtime.jobs[0].pod
        pools = [
            each
            for each in plan.of(NodePool)
            if pod.node_selector.items() <= {**each.labels, NODEPOOL_LABEL: each.name}.items()
        ]
        assert pools
        for pool in pools:
            assert untolerated(pool.taints, pod.tolerations) == ()
            assert len(pod.tolerations) == len(pool.taints)


def test_what_follows_from_a_queue_shows_where_it_is_written() -> None:
    """Without queues there is nothing to show: the queue is ours."""
    queue = {"name": "research", "namespaces": ["team-a"], "quota": [{"pool": "gpu", "nodes": 4}]}
    for queues, pool, namespace in (
        ([queue], "spec.queues[0].quota", "spec.queues[0].namespaces"),
        (None, "None", "None"),
    ):
        derived = plan_of(spec(queues=queues)).derived
        places = {each.field: str(each.at) for each in derived if each.object == "job/train"}
        assert (places["pool"], places["namespace"]) == (pool, namespace)


def test_equal_jobs_share_a_runtime_and_its_name_follows_its_content() -> None:
    first = {"name": "a", "nodes": 2, "image": "a:1", "command": ["torchrun", "t.py"]}
    plan = plan_of(spec(jobs=[first, {**first, "name": "b", "nodes": 3, "image": "b:1"}]))
    assert len(plan.of(Runtime)) == 1
    assert {each.runtime for each in plan.of(TrainJob)} == {plan.of(Runtime)[0].name}
    other = plan_of(spec(jobs=[first, {**first, "name": "b", "sharedMemory": "1Gi"}]))
    assert len(other.of(Runtime)) == 2
    assert plan.of(Runtime)[0].name in {each.name for each in other.of(Runtime)}


HASHED: list[dict[str, Any]] = [
    {"image": "registry.test/train:2.0"},
    {"command": ["torchrun", "u.py"]},
    {"args": ["--x"]},
    {"env": {"A": "1"}},
    {"nodes": 2},
    {"secretEnv": [{"env": "A", "secret": "s", "key": "k"}]},
    {"mounts": [{"storage": "d", "path": "/d"}]},
    {"resources": {"cpu": 8}},
    {"processesPerNode": 2},
    {"sharedMemory": "1Gi"},
    {"maxRestarts": 9},
    {"retries": 9},
    {"checkpoint": {"path": "/c"}},
    {"timeout": "1h"},
    {"priority": "high"},
    {"rerun": 1},
    {"queue": "two"},
    {"namespace": "b"},
    {"pool": "second"},
]
FREE: list[dict[str, Any]] = [
    {},
    {"labels": {"team": "x"}},
    {"model": {"parameters": 1e9}},
    {"env": {}},
    {"queue": "one"},
    {"namespace": "a"},
    {"pool": "gpu"},
]


def roomy(job: dict[str, Any]) -> dict[str, Any]:
    """Two pools, two queues, two namespaces: something to move to."""
    quota = [{"pool": "gpu", "nodes": 4}, {"pool": "second", "nodes": 4}]
    pool = {
        "name": "gpu",
        "instanceTypes": ["p4d.24xlarge"],
        "zones": ["us-west-2b"],
        "nodes": {"max": 4},
    }
    return spec(
        nodePools=[pool, {**pool, "name": "second"}],
        storage=[{"name": "d", "fsxLustre": {"existing": FSX}}],
        queues=[
            {"name": name, "namespaces": ["a", "b"], "quota": quota} for name in ("one", "two")
        ],
        priorities=[{"name": "high", "value": 1}],
        job={"queue": "one", "namespace": "a", "pool": "gpu", **job},
    )


@pytest.mark.parametrize("change", HASHED, ids=lambda each: next(iter(each)))
def test_the_name_changes_with_what_a_trainjob_cannot_change(change: dict[str, Any]) -> None:
    assert job_of(roomy(change)).name != job_of(roomy({})).name


@pytest.mark.parametrize("change", FREE, ids=lambda each: next(iter(each), "nothing"))
def test_the_name_stays_where_nothing_immutable_changes(change: dict[str, Any]) -> None:
    assert job_of(roomy(change)).name == job_of(roomy({})).name


def test_the_name_does_not_depend_on_neighbours() -> None:
    alone = roomy({})
    crowd = roomy({})
    crowd["spec"]["jobs"].append({**crowd["spec"]["jobs"][0], "name": "other", "image": "o:1"})
    assert plan_of(crowd).of(TrainJob)[0].name == job_of(alone).name


def test_labels_of_the_cluster_stand_on_every_job() -> None:
    job = job_of(spec(labels={"org": "research", "team": "x"}, job={"labels": {"team": "z"}}))
    assert {
        "org": "research",
        "team": "z",
        "trainyard.dev/job": "train",
    }.items() <= job.labels.items()


# --- pools


def test_a_pool_is_of_one_type_in_one_zone_with_limits_in_gpus() -> None:
    plan = plan_of(spec())
    (pool,) = plan.of(NodePool)
    assert (pool.instance_types, pool.zones, pool.capacity_types) == (
        ("p4d.24xlarge",),
        ("us-west-2b",),
        ("on-demand",),
    )
    assert pool.limits == {GPU: Quantity.of(32)}
    assert (pool.replicas, pool.consolidation, pool.expire_after) == (None, "WhenEmpty", "Never")
    assert [str(each) for each in pool.taints] == ["nvidia.com/gpu=present:NoSchedule"]


def test_a_static_pool_keeps_its_nodes() -> None:
    (pool,) = plan_of(spec(pool={"nodes": 4})).of(NodePool)
    assert (pool.replicas, pool.consolidation, pool.limits) == (4, None, {"nodes": Quantity.of(4)})
    # At its limit it has no room for a successor (karpenter v1.14.1, static drift), and its end is nobody's plan.
    assert [(each.nodes, each.reasons) for each in pool.budgets] == [("0", ("Drifted",))]
    assert pool.termination_grace is None


def test_a_cpu_pool_has_a_taint_of_its_own_and_limits_in_cpus() -> None:
    plan = plan_of(spec(pool={"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}))
    (pool,), (job,) = plan.of(NodePool), plan.of(TrainJob)
    assert [str(each) for each in pool.taints] == ["trainyard.dev/training=present:NoSchedule"]
    assert pool.limits == {"cpu": Quantity.of(256)}
    assert job.requests.keys() == {"cpu", "memory"}
    assert env(job).keys() >= RENDEZVOUS  # torchrun without GPUs: Gloo
    assert not plan.of(ProblemDetector)
    assert "nvidia-device-plugin" not in {each.name for each in plan.of(HelmRelease)}


def interfaces(instance: str, zone: str) -> tuple[NetworkInterface, ...]:
    return (
        plan_of(spec(pool={"instanceTypes": [instance], "zones": [zone]}))
        .of(NodeClass)[0]
        .interfaces
    )


def test_the_first_card_carries_ip_and_every_other_interface_only_efa() -> None:
    assert [
        (each.card, each.device, each.type) for each in interfaces("p4d.24xlarge", "us-west-2b")
    ] == [
        (0, 0, "interface"),
        (0, 1, "efa-only"),
        (1, 0, "efa-only"),
        (2, 0, "efa-only"),
        (3, 0, "efa-only"),
    ]


def test_p6_b300_has_its_efa_on_cards_1_to_16() -> None:
    (first, *rest) = interfaces("p6-b300.48xlarge", "us-west-2b")
    assert first == NetworkInterface(0, 0, "interface")
    assert rest == [NetworkInterface(card, 0, "efa-only") for card in range(1, 17)]


def test_trainium_has_neuron_devices_and_eight_efa() -> None:
    plan = plan_of(spec(pool={"instanceTypes": ["trn1.32xlarge"], "zones": ["us-west-2d"]}))
    assert plan.of(NodeClass)[0].efa == 8
    assert plan.of(TrainJob)[0].requests[NEURON].value == 16
    assert [str(each) for each in plan.of(NodePool)[0].taints] == [
        "aws.amazon.com/neuron=present:NoSchedule"
    ]
    assert not plan.of(ProblemDetector)


def test_an_arm_pool_compiles_without_efa() -> None:
    plan = plan_of(spec(pool={"instanceTypes": ["g5g.metal"], "zones": ["us-west-2a"]}))
    assert plan.of(NodeClass)[0].interfaces == ()
    assert plan.of(TrainJob)[0].requests[GPU].value == 2


@pytest.mark.parametrize(
    ("pool", "group"),
    [
        ({}, "lab-gpu"),
        ({"nodes": {"max": 1}}, None),
        ({"placement": "none"}, None),
        ({"placement": "spread"}, "lab-gpu"),
        ({"efa": False}, None),
        ({"capacity": {"spot": {}}}, "lab-gpu"),
        ({"capacity": {"reserved": {"reservations": [{"id": "cr-00000001"}]}}}, None),
        ({"capacity": {"block": {"reservations": [{"id": "cr-00000001"}]}}}, None),
        ({"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}, None),
        ({"instanceTypes": ["m7i.48xlarge"], "zones": ["us-west-2a"]}, "lab-gpu"),
    ],
)
def test_gangs_over_efa_get_a_cluster_placement_group(
    pool: dict[str, Any], group: str | None
) -> None:
    plan = plan_of(spec(pool=pool))
    assert plan.of(NodeClass)[0].placement_group == group
    assert plan.one(Bootstrap) is not None
    assert [each.name for each in plan.one(Bootstrap).placement_groups] == (
        [group] if group else []
    )


def test_a_placement_group_that_exists_is_taken_and_none_is_made() -> None:
    reserved = {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}}
    plan = plan_of(spec(pool={"placement": {"group": "ours"}, "capacity": reserved}))
    assert plan.of(NodeClass)[0].placement_group == "ours"
    assert plan.one(Bootstrap) is not None
    assert plan.one(Bootstrap).placement_groups == ()


def test_a_capacity_block_is_bought_as_reserved_and_tells_its_end() -> None:
    capacity = {"block": {"reservations": [{"id": "cr-00000001"}], "ends": "2026-12-15T11:30:00Z"}}
    plan = plan_of(spec(pool={"capacity": capacity}))
    (pool,), (node_class,) = plan.of(NodePool), plan.of(NodeClass)
    assert pool.capacity_types == ("reserved",)
    assert pool.values("karpenter.k8s.aws/capacity-reservation-type") == ("capacity-block",)
    assert [each.id for each in node_class.reservations] == ["cr-00000001"]
    assert node_class.annotations == {"trainyard.dev/capacity-block-ends": "2026-12-15T11:30:00Z"}
    # Karpenter drains 40 minutes before the end, EC2 takes the node 30 minutes before it; pods that say do-not-disrupt
    # are told to stop only for a deadline.
    assert pool.termination_grace == "8m"
    assert "8m" in {each.value for each in plan.derived if each.field == "terminationGracePeriod"}


def test_the_only_zone_of_the_network_that_offers_a_type_is_derived() -> None:
    ids = {
        "us-west-2a": "usw2-az1",
        "us-west-2b": "usw2-az4",
    }  # other than the catalog's account has them
    plan = plan_of(
        spec(
            pool={"zones": None, "instanceTypes": ["p5en.48xlarge"]},
            network={"create": {"zones": ["us-west-2a", "us-west-2b"]}, "zoneIds": ids},
        )
    )
    assert plan.of(NodePool)[0].zones == ("us-west-2b",)
    assert "the only zone" in reasons(plan, "pool/gpu")["zones"]


@pytest.mark.parametrize(
    ("region", "instance", "zones"),
    [("us-east-2", "trn1.32xlarge", 1), ("us-east-2", "p4d.24xlarge", 3)],
)
def test_the_only_zone_that_offers_a_type_is_derived(
    region: str, instance: str, zones: int
) -> None:
    offered = load_catalog().instance(instance).zones[region]
    assert len(offered) == zones
    plan, _ = resolved(spec(region=region, pool={"zones": None, "instanceTypes": [instance]}))
    if zones == 1:
        assert plan is not None
        assert plan.of(NodePool)[0].zones == offered
        assert reasons(plan, "pool/gpu")["zones"] == f"the only zone of {region} with {instance}"
    else:
        assert plan is None


def test_the_network_spans_the_pools_zones_and_two_at_least() -> None:
    plan = plan_of(spec())
    assert plan.one(Cluster) is not None
    zones = plan.one(Cluster).network.zones
    assert "us-west-2b" in zones
    assert len(zones) == 2


def test_the_discovery_tag_is_ours() -> None:
    plan = plan_of(spec(tags={"team": "a"}))
    assert plan.one(Cluster) is not None
    assert plan.one(Cluster).tags == {"team": "a", "karpenter.sh/discovery": "lab"}


# --- queues


@pytest.mark.parametrize("team", ["one", "two"])
def test_a_job_goes_to_the_only_queue_of_its_namespace(team: str) -> None:
    quota = [{"pool": "gpu", "nodes": 1}]
    queues = [{"name": name, "namespaces": [name], "quota": quota} for name in ("one", "two")]
    plan = plan_of(spec(queues=queues, job={"namespace": team}))
    assert plan.of(TrainJob)[0].queue == team
    assert reasons(plan, "job/train")["queue"] == "the only queue that could take it"


def test_without_queues_each_pool_has_one_of_its_name() -> None:
    """So that a pool that comes changes no other queue; a job without a queue goes to that of its pool."""
    second = {**POOL, "name": "second"}
    both = plan_of(spec(nodePools=[POOL, second], job={"pool": "second"}))
    assert [each.name for each in both.of(ClusterQueue)] == ["gpu", "second"]
    assert both.of(TrainJob)[0].queue == "second"
    plan = plan_of(spec())
    (queue,) = plan.of(ClusterQueue)
    assert queue == both.of(ClusterQueue)[0]
    assert (queue.name, plan.of(TrainJob)[0].queue, plan.of(TrainJob)[0].namespace) == (
        "gpu",
        "gpu",
        "training",
    )
    quota = queue.flavors()[0].of(GPU)
    assert quota is not None
    assert quota.nominal.value == 32


@pytest.mark.parametrize("name", SPECS)
def test_every_resource_that_a_pod_asks_is_covered_for_all_its_nodes(name: str) -> None:
    _, plan = example(name)
    for job in plan.of(TrainJob):
        queue = queue_of(plan, job.queue, job.namespace)
        assert queue is not None
        runtime = runtime_of(plan, job)
        assert runtime is not None
        flavor = next(
            each
            for each in queue.flavors()
            if {each.flavor} == {*runtime.jobs[0].pod.node_selector.values()}
        )
        for resource, amount in job.requests.items():
            assert resource in queue.covered
            quota = flavor.of(resource)
            assert quota is not None
            assert quota.nominal.milli + (
                quota.borrowing.milli if quota.borrowing else 0
            ) >= amount.milli * (job.nodes or 1)


def test_quota_is_whole_nodes_of_all_that_a_pool_offers() -> None:
    """Whatever jobs ask; disks are counted by no queue."""
    own = {"ephemeralStorage": "100Gi"}
    quota = [{"pool": "gpu", "nodes": 3, "borrowingLimit": 1, "lendingLimit": 2}]
    queues = [{"name": "q", "namespaces": ["a"], "cohort": "all", "quota": quota}]
    plan = plan_of(spec(queues=queues, job={"nodes": 2, "resources": own}))
    (flavor,) = plan.of(ClusterQueue)[0].flavors()
    (node,) = [each for each in plan.derived if (each.object, each.field) == ("pool/gpu", "efa")]
    assert node.value == "4"
    for resource, per_node in ((GPU, 8), (EFA, 4), (HUGEPAGES, 21122 * 1024**2)):
        found = flavor.of(resource)
        assert found is not None
        assert (found.nominal.value, found.borrowing, found.lending) == (
            3 * per_node,
            Quantity.of(per_node),
            Quantity.of(2 * per_node),
        )
    assert flavor.of(EPHEMERAL) is None
    assert plan.one(QueueManager) is not None
    assert plan.one(QueueManager).excluded_prefixes == (EPHEMERAL,)
    assert plan_of(spec(queues=queues, jobs=None)).of(ClusterQueue) == plan.of(ClusterQueue)


def test_pools_of_other_kinds_share_a_group_with_nothing_of_each_others() -> None:
    pools = [
        {
            "name": "gpu",
            "instanceTypes": ["p4d.24xlarge"],
            "zones": ["us-west-2b"],
            "nodes": {"max": 1},
        },
        {
            "name": "cpu",
            "instanceTypes": ["m7i.16xlarge"],
            "zones": ["us-west-2b"],
            "nodes": {"max": 1},
        },
    ]
    quota = [{"pool": each["name"], "nodes": 1} for each in pools]
    queues = [{"name": "q", "namespaces": ["a"], "quota": quota}]
    plan = plan_of(spec(nodePools=pools, queues=queues, job={"pool": "cpu", "nodes": 1}))
    (group,) = plan.of(ClusterQueue)[0].groups
    for flavor in group.flavors:
        assert tuple(each.resource for each in flavor.quotas) == group.covered
    cpu = group.flavors[1].of(GPU)
    assert cpu is not None
    assert cpu.nominal == Quantity(0)


def test_flavors_stand_in_the_order_of_the_quota() -> None:
    """Kueue tries them in the order of the ClusterQueue (v0.19.2, flavorassigner)."""
    pools = [
        {
            "name": name,
            "instanceTypes": ["p4d.24xlarge"],
            "zones": ["us-west-2b"],
            "nodes": {"max": 1},
        }
        for name in ("one", "two", "three")
    ]
    order = ["three", "one", "two"]
    quota = [{"pool": name, "nodes": 1} for name in order]
    queues = [{"name": "q", "namespaces": ["a"], "quota": quota}]
    plan = plan_of(spec(nodePools=pools, queues=queues, jobs=[]))
    (queue,) = plan.of(ClusterQueue)
    assert [flavor.flavor for flavor in queue.flavors()] == order


BOTH = ("LessThanOrEqualToFinalShare", "LessThanInitialShare")


@pytest.mark.parametrize(
    ("parts", "strategies"),
    [
        ({}, ()),
        ({"queues": {"fairSharing": {"weight": 2}}}, BOTH),
        ({"cohorts": {"fairSharing": {"weight": "500m"}}}, BOTH),
        ({"kueue": {"fairSharing": {}}}, BOTH),
        (
            {
                "queues": {"fairSharing": {"weight": 2}},
                "kueue": {"fairSharing": {"preemptionStrategies": [BOTH[1]]}},
            },
            (BOTH[1],),
        ),
    ],
)
def test_fair_sharing_is_on_where_something_has_a_weight(
    parts: dict[str, Any], strategies: tuple[str, ...]
) -> None:
    queue = {
        "name": "q",
        "namespaces": ["a"],
        "cohort": "team",
        "quota": [{"pool": "gpu", "nodes": 4}],
        **parts.get("queues", {}),
    }
    cohort = {"name": "team", "parentName": "all", **parts.get("cohorts", {})}
    plan = plan_of(
        spec(queues=[queue], cohorts=[{"name": "all"}, cohort], kueue=parts.get("kueue"))
    )
    manager = plan.one(QueueManager)
    assert manager is not None
    assert manager.fair_sharing == bool(strategies)
    assert manager.preemption_strategies == strategies
    derived = "fairSharing.preemptionStrategies" in reasons(plan, "kueue")
    assert derived == (bool(strategies) and "kueue" not in parts)


def test_pods_have_longer_to_be_ready_than_nodes_and_images_take() -> None:
    dynamic, static = (plan_of(spec()), plan_of(spec(pool={"nodes": 4})))
    assert dynamic.one(QueueManager) is not None
    assert static.one(QueueManager) is not None
    assert dynamic.one(QueueManager).pods_ready == Duration.minutes(30)
    assert static.one(QueueManager).pods_ready == Duration.minutes(30)
    assert dynamic.one(QueueManager).recovery is not None
    assert dynamic.one(QueueManager).recovery >= Duration.minutes(35)
    given = plan_of(spec(kueue={"waitForPodsReady": {"timeout": "1h"}})).one(QueueManager)
    assert given is not None
    assert given.pods_ready == Duration(3600)
    assert given.recovery == Duration(3600)
    waits = {"timeout": "1h", "recoveryTimeout": "0s"}
    never = plan_of(spec(kueue={"waitForPodsReady": waits})).one(QueueManager)
    assert never is not None
    assert never.recovery == Duration(0)
    assert "waitForPodsReady" in reasons(dynamic, "kueue")


def test_a_network_topology_is_asked_only_by_gangs_of_pools_that_have_one() -> None:
    pool = {"topology": "network", "nodes": {"min": 4, "max": 4}}
    plan = plan_of(spec(pool=pool))
    assert [each.name for each in plan.of(Topology)] == [plan.of(Flavor)[0].topology]
    assert "kueue.x-k8s.io/podset-preferred-topology" in plan.of(Runtime)[0].jobs[0].pod.annotations
    alone = plan_of(spec(pool=pool, job={"nodes": 1}))
    assert (
        "kueue.x-k8s.io/podset-preferred-topology"
        not in alone.of(Runtime)[0].jobs[0].pod.annotations
    )
    assert plan_of(spec()).of(Topology) == ()


# --- around the jobs


def test_each_namespace_that_mounts_a_storage_has_a_volume_of_its_own() -> None:
    mount = {"mounts": [{"storage": "data", "path": "/data"}]}
    first = {"name": "a", "nodes": 1, "image": "a:1", "command": ["x"], "namespace": "one", **mount}
    plan = plan_of(
        spec(
            storage=[
                {"name": "data", "fsxLustre": {"existing": {**FSX, "zone": "us-west-2b"}}},
                {"name": "unused", "s3": {"existing": {"bucket": "abc"}}},
            ],
            queues=[
                {"name": "q", "namespaces": ["one", "two"], "quota": [{"pool": "gpu", "nodes": 4}]}
            ],
            jobs=[first, {**first, "name": "b", "namespace": "two"}, {**first, "name": "c"}],
        )
    )
    assert [(each.name, each.claim_namespace, each.zone) for each in plan.of(PersistentVolume)] == [
        ("one-data", "one", "us-west-2b"),
        ("two-data", "two", "us-west-2b"),
    ]
    assert len({each.handle for each in plan.of(PersistentVolume)}) == 2
    assert [(each.namespace, each.name, each.volume) for each in plan.of(VolumeClaim)] == [
        ("one", "data", "one-data"),
        ("two", "data", "two-data"),
    ]


def test_a_storage_may_be_mounted_twice_and_have_any_name() -> None:
    mounts = [
        {"storage": "dshm", "path": "/in", "readOnly": True},
        {"storage": "dshm", "path": "/out"},
    ]
    plan = plan_of(
        spec(storage=[{"name": "dshm", "fsxLustre": {"existing": FSX}}], job={"mounts": mounts})
    )
    (patch,) = plan.of(TrainJob)[0].patches
    assert {each.name: each.source for each in patch.pod.volumes} == {
        "dshm-2": "dshm",
        "dshm-3": "dshm",
    }
    assert [(each.volume, each.path) for each in patch.pod.containers[0].mounts] == [
        ("dshm-2", "/in"),
        ("dshm-3", "/out"),
    ]


@pytest.mark.parametrize(
    ("pool", "capacity"),
    [
        ({"nodes": {"max": 4}}, {HUGEPAGES: "21122Mi"}),
        (
            {"instanceTypes": ["p5.4xlarge"], "zones": ["us-west-2a"], "nodes": {"max": 4}},
            {HUGEPAGES: "3522Mi"},
        ),
        (
            {"instanceTypes": ["c7i.48xlarge"], "zones": ["us-west-2a"], "nodes": {"max": 4}},
            {HUGEPAGES: "42242Mi"},
        ),
        ({"nodes": {"min": 4, "max": 4}}, None),
        ({"instanceTypes": ["g6.xlarge"], "zones": ["us-west-2a"], "nodes": {"max": 4}}, None),
    ],
)
def test_karpenter_is_told_of_huge_pages_where_pods_call_nodes_up(
    pool: dict[str, Any], capacity: dict[str, str] | None
) -> None:
    plan = plan_of(spec(pool=pool))
    summary = [
        (each.requirements, {name: str(amount) for name, amount in each.capacity.items()})
        for each in plan.of(NodeOverlay)
    ]
    name = plan.of(NodePool)[0].name
    assert summary == (
        [((Requirement(NODEPOOL_LABEL, "In", (name,)),), capacity)] if capacity else []
    )
    values = {each.name: each.values for each in plan.of(HelmRelease)}
    assert (
        values["karpenter"]["settings"]["featureGates"]["nodeOverlay"] is True
    )  # whatever pools there are
    # A pod that asks for what Karpenter does not see on any type gets no node.
    asks = plan.of(TrainJob)[0].requests.get(HUGEPAGES, Quantity(0))
    assert (
        plan.of(NodePool)[0].replicas
        or asks <= Quantity(0)
        or asks <= plan.of(NodeOverlay)[0].capacity[HUGEPAGES]
    )


@pytest.mark.parametrize(
    "instance", ["p5.4xlarge", "c7i.48xlarge", "p5.48xlarge", "p4d.24xlarge", "g6.8xlarge"]
)
def test_what_a_job_asks_by_itself_is_on_the_node_that_is_launched_for_it(instance: str) -> None:
    """Or Karpenter launches node after node: held against a node whose memory is 3 % short of the nominal."""
    kind = load_catalog().instance(instance)
    assert kind is not None
    zone = "us-west-2b" if instance.startswith("p4d") else "us-west-2a"
    plan = plan_of(
        spec(
            pool={"instanceTypes": [instance], "zones": [zone], "nodes": {"max": 4}},
            job={"nodes": 2},
        )
    )
    asks, left = (
        plan.of(TrainJob)[0].requests,
        allocatable(kind, huge_pages=True, vm_overhead=0.03),
    )
    assert asks["memory"] <= Quantity.mib(left.memory_mib)
    assert Quantity(0) < asks[HUGEPAGES] <= Quantity.mib(huge_pages_mib(kind))
    assert plan.of(NodeOverlay)[0].capacity[HUGEPAGES] == Quantity.mib(huge_pages_mib(kind))


def test_a_job_without_a_priority_comes_after_those_with_one() -> None:
    plan = plan_of(spec(priorities=[{"name": "low", "value": 10}]))
    (pods,) = plan.of(PodPriority)
    # Kueue takes it for the priority of jobs that name none.
    assert 0 < pods.value < plan.of(WorkloadPriority)[0].value


def test_the_host_engine_whose_end_makes_a_node_sick_has_no_limit() -> None:
    values = {each.name: each.values for each in plan_of(spec()).of(HelmRelease)}
    assert values["eks-node-monitoring-agent"]["dcgmAgent"]["resources"].keys() == {"requests"}


def test_agents_tolerate_every_taint() -> None:
    plan = plan_of(spec(pool={"taints": [{"key": "team", "value": "a", "effect": "NoExecute"}]}))
    values = {each.name: each.values for each in plan.of(HelmRelease)}
    for reach in (
        values["nvidia-device-plugin"]["tolerations"],
        values["aws-efa-k8s-device-plugin"]["tolerations"],
        values["eks-node-monitoring-agent"]["dcgmAgent"]["tolerations"],
    ):
        assert reach == [{"operator": "Exists"}]


def test_the_fleet_folder_is_the_specs_or_named_after_the_cluster() -> None:
    assert {each.path for each in plan_of(spec()).of(Stage)} >= {
        "./generated/lab/queues",
        "./generated/lab/jobs",
    }
    own = plan_of(spec(flux={"path": ".clusters/lab"}))
    assert {each.path for each in own.of(Stage)} >= {"./.clusters/lab/queues"}
    assert own.one(Bootstrap) is not None
    assert own.one(Bootstrap).path == ".clusters/lab"


def test_versions_of_the_spec_win_over_the_releases() -> None:
    karpenter = f"{RELEASE.components['karpenter'].supported[0]}.0"
    plan = plan_of(spec(components=components(karpenter=karpenter, trainer=OLD_TRAINER)))
    versions = {each.name: each.version for each in plan.of(HelmRelease)}
    assert (versions["karpenter"], versions["karpenter-crd"], versions["trainer"]) == (
        karpenter,
        karpenter,
        OLD_TRAINER,
    )
    assert chart_version(plan, TRAINER_CHART) == OLD_TRAINER


NEXT_TRAINER = f"{RELEASE.components['trainer'].supported[1]}.0"
OLD_KUEUE = PAIR.version.rpartition(".")[0] + ".5"


@pytest.mark.parametrize(
    ("versions", "kueue"),
    [
        ({}, RELEASE.version("kueue")),
        ({"trainer": NEXT_TRAINER}, RELEASE.version("kueue")),
        ({"trainer": OLD_TRAINER}, PAIR.version),
        ({"trainer": OLD_TRAINER, "kueue": OLD_KUEUE}, OLD_KUEUE),
    ],
)
def test_kueue_is_of_a_version_that_starts_the_jobs_of_this_trainer(
    versions: dict[str, str], kueue: str
) -> None:
    plan = plan_of(spec(components=components(**versions)))
    assert chart_version(plan, "kueue") == kueue
    assert {each.version for each in plan.of(HelmRelease) if each.name == "kueue"} == {kueue}
    (derived,) = [each for each in plan.derived if each.field == "components.kueue.version"]
    assert (derived.value, derived.reason == "set by the spec") == (kueue, "kueue" in versions)


@pytest.mark.parametrize("name", SPECS)
def test_every_derived_value_says_why(name: str) -> None:
    _, plan = example(name)
    assert plan.derived
    for each in plan.derived:
        assert each.object
        assert each.field
        assert each.value
        assert each.reason
        assert each.origin
        assert not each.reason.endswith(".")
    targets = {each.object for each in plan.derived}
    assert {f"job/{job.source_name}" for job in plan.of(TrainJob)} <= targets
    assert {
        f"pool/{pool.labels.get(POOL_LABEL, pool.name)}" for pool in plan.of(NodePool)
    } <= targets


def test_each_device_has_the_plugin_that_advertises_it() -> None:
    neuron = plan_of(spec(pool={"instanceTypes": ["trn1.32xlarge"], "zones": ["us-west-2d"]}))
    names = {each.name: each.values for each in neuron.of(HelmRelease)}
    assert "neuron-helm-chart" in names
    assert "nvidia-device-plugin" not in names
    assert "aws-efa-k8s-device-plugin" in names
    assert "neuron-helm-chart" not in {each.name for each in plan_of(spec()).of(HelmRelease)}
