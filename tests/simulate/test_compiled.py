"""A compiled spec as a simulation reads it: which jobs, with how many pods, and what is assumed of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import POOL, spec
from trainyard.catalog import load_catalog
from trainyard.extensions.forecast.simulate.compiled import Cluster, cluster
from trainyard.extensions.forecast.simulate.forecasts import forecast
from trainyard.extensions.forecast.simulate.objects import Placement
from trainyard.extensions.forecast.simulate.verdict import Kind, Verdict
from trainyard.judge.model.reading import Reading
from trainyard.lift import lift
from trainyard.output.manifest import Manifest

from tests.platforms.passes import compiled

IMAGE = {"image": "registry.test/train:1.0", "command": ["python", "train.py"]}


def read(folder: Path, *jobs: dict[str, Any], **parts: Any) -> Cluster:
    """A cluster with these jobs, as the simulation reads it."""
    data = spec(jobs=[{**IMAGE, **job} for job in jobs], **parts)
    done = compiled(data, folder)
    assert done.plan is not None, done.diagnostics
    return cluster("lab", Reading(done.plan, load_catalog(), done.manifests))


def verdicts(simulated: Cluster) -> dict[str, Verdict]:
    return {each.job: each for each in forecast(simulated).verdicts}


def patched(kind: str, **body: Any) -> dict[str, Any]:
    """The key of a spec that changes all objects of a kind."""
    return {"patches": [{"target": {"kind": kind}, "patch": body}]}


def of_pods(**pod: Any) -> dict[str, Any]:
    """The same of the pods of plain Jobs."""
    return patched("Job", spec={"template": pod})


def test_a_job_that_kueue_admits_in_part_gets_what_is_left(tmp_path: Path) -> None:
    first = {"name": "a-first", "nodes": 1}
    part = {"name": "part", "kind": "Job", "nodes": 4, "minNodes": 2}
    simulated = read(tmp_path, first, part)
    pods = {simulated.titles[job.key]: job.pod_sets[0] for job in simulated.jobs}
    assert (pods["part"].count, pods["part"].least) == (4, 2)
    assert (pods["a-first"].count, pods["a-first"].least) == (1, None)
    found = verdicts(simulated)["part"]
    assert found.kind is Kind.FITS
    assert [where.nodes for where in found.where] == [3]


def test_a_head_that_shares_a_node_with_a_worker_is_on_no_other_node(tmp_path: Path) -> None:
    ray = {"name": "ray", "kind": "RayJob", "nodes": 2, "command": ["python", "r.py"]}
    found = verdicts(read(tmp_path, ray))["ray"]
    assert [(where.pods, where.nodes) for where in found.where] == [(3, 2)]


def test_the_order_of_the_spec_decides_nothing(tmp_path: Path) -> None:
    jobs = [
        {"name": "third", "nodes": 3},
        {"name": "a-second", "nodes": 2},
        {"name": "part", "kind": "Job", "nodes": 4, "minNodes": 2},
    ]
    first = verdicts(read(tmp_path, *jobs))
    assert verdicts(read(tmp_path, *reversed(jobs))) == first


def test_jobs_come_in_the_order_in_which_flux_creates_them(tmp_path: Path) -> None:
    """By the group of their kind, then kind, namespace and name (fluxcd/pkg ssa v0.76.2, sort.go)."""
    own = {"nodes": 1, "command": ["python", "t.py"]}
    jobs = [
        {"name": "a", **own},
        {"name": "b", "kind": "RayJob", **own},
        {"name": "c", "kind": "PyTorchJob", **own},
        {"name": "d", "kind": "MPIJob", "launcher": {"mpi": {}}, **own},
        {"name": "e", "kind": "JobSet", **own},
        {"name": "f", "kind": "Job", **own},
        {"name": "a0", **own},
    ]
    simulated = read(tmp_path, *jobs, pool={"nodes": {"max": 8}})
    came = [simulated.titles[each.key] for each in simulated.new_jobs]
    assert came == ["f", "e", "d", "c", "b", "a", "a0"]


def test_what_helps_a_job_that_does_not_get_its_fewest_nodes(tmp_path: Path) -> None:
    part = {"name": "part", "kind": "Job", "nodes": 4, "minNodes": 3}
    full = {"name": "full", "nodes": 3}
    found = verdicts(read(tmp_path, full, part))["part"]
    assert found.kind is not Kind.FITS
    assert "`minNodes: 1` for `part`" in found.edits


def test_a_sidecar_is_a_part_of_what_a_pod_asks_for(tmp_path: Path) -> None:
    sidecar = {"name": "proxy", "image": "registry.test/proxy:1.0"}
    amounts = {"resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}
    before = {"initContainers": [{**sidecar, **amounts, "restartPolicy": "Always"}]}
    job = {"name": "part", "kind": "Job", "nodes": 1, "resources": {"cpu": 8, "memory": "64Gi"}}
    (alone,) = read(tmp_path, job).jobs
    (beside,) = read(tmp_path, job, **of_pods(spec=before)).jobs
    assert alone.pod_sets[0].requests["cpu"] == 8000
    assert beside.pod_sets[0].requests["cpu"] == 9000


def test_a_job_without_a_queue_is_left_out(tmp_path: Path) -> None:
    patch = patched("Job", metadata={"labels": {"kueue.x-k8s.io/queue-name": None}})
    simulated = read(tmp_path, {"name": "odd", "kind": "Job"}, {"name": "train"}, **patch)
    assert simulated.left_out == (("odd", "no queue: Kueue does not hold it back"),)
    assert list(simulated.titles.values()) == ["train"]


@pytest.mark.parametrize(
    ("annotations", "said"),
    [
        (
            {"kueue.x-k8s.io/podset-group-name": "a"},
            "sets of pods that want one domain together are placed one by one",
        ),
        (
            {"kueue.x-k8s.io/podset-slice-size": "2"},
            "slices of a set of pods are not placed as slices",
        ),
    ],
)
def test_what_is_not_modelled_is_said(
    annotations: dict[str, str], said: str, tmp_path: Path
) -> None:
    patch = of_pods(metadata={"annotations": annotations})
    assert said in read(tmp_path, {"name": "train", "kind": "Job"}, **patch).notes


CLAIM = {"name": "fabric", "resourceClaimName": "fabric"}


def test_a_job_of_which_not_all_is_known_is_left_out(tmp_path: Path) -> None:
    """A resource claim brings what no request says."""
    path = "/spec/template/spec/containers/0/resources/claims"
    claims = [
        {
            "target": {"kind": "Job"},
            "patch": {"spec": {"template": {"spec": {"resourceClaims": [CLAIM]}}}},
        },
        {
            "target": {"kind": "Job"},
            "patch": [{"op": "add", "path": path, "value": [{"name": "fabric"}]}],
        },
    ]
    simulated = read(tmp_path, {"name": "odd", "kind": "Job"}, {"name": "train"}, patches=claims)
    assert simulated.left_out == (("odd", "what it asks for is not known here"),)
    assert list(simulated.titles.values()) == ["train"]


def test_a_job_that_is_suspended_in_git_is_left_out() -> None:
    """Of third parties: no key and no patch of a spec says so."""
    body: dict[str, Any] = {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "metadata": {
            "name": "a",
            "namespace": "team",
            "labels": {"kueue.x-k8s.io/queue-name": "q"},
        },
        "spec": {"runtimeRef": {"name": "r"}, "trainer": {"numNodes": 2}},
    }
    said = {}
    for suspended in (True, False):
        body["spec"]["suspend"] = suspended
        manifests = [Manifest(body, "a.yaml")]
        plan = lift(manifests, closed=False)
        said[suspended] = cluster("lab", Reading(plan, load_catalog(), manifests)).left_out
    assert said[True] == (("a", "suspended"),)
    assert said[False] == (("a", "what it asks for is not known here"),)


def test_resources_that_kueue_counts_as_others_are_said(tmp_path: Path) -> None:
    counted = {"input": "nvidia.com/gpu", "strategy": "Replace", "outputs": {"example.com/gpu": 1}}
    text = yaml.safe_dump(
        {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "integrations": {"frameworks": ["trainer.kubeflow.org/trainjob"]},
            "resources": {"transformations": [counted]},
        }
    )
    path = "/spec/values/managerConfig/controllerManagerConfigYaml"
    edit = {"op": "replace", "path": path, "value": text}
    patches = [{"target": {"kind": "HelmRelease", "name": "kueue"}, "patch": [edit]}]
    note = "resources that Kueue counts as others (transformations) are counted as themselves"
    assert note in read(tmp_path, {"name": "train"}, patches=patches).notes
    assert note not in read(tmp_path, {"name": "train"}).notes


def test_pods_without_a_priority_have_that_of_the_default_class(tmp_path: Path) -> None:
    none = {"spec": {"template": {"spec": {"priorityClassName": None}}}}
    priorities = {}
    for default in (True, False):
        value = {"globalDefault": default, "value": 7}
        patches = [
            {"target": {"kind": "PriorityClass"}, "patch": value},
            {"target": {"kind": "Job"}, "patch": none},
        ]
        (job,) = read(tmp_path, {"name": "train", "kind": "Job"}, patches=patches).jobs
        priorities[default] = job.priority
    assert priorities == {True: 7, False: 0}


def test_node_affinity_is_not_read_and_said(tmp_path: Path) -> None:
    term = {"matchExpressions": [{"key": "team", "operator": "Exists"}]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}
        }
    }
    patch = of_pods(spec={"affinity": affinity})
    notes = read(tmp_path, {"name": "train", "kind": "Job"}, **patch).notes
    assert "the node affinity of `train` is not read" in notes


@pytest.mark.parametrize(
    ("topology", "nodes", "is_condition"),
    [
        ({"required": "network-node-layer-1"}, 4, True),
        ({"preferred": "network-node-layer-1"}, 4, False),
        ({"required": "hostname"}, 1, False),
    ],
)
def test_a_domain_that_is_known_once_nodes_run_is_a_condition(
    topology: dict[str, str], nodes: int, is_condition: bool, tmp_path: Path
) -> None:
    job = {"name": "train", "nodes": nodes, "topology": topology}
    found = verdicts(read(tmp_path, job, pool={"topology": "network"}))["train"]
    assert found.kind is (Kind.ONLY_IF if is_condition else Kind.FITS)
    assert found.conditions == (
        (
            "one domain of `topology.k8s.aws/network-node-layer-1` has 4 free nodes: which nodes share one is known "
            "once they run",
        )
        if is_condition
        else ()
    )
    assert [(each.pool, each.zone, each.domain) for each in found.where] == [
        ("gpu", "us-west-2b", "")
    ]


def test_pods_that_may_go_anywhere_in_a_topology(tmp_path: Path) -> None:
    anywhere = {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}
    patch = of_pods(metadata={"annotations": anywhere})
    (job,) = read(tmp_path, {"name": "train", "kind": "Job"}, **patch).jobs
    assert job.pod_sets[0].placement == Placement("unconstrained")


def test_the_first_type_and_zone_of_a_pool_are_assumed_and_said(tmp_path: Path) -> None:
    pool = {
        **POOL,
        "instanceTypes": ["g6.8xlarge", "g6.16xlarge"],
        "zones": ["us-west-2a", "us-west-2b"],
    }
    simulated = read(tmp_path, {"name": "train", "nodes": 1}, nodePools=[pool])
    assert "nodes of `gpu` are taken to be g6.8xlarge, its first type" in simulated.notes
    assert "nodes of `gpu` are taken to be in us-west-2a, its first zone" in simulated.notes
