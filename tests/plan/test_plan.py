"""What the plan's nodes know of each other: taints, requirements, look-ups, the pod that Trainer makes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import FSX, RELEASE, example, plan_of, spec
from trainyard.core.pods.plan import Container, EnvVar, Mount, Pod, ReplicatedJob, Volume
from trainyard.eks.flux.plan import chart_version
from trainyard.eks.jobs.plan import Patch, Runtime, TrainJob, effective_pod, runtime_of
from trainyard.eks.kueue.plan import Flavor, LocalQueue, queue_of
from trainyard.eks.nodes.plan import NodeClass, NodePool
from trainyard.language.places import Route
from trainyard.language.units import Quantity
from trainyard.plan.scheduling import Requirement, Taint, Toleration, untolerated

GPU = Taint("nvidia.com/gpu", "present", "NoSchedule")


@pytest.mark.parametrize(
    ("toleration", "matches"),
    [
        (Toleration(operator="Exists"), True),
        (Toleration("nvidia.com/gpu", "Exists"), True),
        (Toleration("nvidia.com/gpu", "Exists", effect="NoExecute"), False),
        (Toleration("nvidia.com/gpu", "Equal", "present", "NoSchedule"), True),
        (Toleration("nvidia.com/gpu", "Equal", "true", "NoSchedule"), False),
        (Toleration("aws.amazon.com/neuron", "Exists"), False),
        (Toleration(operator="Equal", value="present"), False),
    ],
)
def test_tolerations_match_as_in_core_v1(toleration: Toleration, matches: bool) -> None:
    assert toleration.tolerates(GPU) is matches


def test_a_taint_is_shown_as_kubectl_writes_it() -> None:
    """One of others may lack what it has to have."""
    shown = [
        str(Taint(*parts))
        for parts in (("a", "b", "NoSchedule"), ("a", "", "NoExecute"), ("a", "b", ""))
    ]
    assert shown == ["a=b:NoSchedule", "a:NoExecute", "a=b"]


def test_only_hard_taints_keep_a_pod_away() -> None:
    soft = Taint("a", "", "PreferNoSchedule")
    assert untolerated((GPU, soft), ()) == (GPU,)
    assert untolerated((GPU, soft), (Toleration("nvidia.com/gpu", "Exists"),)) == ()


def test_requirements_of_one_key_leave_what_all_of_them_allow() -> None:
    pool = NodePool(
        name="p",
        node_class="p",
        labels={"team": "a"},
        requirements=(
            Requirement("zone", "In", ("a", "b")),
            Requirement("zone", "In", ("b", "c")),
            Requirement("type", "NotIn", ("x",)),
        ),
    )
    assert pool.values("zone") == ("b",)
    assert pool.values("team") == ("a",)
    assert pool.values("type") is None


def test_places_take_no_part_in_equality_and_fields_fall_back_to_their_node() -> None:
    here = Route(("spec", "nodePools", 0))
    pool = NodePool(at=here, name="p", node_class="p", origins={"limits": here / "nodes"})
    assert pool == NodePool(name="p", node_class="p")
    assert pool.where("limits") == here / "nodes"
    assert pool.where("taints") == here


def test_names_are_looked_up_by_kind_and_namespace() -> None:
    _, plan = example("two-teams")
    job = plan.of(TrainJob)[0]
    assert plan.named(NodePool, "h100") is plan.of(NodePool)[0]
    assert plan.named(NodeClass, "h100") is plan.of(NodeClass)[0]
    assert plan.named(Flavor, "h100") is plan.of(Flavor)[0]
    assert runtime_of(plan, job) is not None
    assert (found := queue_of(plan, job.queue, job.namespace)) is not None
    assert found.name == "team-a"
    assert queue_of(plan, "nope", job.namespace) is None
    assert plan.named(LocalQueue, "team-a", "team-b") is None
    assert plan.named(NodePool, None) is None
    assert chart_version(plan, "kueue") == RELEASE.version("kueue")
    assert chart_version(plan, "nope") is None


BASE = Pod(
    containers=(
        Container(
            name="node",
            image="a:1",
            env=(EnvVar("A", "1"), EnvVar("B", "1")),
            limits={"cpu": Quantity.of(1), "memory": Quantity.gib(1)},
            mounts=(Mount("shm", "/dev/shm"),),
        ),
    ),
    tolerations=(Toleration("x"),),
    node_selector={"a": "1"},
    volumes=(Volume("shm", "emptyDir"),),
    grace_seconds=60,
)
RUNTIME = Runtime(name="r", jobs=(ReplicatedJob(name="node", step="trainer", pod=BASE),))
JOB = TrainJob(
    name="j", namespace="n", runtime="r", env=(EnvVar("B", "2"),), limits={"cpu": Quantity.of(8)}
)


def test_the_trainer_overlays_the_runtime() -> None:
    pod = effective_pod(replace(JOB, image="b:1", command=("go",)), RUNTIME)
    assert pod is not None
    (main,) = pod.containers
    assert (main.image, main.command) == ("b:1", ("go",))
    assert main.env == (EnvVar("A", "1"), EnvVar("B", "2"))
    assert main.limits == {"cpu": Quantity.of(8), "memory": Quantity.gib(1)}


def test_before_2_3_resources_of_the_trainer_replace_the_runtimes() -> None:
    pod = effective_pod(JOB, RUNTIME, merge_resources=False)
    assert pod is not None
    assert pod.containers[0].limits == {"cpu": Quantity.of(8)}


def test_patches_replace_tolerations_and_merge_the_rest() -> None:
    change = Pod(
        containers=(
            Container(name="node", mounts=(Mount("data", "/data"),)),
            Container(name="nobody"),
        ),
        tolerations=(Toleration("y"),),
        node_selector={"b": "2"},
        volumes=(Volume("data", "hostPath", "/d"),),
    )
    elsewhere = Patch(job="launcher", pod=Pod(node_selector={"c": "3"}))
    pod = effective_pod(replace(JOB, patches=(Patch(job="node", pod=change), elsewhere)), RUNTIME)
    assert pod is not None
    assert pod.tolerations == (Toleration("y"),)
    assert pod.node_selector == {"a": "1", "b": "2"}
    assert [each.path for each in pod.containers[0].mounts] == ["/dev/shm", "/data"]
    assert [each.name for each in pod.volumes] == ["shm", "data"]
    assert pod.grace_seconds == 60


def test_a_runtime_without_trainer_makes_no_pod() -> None:
    assert (
        effective_pod(
            JOB, Runtime(name="r", jobs=(ReplicatedJob(name="node", step=None, pod=BASE),))
        )
        is None
    )


def test_the_pod_of_a_compiled_job_is_whole() -> None:
    data = spec(
        storage=[{"name": "data", "fsxLustre": {"existing": FSX}}],
        job={"mounts": [{"storage": "data", "path": "/data"}]},
    )
    plan = plan_of(data)
    (job,) = plan.of(TrainJob)
    runtime = runtime_of(plan, job)
    assert runtime is not None
    pod = effective_pod(job, runtime)
    assert pod is not None
    assert untolerated(plan.of(NodePool)[0].taints, pod.tolerations) == ()
    assert {each.path for each in pod.containers[0].mounts} == {"/dev/shm", "/data"}
    assert {each.name for each in pod.volumes} == {each.volume for each in pod.containers[0].mounts}
