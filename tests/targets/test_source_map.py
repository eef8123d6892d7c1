"""Each field of each object knows the line of the spec that it came from."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from builders import SPECS, body_of, document, example, objects_of, plan_of, spec
from trainyard.eks.nodes.plan import NodePool
from trainyard.language.places import Document, Key, Route
from trainyard.output.manifest import Manifest
from trainyard.run.lower import lower

# What an origin may name although this plan does not have it: fields that are there for some plans only.
OPTIONAL = {
    "allowedTopologies",
    "dataFrom",
    "template",
    "KmsKeyId",
    "WeeklyMaintenanceStartTime",
    "EfaEnabled",
    "MetadataConfiguration",
    "DriveCacheType",
    "networkInterfaces",
    "capacityReservationSelectorTerms",
    "placementGroupSelector",
    "instanceStorePolicy",
    "replicas",
    "labels",
    "cohortName",
    "parentName",
    "fairSharing",
    "flavorFungibility",
    "stopPolicy",
    "borrowingLimit",
    "lendingLimit",
    "nodeAffinity",
    "args",
    "env",
    "activeDeadlineSeconds",
    "runtimePatches",
    "podTemplateOverrides",
    "kueue.x-k8s.io/priority-class",
    "availabilityZones",
    "publicAccessCIDRs",
    "trainyard.dev/lustre-version",
    "aws.amazon.com/neuron",
    "nvidia.com/gpu",
    "vpc.amazonaws.com/efa",
    "iops",
    "throughput",
    "cidr",
    "topologyName",
    "url",
}


def value_at(body: Any, path: tuple[Key, ...]) -> Any:
    """The value of a field, which may be in a text of YAML, as a chart takes Kueue's configuration."""
    for key in path:
        if isinstance(body, str):
            body = yaml.safe_load(body)
        if (isinstance(body, list) and isinstance(key, int) and key < len(body)) or (
            isinstance(body, dict) and key in body
        ):
            body = body[key]
        else:
            return KeyError
    return body


@pytest.mark.parametrize("name", SPECS)
def test_origins_are_of_fields_that_exist_or_are_known_to_be_optional(name: str) -> None:
    for manifest in lower(example(name)[1]):
        for path in manifest.origins:
            assert value_at(manifest.body, path) is not KeyError or path[-1] in OPTIONAL, (
                manifest.ref,
                path,
            )


@pytest.mark.parametrize("name", SPECS)
def test_origins_resolve_in_the_spec(name: str) -> None:
    source, plan = example(name)
    for manifest in lower(plan):
        for route in (manifest.at, *manifest.origins.values()):
            assert route, manifest.ref
            assert route[0] == "spec" or route == ("metadata", "name")
            # Some depend on what was left out: then the nearest thing that was written is shown, no further than
            # the section (`nodePools`, `jobs`, …) that would hold it.
            _, followed = source.node(route)
            spec, _ = source.node(Route(("spec",)))
            if len(route) > 1 and spec.child(route[1]) is not None:
                assert followed >= 2, (manifest.ref, route)
            if len(route) > 2 and isinstance(route[2], int):
                assert followed >= 3, (manifest.ref, route)


def test_a_template_comes_from_the_line_of_what_it_is_for() -> None:
    data = spec(
        platform={"eks": {"admins": ["arn:aws:iam::111122223333:role/ops"]}},
        namespaces=[
            {
                "name": "training",
                "principals": [
                    "arn:aws:iam::111122223333:role/ops",
                    "arn:aws:iam::111122223333:role/ml",
                ],
            }
        ],
        storage=[{"name": "raw", "s3": {"existing": {"bucket": "raw-1"}}}],
        job={"mounts": [{"storage": "raw", "path": "/raw"}]},
    )
    source = document(data)
    found = {
        each.path.removeprefix("bootstrap/"): source.span(each.at)
        for each in lower(plan_of(data))
        if each.format == "cloudformation"
    }
    shown = {
        path.partition("-")[0]: span.file.line(span.line).strip()
        for path, span in found.items()
        if "principal" not in path
    }
    assert shown == {"stack.yaml": "name: lab", "stacks/bucket": "- name: raw"}
    assert {
        span.file.line(span.line).strip() for path, span in found.items() if "principal" in path
    } == {"- arn:aws:iam::111122223333:role/ops", "- arn:aws:iam::111122223333:role/ml"}


def test_an_annotation_of_pods_comes_from_its_own_line() -> None:
    found = [
        (value_at(manifest.body, path), str(route))
        for manifest in objects_of(plan_of(spec(job={"annotations": {"a.test/owner": "me"}})))
        for path, route in manifest.origins.items()
        if path[-1] == "a.test/owner"
    ]
    assert found
    assert set(found) == {("me", 'spec.jobs[0].annotations["a.test/owner"]')}


def line_of(source: Document, manifest: Manifest, *path: Key) -> str:
    span = source.span(manifest.origin(path))
    return span.file.line(span.line).strip()


