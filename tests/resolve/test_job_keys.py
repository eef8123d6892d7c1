"""What a job says of its pods beside its program: each key in the runtime or the TrainJob, and back."""

from __future__ import annotations

from typing import Any

import pytest
from builders import body_of, job_of, manifests_of, plan_of, resolved, shape_faults, spec
from trainyard.core.pods.plan import EFA, HUGEPAGES, Container
from trainyard.eks.jobs.plan import Runtime, TrainJob
from trainyard.lift import lift
from trainyard.plan.base import content
from trainyard.run.lower import lower
from trainyard.verify.formats import objects

STATIC = {"nodes": 4}
PLACED = {"nodes": 4, "topology": "network"}
HOST = "ip-10-0-12-34.us-west-2.compute.internal"
FLUX = "kustomize.toolkit.fluxcd.io/"


def runtime_pod(data: dict[str, Any]) -> dict[str, Any]:
    """The pod template of the only runtime."""
    (job,) = body_of(manifests_of(data), "ClusterTrainingRuntime")["spec"]["template"]["spec"][
        "replicatedJobs"
    ]
    template: dict[str, Any] = job["template"]["spec"]["template"]
    return template


def node(data: dict[str, Any]) -> dict[str, Any]:
    """The container of the program."""
    (container,) = runtime_pod(data)["spec"]["containers"]
    return dict(container)


def refused(data: dict[str, Any]) -> list[tuple[str, str]]:
    """Code and place of each fault."""
    return [(found.code, str(found.at)) for found in resolved(data)[1]]


WITH_ALL = spec(
    pool=PLACED,
    job={
        "nodes": 3,
        "annotations": {"example.com/owner": "research"},
        "imagePullSecrets": ["registry-login"],
        "workingDir": "/workspace",
        "excludeNodes": [HOST],
        "topology": {"required": "network-node-layer-2"},
        "resources": {"hugePages": 0},
    },
)


@pytest.mark.parametrize("version", ["2.3.0", "2.1.0"])
def test_what_is_written_reads_back(version: str) -> None:
    plan = plan_of(
        {**WITH_ALL, "spec": {**WITH_ALL["spec"], "components": {"trainer": {"version": version}}}}
    )
    read = lift(objects(lower(plan)), closed=True)
    assert read.of(Runtime) == plan.of(Runtime)
    assert read.of(TrainJob) == plan.of(TrainJob)
    assert read == plan


def test_annotations_are_on_the_job_and_on_its_pods() -> None:
    data = spec(job={"annotations": {"example.com/owner": "research"}})
    job = body_of(manifests_of(data), "TrainJob")
    assert job["metadata"]["annotations"]["example.com/owner"] == "research"
    pod = runtime_pod(data)["metadata"]["annotations"]
    assert pod["example.com/owner"] == "research"
    assert pod["karpenter.sh/do-not-disrupt"] == "true"


@pytest.mark.parametrize(
    "job",
    [{"annotations": {"a": "${B}"}}, {"workingDir": "/${B}"}],
    ids=lambda job: next(iter(job)),
)
def test_flux_substitutes_nothing_in_a_runtime_that_says_so(job: dict[str, Any]) -> None:
    made = manifests_of(spec(job=job))
    runtime = body_of(made, "ClusterTrainingRuntime")
    assert runtime["metadata"]["annotations"][f"{FLUX}substitute"] == "disabled"


def test_a_runtime_without_a_variable_is_left_to_flux() -> None:
    made = manifests_of(spec())
    runtime = body_of(made, "ClusterTrainingRuntime")
    assert runtime["metadata"]["annotations"] == {f"{FLUX}prune": "disabled"}


def test_images_are_pulled_by_secrets_that_must_exist() -> None:
    data = spec(job={"imagePullSecrets": ["registry-login"]})
    assert runtime_pod(data)["spec"]["imagePullSecrets"] == [{"name": "registry-login"}]
    assert ("v1", "Secret", "training", "registry-login") in plan_of(data).external


def test_the_command_starts_in_its_folder() -> None:
    assert node(spec(job={"workingDir": "/workspace"}))["workingDir"] == "/workspace"
    assert "workingDir" not in node(spec())


def test_excluded_nodes_are_required_affinity() -> None:
    data = spec(pool=STATIC, job={"nodes": 3, "excludeNodes": [HOST]})
    required = runtime_pod(data)["spec"]["affinity"]["nodeAffinity"]
    assert required == {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": [HOST]}
                    ]
                }
            ]
        }
    }


def test_karpenter_launches_nothing_for_a_pod_that_names_hosts() -> None:
    data = spec(job={"nodes": 1, "excludeNodes": [HOST]})
    assert refused(data) == [("RES061", "spec.jobs[0].excludeNodes")]


