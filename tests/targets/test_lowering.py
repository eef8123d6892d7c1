"""Plan to bodies: what every object looks like, and that none of them is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import yaml
from builders import (
    FSX,
    OLD_TRAINER,
    POOL,
    RELEASE,
    SPECS,
    body_of,
    components,
    example,
    files,
    manifests_of,
    objects_of,
    plan_of,
    spec,
)
from trainyard.catalog import load_catalog
from trainyard.eks.cluster.plan import Bootstrap
from trainyard.eks.health.plan import ProblemDetector
from trainyard.eks.nodes.plan import NodeClass
from trainyard.eks.rbac.plan import Access
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.output.body import walk_mappings
from trainyard.output.manifest import Manifest, ObjectRef
from trainyard.plan import Plan
from trainyard.verify import verify
from trainyard.verify.references import made_by_others

VPC = {
    "vpc": "vpc-0a1b2c3d",
    "subnets": [
        {"id": "subnet-0a1b2c3d", "zone": "us-west-2a"},
        {"id": "subnet-1a1b2c3d", "zone": "us-west-2b"},
        {"id": "subnet-2a1b2c3d", "zone": "us-west-2a", "public": True},
        {"id": "subnet-3a1b2c3d", "zone": "us-west-2b", "public": True},
    ],
}
STORAGE = [
    {"name": "data", "fsxLustre": {"existing": {**FSX, "zone": "us-west-2b"}}},
    {"name": "raw", "s3": {"existing": {"bucket": "raw-1"}, "prefix": "x"}},
]
MOUNTS = [
    {"storage": "data", "path": "/data"},
    {"storage": "raw", "path": "/raw", "readOnly": True},
]
QUEUES = [
    {
        "name": "q",
        "namespaces": ["a", "b"],
        "cohort": "all",
        "quota": [{"pool": "gpu", "nodes": 4, "borrowingLimit": 0}],
    }
]

VARIANTS: dict[str, dict[str, Any]] = {
    "plain": spec(),
    "no jobs": spec(jobs=[]),
    "trainer 2.1": spec(
        components=components(trainer=OLD_TRAINER), storage=STORAGE, job={"mounts": MOUNTS}
    ),
    "imported vpc": spec(network={"existing": VPC}),
    "public endpoint": spec(platform={"eks": {"apiServer": {"public": ["203.0.113.0/24"]}}}),
    "spot": spec(pool={"capacity": {"spot": {}}}),
    "reserved": spec(
        pool={"capacity": {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}}}
    ),
    "block": spec(
        pool={
            "capacity": {
                "block": {
                    "reservations": [{"id": "cr-0a1b2c3d4e5f60718"}],
                    "ends": "2026-12-15T11:30:00Z",
                }
            }
        }
    ),
    "static": spec(pool={"nodes": 4, "topology": "network"}),
    "several zones": spec(
        pool={"zones": ["us-west-2a", "us-west-2b"], "efa": False}, job={"nodes": 1}
    ),
    "storage": spec(storage=STORAGE, job={"mounts": MOUNTS, "checkpoint": {"path": "/data/c"}}),
    "no health": spec(
        health={"nodeMonitoringAgent": False, "nodeProblemDetector": False, "nodeRepair": False}
    ),
    "own repository": spec(
        flux={"url": "ssh://git@github.com/org/fleet", "path": "clusters/lab", "branch": "prod"}
    ),
    "public repository": spec(flux={"url": "https://github.com/org/fleet", "source": "fleet"}),
    "cohort": spec(
        queues=QUEUES,
        cohorts=[{"name": "top"}, {"name": "all", "parentName": "top"}],
        job={"namespace": "a", "priority": "high"},
        priorities=[{"name": "high", "value": 0}],
    ),
    "fair sharing": spec(
        queues=[
            {
                **QUEUES[0],
                "queueingStrategy": "StrictFIFO",
                "fairSharing": {"weight": "1500m"},
                "flavorFungibility": {"whenCanBorrow": "TryNextFlavor"},
                "stopPolicy": "Hold",
            }
        ],
        cohorts=[
            {"name": "top"},
            {"name": "all", "parentName": "top", "fairSharing": {"weight": 0}},
        ],
        job={"namespace": "a"},
    ),
    "borrowing by priority": spec(
        queues=[
            {
                **QUEUES[0],
                "preemption": {
                    "withinClusterQueue": "LowerOrNewerEqualPriority",
                    "reclaimWithinCohort": "LowerPriority",
                    "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 0},
                },
            }
        ],
        job={"namespace": "a"},
    ),
    "namespaces": spec(
        namespaces=[
            {"name": "a", "group": "team", "quota": {"cpu": 0, "pods": 9, "accelerators": 8}},
            {"name": "b", "principals": ["arn:aws:iam::111122223333:role/b"]},
        ],
        queues=QUEUES,
        job={"namespace": "a"},
    ),
    "cpu": spec(pool={"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}),
    "neuron": spec(pool={"instanceTypes": ["trn1.32xlarge"], "zones": ["us-west-2d"]}),
    "arm": spec(pool={"instanceTypes": ["g5g.metal"], "zones": ["us-west-2a"]}),
    "b300": spec(pool={"instanceTypes": ["p6-b300.48xlarge"]}),
    "part of a node": spec(
        job={
            "nodes": 1,
            "resources": {"accelerators": 1, "ephemeralStorage": "10Gi"},
            "timeout": "1h",
        }
    ),
    "own volume": spec(
        pool={
            "rootVolume": {"size": "1Ti", "iops": 16000, "throughput": 1000},
            "localStorage": "none",
        }
    ),
    "taints": spec(
        pool={"taints": [{"key": "team", "effect": "NoExecute"}], "labels": {"team": "a"}}
    ),
    "dollars": spec(
        job={"command": ["bash", "-c", "echo ${HOME} $(hostname) {{ x }}"], "env": {"A": "${B}"}}
    ),
    "many": spec(
        jobs=[
            {"name": f"j{i}", "nodes": 1 + i % 4, "image": f"a:{i}", "command": ["x"]}
            for i in range(20)
        ]
    ),
}


def errors(plan: Plan, manifests: list[Manifest]) -> list[Diagnostic]:
    # A Secret that External Secrets makes is there as one that people make is.
    made = [made_by_others(each) for each in manifests]
    secrets = {ObjectRef("v1", *identity[1:]) for identity in made if identity is not None}
    external = {ObjectRef(*each) for each in plan.external} | secrets
    found = verify(manifests, closed=True, external=frozenset(external))
    return [each for each in found if each.severity is Severity.ERROR]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_object_of_a_variant_passes_verification(name: str) -> None:
    plan = plan_of(VARIANTS[name])
    assert [
        (each.object, str(each.at), each.message) for each in errors(plan, objects_of(plan))
    ] == []


@pytest.mark.parametrize("name", SPECS)
def test_every_object_of_the_real_specs_passes_verification(name: str) -> None:
    _, plan = example(name)
    assert [
        (each.object, str(each.at), each.message) for each in errors(plan, objects_of(plan))
    ] == []


def everything() -> Iterator[tuple[str, list[Manifest]]]:
    for name, data in VARIANTS.items():
        yield name, manifests_of(data)
    for name in SPECS:
        yield name, objects_of(example(name)[1])


@pytest.mark.slow
def test_names_and_paths_are_unique_and_no_controllers_field_is_written() -> None:
    for name, manifests in everything():
        assert len({each.ref for each in manifests}) == len(manifests), name
        assert len({each.path.lower() for each in manifests}) == len(manifests), name
        for each in manifests:
            assert each.path.endswith(".yaml")
            assert not each.path.startswith("/")
            assert "status" not in each.body
            keys = {key for _, part in walk_mappings(each.body) for key in part}
            assert "suspend" not in keys, each.ref
            assert (
                json.loads(json.dumps(each.body)) == each.body
            )  # plain values, no tuples, no None keys
            assert not re.search(r"[:,\[] ?null\b", json.dumps(each.body)), each.ref


@pytest.mark.slow
def test_only_what_people_run_lies_in_bootstrap() -> None:
    for name, manifests in everything():
        for each in manifests:
            boot = each.path.startswith("bootstrap/")
            assert boot == (
                each.body["kind"] in ("ClusterConfig", "GitRepository")
                or each.path.startswith("bootstrap/flux/")
            ), name


# --- Trainer


def test_trainer_2_1_gets_overrides_and_later_ones_patches() -> None:
    data = spec(storage=STORAGE, job={"mounts": MOUNTS})
    new = body_of(manifests_of(data), "TrainJob")["spec"]
    old = body_of(
        manifests_of(
            {**data, "spec": {**data["spec"], "components": components(trainer=OLD_TRAINER)}}
        ),
        "TrainJob",
    )["spec"]
    assert "podTemplateOverrides" not in new
    assert "runtimePatches" not in old
    (override,), (patch,) = old["podTemplateOverrides"], new["runtimePatches"]
    (job,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert override["targetJobs"] == [{"name": job["name"]}]
    assert override["spec"] == job["template"]["spec"]["template"]["spec"]
    assert patch["manager"] == "trainyard.dev/compiler"
    for body in (new, old):
        assert body["trainer"]["numProcPerNode"] == 8
        assert type(body["trainer"]["numProcPerNode"]) is int


def test_a_train_job_says_everything_once() -> None:
    manifests = manifests_of(spec(storage=STORAGE, job={"mounts": MOUNTS, "timeout": "2h"}))
    job, runtime = (body_of(manifests, "TrainJob"), body_of(manifests, "ClusterTrainingRuntime"))
    assert job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpu"
    assert job["spec"]["runtimeRef"]["name"] == runtime["metadata"]["name"]
    assert job["spec"]["activeDeadlineSeconds"] == 7200
    resources = job["spec"]["trainer"]["resourcesPerNode"]
    assert resources["limits"] == resources["requests"]
    for body in (job, runtime):
        assert body["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
    pods = runtime["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    (container,) = pods["spec"]["containers"]
    assert set(container) == {
        "name",
        "volumeMounts",
    }  # what the TrainJob says stands in the TrainJob alone


def test_dollars_in_a_command_are_kept_from_flux() -> None:
    plain, shell = (
        body_of(manifests_of(VARIANTS[name]), "TrainJob") for name in ("plain", "dollars")
    )
    key = "kustomize.toolkit.fluxcd.io/substitute"
    assert key not in plain["metadata"]["annotations"]
    assert shell["metadata"]["annotations"][key] == "disabled"
    assert shell["spec"]["trainer"]["command"][2] == "echo ${HOME} $(hostname) {{ x }}"


@pytest.mark.parametrize("name", ["plain", "storage", "cohort"])
def test_config_maps_and_kustomizations_substitute_nothing(name: str) -> None:
    for each in manifests_of(VARIANTS[name]):
        if each.body["kind"] == "ConfigMap":
            assert (
                each.body["metadata"]["annotations"]["kustomize.toolkit.fluxcd.io/substitute"]
                == "disabled"
            )
        if each.body["kind"] == "Kustomization":
            assert "postBuild" not in each.body["spec"]


# --- Karpenter and eksctl


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("plain", ["on-demand"]),
        ("spot", ["spot"]),
        ("reserved", ["reserved"]),
        ("block", ["reserved"]),
    ],
)
def test_capacity_types(name: str, values: list[str]) -> None:
    manifests = manifests_of(VARIANTS[name])
    requirements = body_of(manifests, "NodePool")["spec"]["template"]["spec"]["requirements"]
    assert {each["key"]: each["values"] for each in requirements}[
        "karpenter.sh/capacity-type"
    ] == values
    terms = body_of(manifests, "EC2NodeClass")["spec"].get("capacityReservationSelectorTerms")
    assert terms == ([{"id": "cr-0a1b2c3d4e5f60718"}] if values == ["reserved"] else None)


def test_a_static_pool_has_replicas_and_a_dynamic_one_consolidation() -> None:
    static, dynamic = (
        body_of(manifests_of(VARIANTS[name]), "NodePool")["spec"] for name in ("static", "plain")
    )
    assert (static["replicas"], static["limits"]) == (4, {"nodes": "4"})
    assert "consolidationPolicy" not in static["disruption"]
    assert "replicas" not in dynamic
    assert dynamic["disruption"]["consolidationPolicy"] == "WhenEmpty"
    assert dynamic["limits"] == {"nvidia.com/gpu": "32"}


def test_a_new_vpc_has_zones_and_an_imported_one_subnets() -> None:
    new, imported = (
        body_of(manifests_of(VARIANTS[name]), "ClusterConfig") for name in ("plain", "imported vpc")
    )
    assert new["vpc"]["nat"] == {"gateway": "HighlyAvailable"}
    assert len(new["availabilityZones"]) == 2
    assert "availabilityZones" not in imported
    assert imported["vpc"]["subnets"]["public"]["us-west-2a"] == {"id": "subnet-2a1b2c3d"}
    assert "nat" not in imported["vpc"]
    for body in (new, imported):
        assert "karpenter" not in body
        assert "gitops" not in body


def test_several_subnets_of_a_zone_and_groups_of_an_existing_network() -> None:
    more = {"id": "subnet-4a1b2c3d", "zone": "us-west-2b"}
    network = {
        "existing": {**VPC, "subnets": [*VPC["subnets"], more], "securityGroups": ["sg-0a1b2c3d"]}
    }
    manifests = manifests_of(spec(network=network))
    vpc = body_of(manifests, "ClusterConfig")["vpc"]
    assert vpc["subnets"]["private"] == {
        "us-west-2a": {"id": "subnet-0a1b2c3d"},
        "us-west-2b": {"id": "subnet-1a1b2c3d"},
        "subnet-4a1b2c3d": {"az": "us-west-2b", "id": "subnet-4a1b2c3d"},
    }
    node_class = body_of(manifests, "EC2NodeClass")["spec"]
    assert node_class["subnetSelectorTerms"] == [
        {"id": "subnet-1a1b2c3d"},
        {"id": "subnet-4a1b2c3d"},
    ]
    assert {"id": "sg-0a1b2c3d"} in node_class["securityGroupSelectorTerms"]


@pytest.mark.parametrize(("name", "public"), [("plain", False), ("public endpoint", True)])
def test_the_api_is_reached_from_outside_by_those_that_are_named(name: str, public: bool) -> None:
    vpc = body_of(manifests_of(VARIANTS[name]), "ClusterConfig")["vpc"]
    assert vpc["clusterEndpoints"] == {"publicAccess": public, "privateAccess": True}
    assert vpc.get("publicAccessCIDRs") == (["203.0.113.0/24"] if public else None)


def test_system_nodes_boot_a_known_image_from_an_encrypted_volume() -> None:
    ami = RELEASE.components["ami"]
    tested, older = ami.images[RELEASE.version("ami")], ami.images[min(ami.images)]
    assert tested != older
    minor = RELEASE.version("kubernetes")
    for alias, build in (
        (RELEASE.version("ami"), tested[minor]),
        (min(ami.images), older[minor]),
        ("bottlerocket@v1.44.0", tested[minor]),  # whose system nodes are AL2023
    ):
        (group,) = body_of(manifests_of(spec(platform={"eks": {"ami": alias}})), "ClusterConfig")[
            "managedNodeGroups"
        ]
        assert group["volumeEncrypted"] is True
        assert group["releaseVersion"] == build


def test_every_release_knows_the_release_version_of_its_image() -> None:
    for release in load_catalog().releases.values():
        builds = release.components["ami"].images[release.version("ami")]
        assert release.version("kubernetes") in builds


ROLE = "arn:aws:iam::111122223333:role/{}"


def test_a_teams_principals_get_access_entries_with_its_group() -> None:
    made = plan_of(
        spec(
            platform={"eks": {"admins": [ROLE.format("lead")]}},
            queues=QUEUES,
            job={"namespace": "a"},
            namespaces=[
                {
                    "name": "a",
                    "group": "research",
                    "principals": [ROLE.format("lead"), ROLE.format("ml")],
                },
                {"name": "b", "principals": [ROLE.format("ml")]},
            ],
        )
    )
    (node,) = body_of(objects_of(made), "ClusterConfig")["accessConfig"]["accessEntries"]
    assert node["type"] == "EC2_LINUX"
    found = {
        path: stack
        for path, stack in files(made).items()
        if path.startswith("bootstrap/stacks/principal-")
    }
    lead, ml = (stack["Resources"]["Entry"]["Properties"] for _, stack in sorted(found.items()))
    assert lead["PrincipalArn"] == ROLE.format("lead")
    assert lead["AccessPolicies"][0]["PolicyArn"].endswith("/AmazonEKSClusterAdminPolicy")
    assert "AccessPolicies" not in ml
    own = {
        each["PrincipalArn"]: [
            group for group in each["KubernetesGroups"] if group.startswith("trainyard:")
        ]
        for each in (lead, ml)
    }
    assert all("research" in each["KubernetesGroups"] for each in (lead, ml))
    subjects = {
        each.namespace: [subject.name for subject in each.subjects]
        for each in made.of(Access)
        if each.name == "training-users"
    }
    assert subjects == {
        "a": ["research", *own[ROLE.format("lead")], *own[ROLE.format("ml")]],
        "b": own[ROLE.format("ml")],
    }


def test_controllers_that_refuse_when_they_are_away_are_two_and_apart() -> None:
    written = manifests_of(spec())
    values = {
        name: body_of(written, "HelmRelease", name)["spec"]["values"]
        for name in ("kueue", "jobset", "trainer")
    }
    kueue, jobset, trainer = (
        values["kueue"]["controllerManager"],
        values["jobset"]["controller"],
        values["trainer"]["manager"],
    )
    assert [each["replicas"] for each in (kueue, jobset, trainer)] == [2, 2, 2]
    assert (
        kueue["podDisruptionBudget"]
        == jobset["podDisruptionBudget"]
        == {"enabled": True, "minAvailable": 1}
    )
    keys = ["topology.kubernetes.io/zone", "kubernetes.io/hostname"]
    assert [each["topologyKey"] for each in kueue["topologySpreadConstraints"]] == keys
    for each in (jobset, trainer):
        terms = each["affinity"]["podAntiAffinity"][
            "preferredDuringSchedulingIgnoredDuringExecution"
        ]
        assert [term["podAffinityTerm"]["topologyKey"] for term in terms] == keys
    budget = body_of(written, "PodDisruptionBudget")
    assert budget["metadata"]["namespace"] == "kubeflow-system"
    assert budget["spec"] == {
        "minAvailable": 1,
        "selector": {
            "matchLabels": {
                "app.kubernetes.io/name": "kubeflow-trainer",
                "app.kubernetes.io/instance": "trainer",
                "app.kubernetes.io/part-of": "kubeflow",
                "app.kubernetes.io/component": "manager",
            }
        },
    }


# --- Flux, health, storage


def test_kueues_configuration_always_says_how_long_pods_may_take() -> None:
    release = body_of(manifests_of(spec()), "HelmRelease", "kueue")
    config = yaml.safe_load(
        release["spec"]["values"]["managerConfig"]["controllerManagerConfigYaml"]
    )
    assert config["waitForPodsReady"]["timeout"] == "30m"
    assert config["kind"] == "Configuration"


def test_a_spec_adds_addons_and_changes_ours() -> None:
    own = {
        "vpc-cni": {"values": {"env": {"WARM_ENI_TARGET": "1"}}},
        "coredns": {"version": "v1.14.3-eksbuild.9"},
        "amazon-cloudwatch-observability": {"values": {"agent": {"on": True}}},
    }
    config = body_of(manifests_of(spec(platform={"eks": {"addons": own}})), "ClusterConfig")
    found = {addon["name"]: addon for addon in config["addons"]}
    assert json.loads(found["vpc-cni"]["configurationValues"]) == {
        "enableNetworkPolicy": "true",
        "env": {"WARM_ENI_TARGET": "1"},
    }
    assert found["vpc-cni"]["podIdentityAssociations"]
    assert found["coredns"]["version"] == "v1.14.3-eksbuild.9"
    assert found["amazon-cloudwatch-observability"] == {
        "name": "amazon-cloudwatch-observability",
        "configurationValues": '{"agent": {"on": true}}',
        "podIdentityAssociations": [
            {
                "namespace": "amazon-cloudwatch",
                "serviceAccountName": "cloudwatch-agent",
                "permissionPolicyARNs": [
                    "arn:aws:iam::aws:policy/AWSXrayWriteOnlyAccess",
                    "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy",
                ],
            }
        ],
    }
    plain = body_of(manifests_of(spec()), "ClusterConfig")
    assert [addon["name"] for addon in config["addons"]] == [
        *(addon["name"] for addon in plain["addons"]),
        "amazon-cloudwatch-observability",
    ]


@pytest.mark.parametrize(
    ("settings", "account", "policies"),
    [
        ({}, None, None),
        ({"role": {"namespace": "dns", "serviceAccount": "dns", "policies": []}}, None, None),
        (
            {
                "role": {
                    "namespace": "dns",
                    "serviceAccount": "names",
                    "policies": ["arn:aws:iam::111122223333:policy/dns"],
                }
            },
            "names",
            ["arn:aws:iam::111122223333:policy/dns"],
        ),
    ],
)
def test_an_add_on_that_is_not_known_has_the_role_that_the_spec_says(
    settings: dict[str, Any], account: str | None, policies: list[str] | None
) -> None:
    own = {"eks": {"addons": {"external-dns": settings}}}
    config = body_of(manifests_of(spec(platform=own)), "ClusterConfig")
    (addon,) = [each for each in config["addons"] if each["name"] == "external-dns"]
    identities = addon.get("podIdentityAssociations") or [{}]
    assert identities[0].get("serviceAccountName") == account
    assert identities[0].get("permissionPolicyARNs") == policies


def test_with_auto_mode_the_bootstrap_binds_the_roles_of_add_ons() -> None:
    own = {"eks": {"autoMode": {}, "addons": {"amazon-cloudwatch-observability": {}}}}
    plan = plan_of(spec(platform=own))
    (account,) = plan.of(Bootstrap)
    drivers = {driver.service_account: driver for driver in account.drivers}
    arns = drivers["cloudwatch-agent"].policy_arns
    assert arns[-1] == "arn:aws:iam::aws:policy/CloudWatchAgentServerPolicy"
    config = body_of(manifests_of(spec(platform=own)), "ClusterConfig")
    assert "podIdentityAssociations" not in config["addons"][-1]


def test_queues_say_what_kueue_calls_it() -> None:
    written = manifests_of(VARIANTS["fair sharing"])
    queue = body_of(written, "ClusterQueue")["spec"]
    assert queue["fairSharing"] == {"weight": "1500m"}
    assert queue["queueingStrategy"] == "StrictFIFO"
    assert queue["flavorFungibility"] == {
        "whenCanBorrow": "TryNextFlavor",
        "whenCanPreempt": "TryNextFlavor",
    }
    assert queue["stopPolicy"] == "Hold"
    cohort = body_of(written, "Cohort", "all")["spec"]
    assert cohort == {"parentName": "top", "fairSharing": {"weight": "0"}}
    release = body_of(written, "HelmRelease", "kueue")
    config = yaml.safe_load(
        release["spec"]["values"]["managerConfig"]["controllerManagerConfigYaml"]
    )
    assert config["fairSharing"] == {
        "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
    }
    borrowing = body_of(manifests_of(VARIANTS["borrowing by priority"]), "ClusterQueue")
    assert borrowing["spec"]["preemption"] == {
        "withinClusterQueue": "LowerOrNewerEqualPriority",
        "reclaimWithinCohort": "LowerPriority",
        "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 0},
    }


def test_health_is_there_or_not() -> None:
    names = {each.body["metadata"]["name"] for each in manifests_of(VARIANTS["plain"])}
    assert {"node-problem-detector", "node-condition-tainter", "eks-node-monitoring-agent"} <= names
    none = {each.body["metadata"]["name"] for each in manifests_of(VARIANTS["no health"])}
    assert (
        not {"node-problem-detector", "node-condition-tainter", "eks-node-monitoring-agent"} & none
    )


def test_the_detector_restarts_when_its_configuration_changes() -> None:
    from dataclasses import replace

    from trainyard.eks.health.lower import detector_bodies

    (detector,) = plan_of(spec()).of(ProblemDetector)
    (monitor,) = detector.monitors
    other = replace(detector, monitors=(replace(monitor, source="another"),))
    first, second = (
        detector_bodies(each)[-1]["spec"]["template"]["metadata"] for each in (detector, other)
    )
    assert first["annotations"] != second["annotations"]
    data = detector_bodies(detector)[0]["data"]["gpu-xid.json"]
    assert json.loads(data)["rules"][0]["condition"] == "GpuXidFatal"


def test_a_repository_is_written_only_where_the_spec_names_it() -> None:
    assert not [
        each for each in manifests_of(VARIANTS["plain"]) if each.body["kind"] == "GitRepository"
    ]
    own = body_of(manifests_of(VARIANTS["own repository"]), "GitRepository")
    assert own["spec"] == {
        "interval": "1m",
        "url": "ssh://git@github.com/org/fleet",
        "ref": {"branch": "prod"},
        "secretRef": {"name": "flux-system"},
    }
    assert (
        "secretRef"
        not in body_of(manifests_of(VARIANTS["public repository"]), "GitRepository")["spec"]
    )


def test_stages_depend_on_each_other_in_order() -> None:
    stages = {
        each.body["metadata"]["name"]: each.body["spec"]
        for each in manifests_of(spec())
        if each.body["kind"] == "Kustomization"
    }
    chain = [f"trainyard-{each}" for each in ("crds", "controllers", "platform", "queues", "jobs")]
    for before, after in pairwise(chain):
        assert stages[after]["dependsOn"] == [{"name": before}]
    assert stages["trainyard-jobs"]["wait"] is False
    assert stages["trainyard-crds"]["prune"] is False


def test_a_node_that_is_not_ready_holds_up_no_stage() -> None:
    """Flux takes a DaemonSet for healthy when it is on every node, so nothing may wait for one."""
    made = manifests_of(spec())
    stages = [each.body for each in made if each.body["kind"] == "Kustomization"]
    waited = {after["name"] for each in stages for after in each["spec"].get("dependsOn", ())}
    folders = {each.path.partition("/")[0] for each in made if each.body["kind"] == "DaemonSet"}
    assert folders == {"health"}
    assert "trainyard-health" in {each["metadata"]["name"] for each in stages} - waited
    cpu = manifests_of(spec(pool={"instanceTypes": ["m7i.16xlarge"], "zones": ["us-west-2a"]}))
    assert not any(
        each.body["metadata"]["name"] == "trainyard-health"
        for each in cpu
        if each.body["kind"] == "Kustomization"
    )


def test_volumes_are_bound_to_their_claims_and_never_pruned() -> None:
    manifests = manifests_of(VARIANTS["storage"])
    volume, claim = (
        body_of(manifests, "PersistentVolume", "training-data"),
        body_of(manifests, "PersistentVolumeClaim", "data"),
    )
    assert claim["spec"]["volumeName"] == "training-data"
    assert volume["spec"]["claimRef"] == {"namespace": "training", "name": "data"}
    assert volume["spec"]["storageClassName"] == claim["spec"]["storageClassName"] == ""
    assert volume["spec"]["csi"]["volumeAttributes"]["mountname"] == "abcdefgh"
    assert volume["spec"]["persistentVolumeReclaimPolicy"] == "Retain"
    bucket = body_of(manifests, "PersistentVolume", "training-raw")
    assert bucket["spec"]["csi"]["driver"] == "s3.csi.aws.com"
    assert "prefix x/" in bucket["spec"]["mountOptions"]


# --- files for people


def test_every_placement_group_is_named_by_the_page_of_its_pool() -> None:
    names = ("a-1", "a1", "a--1")
    found = files(
        plan_of(spec(nodePools=[{**POOL, "name": name} for name in names], job={"pool": "a1"}))
    )
    groups = set()
    for name in names:
        page = str(found[f"bootstrap/pools/{name}.md"])
        (group,) = re.findall(r"^placement-group (lab-.+) cluster$", page, re.MULTILINE)
        assert group.startswith(f"lab-{name}")
        groups.add(group)
    assert len(groups) == len(names)


@pytest.mark.parametrize(
    ("pool", "words"),
    [
        ({"placement": "partition"}, "placement-group lab-gpu partition\n"),
        ({"placement": "none"}, None),
        ({"placement": {"group": "ours"}}, None),
    ],
)
def test_a_page_names_the_group_that_its_pool_wants(
    pool: dict[str, Any], words: str | None
) -> None:
    page = str(files(plan_of(spec(pool=pool)))["bootstrap/pools/gpu.md"])
    assert ("placement-group lab-gpu " in page) is (words is not None)
    assert words is None or words in page


def test_the_stack_has_what_the_cluster_names() -> None:
    plan = plan_of(VARIANTS["storage"])
    found = files(plan)
    stack = found["bootstrap/stack.yaml"]["Resources"]
    roles = {
        each["Properties"]["RoleName"]
        for each in stack.values()
        if each["Type"] == "AWS::IAM::Role"
    }
    assert roles == {"KarpenterNodeRole-lab", "KarpenterController-lab", "MountpointS3-lab"}
    assert plan.of(NodeClass)[0].role in roles
    (bucket,) = [
        body for path, body in found.items() if path.startswith("bootstrap/stacks/bucket-")
    ]
    policy = bucket["Resources"]["Policy"]["Properties"]
    assert policy["RoleName"] == "MountpointS3-lab"
    assert "arn:aws:s3:::raw-1/*" in json.dumps(policy)
    driver = found["bootstrap/stacks/fsx-csi-controller-sa.yaml"]["Resources"]
    assert driver["Association"]["Properties"]["RoleArn"] == {"Fn::GetAtt": ["Role", "Arn"]}


@pytest.mark.parametrize("name", [*VARIANTS])
def test_the_readme_has_its_commands_for_every_variant(name: str) -> None:
    found = files(plan_of(VARIANTS[name]))
    text = found["bootstrap/README.md"]
    assert "bootstrap/up.sh --list" in text
    for written in (text, found["bootstrap/up.sh"], found["bootstrap/down.sh"]):
        assert "{{" not in written
    assert "None" not in text


def test_a_given_file_system_gets_the_ports_that_it_needs_to_be_mounted() -> None:
    # Without it pods hang in ContainerCreating; FSx for Lustre user guide, limit-access-security-groups.
    found, without = files(plan_of(VARIANTS["storage"])), files(plan_of(spec()))
    assert "for ports in 988 1018-1023" in found["bootstrap/up.sh"]
    for name in ("README.md", "up.sh", "down.sh"):  # whatever storage there is
        assert found[f"bootstrap/{name}"] == without[f"bootstrap/{name}"]


def test_a_file_system_of_another_vpc_is_mounted_by_its_address() -> None:
    # Its name has no address there: kubernetes-sigs/aws-fsx-csi-driver issue 357.
    disks = [{"name": "data", "fsxLustre": {"existing": {**FSX, "address": "10.8.1.20"}}}]
    written = manifests_of(
        spec(storage=disks, job={"mounts": [{"storage": "data", "path": "/data"}]})
    )
    csi = body_of(written, "PersistentVolume")["spec"]["csi"]
    assert csi["volumeAttributes"] == {"dnsname": "10.8.1.20", "mountname": FSX["mountName"]}
    assert csi["volumeHandle"].startswith(FSX["id"])


def test_the_readme_tells_when_a_block_may_be_pushed_and_what_stays_after_it() -> None:
    block = {
        "capacity": {"block": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}},
        "nodes": {"min": 4, "max": 4},
    }
    text = files(plan_of(spec(pool=block)))["bootstrap/pools/gpu.md"]
    assert "when the block has started" in text
    assert "kubectl delete nodepool" in text
    assert "kubectl delete nodepool " not in files(plan_of(spec()))["bootstrap/pools/gpu.md"]