def find(manifests: list[Manifest], kind: str, name: str = "") -> Manifest:
    body = body_of(manifests, kind, name)
    return next(each for each in manifests if each.body is body)


LINES: list[tuple[str, str, tuple[Key, ...], str]] = [
    ("NodePool", "a100", ("spec", "limits"), "nodes: 4"),
    ("NodePool", "a100", ("spec", "replicas"), "nodes: 4"),
    (
        "NodePool",
        "a100",
        ("spec", "template", "spec", "requirements", 0, "values"),
        "instanceTypes: [p4d.24xlarge]",
    ),
    (
        "NodePool",
        "a100",
        ("spec", "template", "spec", "requirements", 1),
        "zones: [ap-northeast-2b]",
    ),
    ("NodePool", "a100", ("spec", "template", "spec", "taints", 0), "- name: a100"),
    ("EC2NodeClass", "a100", ("spec", "placementGroupSelector", "name"), "placement: cluster"),
    (
        "EC2NodeClass",
        "a100",
        ("spec", "blockDeviceMappings", 0, "ebs"),
        "rootVolume: {size: 500Gi}",
    ),
    ("EC2NodeClass", "a100", ("spec", "networkInterfaces", 3), "instanceTypes: [p4d.24xlarge]"),
    (
        "ClusterQueue",
        "research",
        ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "nominalQuota"),
        "- {name: research, namespaces: [team-a], quota: [{pool: a100, nodes: 4}]}",
    ),
    ("PersistentVolume", "", ("spec", "capacity", "storage"), "size: 38400Gi"),
    ("PersistentVolume", "", ("spec", "nodeAffinity"), "zone: ap-northeast-2b"),
    (
        "WorkloadPriorityClass",
        "production",
        ("value",),
        "- {name: production, value: 1000, description: runs that a release waits for}",
    ),
    ("TrainJob", "", ("spec", "trainer", "numNodes"), "nodes: 4"),
    (
        "TrainJob",
        "",
        ("spec", "trainer", "command", 1),
        "command: [torchrun, train.py, --config, llama3-8b.yaml]",
    ),
    (
        "TrainJob",
        "",
        ("spec", "trainer", "resourcesPerNode", "limits", "cpu"),
        "resources: {cpu: 90, memory: 1000Gi}",
    ),
    (
        "TrainJob",
        "",
        ("spec", "trainer", "env", 0, "valueFrom"),
        "secretEnv: [{env: HF_TOKEN, secret: hf-token, key: token}]",
    ),
    (
        "TrainJob",
        "",
        ("metadata", "labels", "kueue.x-k8s.io/priority-class"),
        "priority: production",
    ),
    ("TrainJob", "", ("metadata", "labels", "kueue.x-k8s.io/queue-name"), "queue: research"),
    (
        "TrainJob",
        "",
        ("spec", "runtimePatches", 0),
        "mounts: [{storage: checkpoints, path: /data/fsx}]",
    ),
    ("TrainJob", "", ("metadata", "name"), "- name: llama3-8b-fsdp"),
    (
        "ClusterTrainingRuntime",
        "",
        ("spec", "template", "spec", "failurePolicy", "maxRestarts"),
        "retries: 10",
    ),
    ("ClusterConfig", "seoul-llm", ("metadata", "region"), "region: ap-northeast-2"),
    (
        "ClusterConfig",
        "seoul-llm",
        ("vpc", "cidr"),
        "network: {create: {cidr: 10.0.0.0/16, zones: [ap-northeast-2a, ap-northeast-2b]}}",
    ),
]


@pytest.mark.parametrize(("kind", "name", "path", "line"), LINES)
@pytest.mark.needs("observability")
def test_a_field_comes_from_its_line(
    kind: str, name: str, path: tuple[Key, ...], line: str
) -> None:
    source, plan = example("llama3-8b")
    shown = line_of(source, find(objects_of(plan), kind, name), *path)
    assert shown.partition("#")[0].strip() == line.partition("#")[0].strip()


@pytest.mark.needs("observability")
def test_in_a_folder_each_job_points_at_its_own_file() -> None:
    source, plan = example("jakarta")
    jobs = [each for each in objects_of(plan) if each.body["kind"] == "TrainJob"]
    files = {
        source.span(each.origin(("spec", "trainer", "numNodes"))).file.name.rpartition("/")[2]
        for each in jobs
    }
    assert files == {
        f"{name}.yaml"
        for name in ("atlas", "borneo", "celebes", "java", "lombok", "sumatra", "timor")
    }


def test_a_field_without_origin_takes_that_of_its_nearest_ancestor() -> None:
    manifest = Manifest(
        {}, at=(root := example("starter")[1].of(NodePool)[0].at), origins={("a", 0): root / "x"}
    )
    assert manifest.origin(("a", 0, "b", "c")) == root / "x"
    assert manifest.origin(("a", 1)) == root
    assert manifest.origin(()) == root