@pytest.mark.parametrize(
    ("topology", "annotation"),
    [
        (
            {"required": "network-node-layer-2"},
            ("required", "topology.k8s.aws/network-node-layer-2"),
        ),
        ({"preferred": "hostname"}, ("preferred", "kubernetes.io/hostname")),
        (None, ("preferred", "topology.k8s.aws/network-node-layer-3")),
    ],
)
def test_a_level_is_an_annotation_of_the_pods(
    topology: dict[str, str] | None, annotation: tuple[str, str]
) -> None:
    given = runtime_pod(spec(pool=PLACED, job={"topology": topology}))["metadata"]["annotations"]
    named = {key: value for key, value in given.items() if "podset" in key}
    mode, level = annotation
    assert named == {f"kueue.x-k8s.io/podset-{mode}-topology": level}


@pytest.mark.parametrize(
    ("pool", "topology"),
    [
        ({}, {"required": "hostname"}),
        (STATIC, {"preferred": "network-node-layer-1"}),
        (PLACED, {"required": "reservation"}),
        (PLACED, {"required": "hostname"}),
    ],
)
def test_a_pool_has_the_level(pool: dict[str, Any], topology: dict[str, str]) -> None:
    (mode,) = topology
    assert refused(spec(pool=pool, job={"topology": topology})) == [
        ("RES062", f"spec.jobs[0].topology.{mode}")
    ]


def test_no_huge_pages_are_asked_for_where_the_job_wants_none() -> None:
    asked = job_of(spec(job={"resources": {"hugePages": 0}})).requests
    assert HUGEPAGES not in asked
    assert asked[EFA].value == 4
    assert HUGEPAGES not in job_of(spec(job={"nodes": 1, "resources": {"hugePages": 0}})).requests
    assert HUGEPAGES in job_of(spec()).requests


@pytest.mark.parametrize(
    "job",
    [
        {"annotations": {"a": "b"}},
        {"imagePullSecrets": ["a"]},
        {"workingDir": "/a"},
        {"excludeNodes": [HOST]},
        {"topology": {"required": "network-node-layer-1"}},
        {"resources": {"hugePages": 0}},
    ],
    ids=lambda job: next(iter(job)),
)
def test_whatever_changes_the_pods_makes_another_run(job: dict[str, Any]) -> None:
    """Nothing of it can change in a TrainJob that exists, nor may its runtime change under it."""
    plain = job_of(spec(pool=PLACED))
    assert job_of(spec(pool=PLACED, job=job)).name != plain.name
    assert job_of(spec(pool=PLACED, job=job)).name.startswith("train-")


@pytest.mark.parametrize(
    ("job", "code", "at"),
    [
        ({"annotations": {"karpenter.sh/do-not-disrupt": "false"}}, "SPC005", "annotations"),
        ({"annotations": {"kueue.x-k8s.io/queue-name": "a"}}, "SPC005", "annotations"),
        ({"annotations": {"a": "x" * 300_000}}, "SPC005", "annotations"),
        ({"imagePullSecrets": ["a", "a"]}, "SPC005", "imagePullSecrets"),
        ({"workingDir": "work"}, "SPC005", "workingDir"),
        ({"excludeNodes": ["Node_1"]}, "SPC005", "excludeNodes[0]"),
        ({"topology": {}}, "SPC005", "topology"),
        ({"topology": {"required": "hostname", "preferred": "hostname"}}, "SPC005", "topology"),
        ({"topology": {"required": "rack"}}, "SPC004", "topology.required"),
        ({"resources": {"hugePages": 3}}, "SPC005", "resources.hugePages"),
    ],
)
def test_a_value_out_of_bounds_is_refused(job: dict[str, Any], code: str, at: str) -> None:
    (found,) = shape_faults(spec(job=job))
    assert (found.code, str(found.at).partition('["')[0]) == (code, f"spec.jobs[0].{at}")
    assert found.help


def test_a_field_of_a_later_version_changes_no_name_where_it_is_not_set() -> None:
    plain = Container(name="node")
    later = ", working_dir='', run_as_user=None, misspelt=(), restart_policy=None"
    assert later in repr(plain)
    assert content(plain) == repr(plain).replace(later, "")
    assert content(Container(name="node", working_dir="/a")) != content(plain)
    (runtime,) = plan_of(spec()).of(Runtime)
    assert "init_containers" not in content(runtime)


def test_pods_that_fit_one_host_may_require_it() -> None:
    topology = {"required": "hostname"}
    job = {"nodes": 2, "topology": topology, "resources": {"accelerators": 4}}
    assert refused(spec(pool=PLACED, job=job)) == []
    assert refused(spec(pool=PLACED, job={"nodes": 1, "topology": topology})) == []
