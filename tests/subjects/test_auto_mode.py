"""EKS Auto Mode: what eksctl and EKS are given, what is left out, how long a node waits, and what is read back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import (
    body_of,
    faults_of,
    files,
    job_of,
    manifests_of,
    objects_of,
    plan_of,
    shape_faults,
    spec,
)
from history.folder import codes, compiled
from running import Command
from trainyard.catalog import load_catalog
from trainyard.catalog.auto_mode import families, launches
from trainyard.core.pools.plan import NodeShare
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.flux.plan import HelmRelease, Stage
from trainyard.eks.health.plan import ProblemDetector
from trainyard.eks.nodes.plan import AutoNodeClass, EC2NodeClass, NodeOverlay, NodePool
from trainyard.extensions.facts.documented import NODE_CLASS
from trainyard.judge.model.nodes import Nodes
from trainyard.lift import lift
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify import validate_body
from trainyard.verify.formats import Setting, verified
from trainyard.verify.structure import from_crd

ROOT = Path(__file__).parents[2]
HUGE_PAGES = "hugepages-2Mi"
BLOCK = {"block": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718"}]}}


def auto(
    mode: dict[str, Any] | None = None, eks: dict[str, Any] | None = None, **parts: Any
) -> dict[str, Any]:
    """A spec of a cluster with Auto Mode."""
    platform = {"eks": {"autoMode": mode or {}, **(eks or {})}}
    return spec(platform=platform, **parts)


def charts(plan: Plan) -> set[str]:
    return {release.chart for release in plan.of(HelmRelease)}


def test_a_pool_is_a_node_pool_with_a_node_class_of_auto_mode() -> None:
    manifests = manifests_of(auto(pool={"nodes": 4}))
    kinds = {manifest.body["kind"] for manifest in manifests}
    assert not kinds & {"EC2NodeClass", "NodeOverlay"}
    pool = body_of(manifests, "NodePool")["spec"]
    template = pool["template"]["spec"]
    assert template["nodeClassRef"] == {
        "group": "eks.amazonaws.com",
        "kind": "NodeClass",
        "name": "gpu",
    }
    assert pool["replicas"] == 4
    node_class = body_of(manifests, "NodeClass")
    assert node_class["apiVersion"] == "eks.amazonaws.com/v1"
    assert node_class["spec"]["role"] == "AutoModeNodeRole-lab"
    assert node_class["spec"]["placementGroupSelector"] == {"name": "lab-gpu"}
    assert node_class["spec"]["ephemeralStorage"] == {"size": "100Gi"}
    interfaces = node_class["spec"]["advancedNetworking"]["networkInterfaces"]
    assert [entry["interfaceType"] for entry in interfaces] == ["interface", *["efa-only"] * 4]
    assert interfaces[0]["secondaryIPv4PrefixCount"] == 2
    assert not any("secondaryIPv4PrefixCount" in entry for entry in interfaces[1:])


def test_no_tag_of_the_spec_is_on_nodes_that_the_clusters_role_could_not_launch() -> None:
    """EKS user guide, auto-learn-iam: the managed policies permit no tags of one's own."""
    manifests = manifests_of(auto(tags={"team": "research"}))
    assert "tags" not in body_of(manifests, "NodeClass")["spec"]


def test_a_block_selects_its_reservation_and_drains_as_long_as_it_can() -> None:
    data = auto(pool={"instanceTypes": ["p5.48xlarge"], "nodes": 4, "capacity": BLOCK})
    manifests = manifests_of(data)
    (node_class,) = [
        manifest.body for manifest in manifests if manifest.body["kind"] == "NodeClass"
    ]
    terms = node_class["spec"]["capacityReservationSelectorTerms"]
    assert terms == [{"id": "cr-0a1b2c3d4e5f60718"}]
    assert "placementGroupSelector" not in node_class["spec"]
    template = body_of(manifests, "NodePool")["spec"]["template"]["spec"]
    assert template["terminationGracePeriod"] == "8m"


def test_eks_brings_what_is_installed_elsewhere() -> None:
    plan = plan_of(auto())
    assert charts(plan) == {"jobset", "kueue", "kubeflow-trainer"}
    assert plan.of(ProblemDetector) == plan.of(EC2NodeClass) == ()
    (cluster,) = plan.of(Cluster)
    assert [addon.name for addon in cluster.addons] == ["metrics-server"]
    assert cluster.node_groups == cluster.pod_identities == cluster.access == ()
    assert "trainyard-crds" not in {stage.name for stage in plan.of(Stage)}


def test_eksctl_is_given_both_pools_and_the_role_of_all_nodes() -> None:
    artifacts = list(lower(plan_of(auto())))
    (eksctl,) = [artifact for artifact in artifacts if artifact.format == "eksctl"]
    config = eksctl.body
    assert config["autoModeConfig"] == {
        "enabled": True,
        "nodePools": ["general-purpose", "system"],
        "nodeRoleARN": "arn:aws:iam::111122223333:role/AutoModeNodeRole-lab",
    }
    assert config["accessConfig"] == {"authenticationMode": "API"}
    assert config["iam"] == {"withOIDC": True}
    assert "managedNodeGroups" not in config
    assert verified([eksctl], Setting()) == []


def test_the_stack_has_the_role_of_nodes_and_no_controller() -> None:
    written = files(
        plan_of(auto(storage=[{"name": "raw", "s3": {"existing": {"bucket": "raw-1"}}}]))
    )
    resources = written["bootstrap/stack.yaml"]["Resources"]
    assert set(resources) == {"NodeRole", "BucketRole"}
    assert resources["NodeRole"]["Properties"]["ManagedPolicyArns"] == [
        "arn:aws:iam::aws:policy/AmazonEKSWorkerNodeMinimalPolicy",
        "arn:aws:iam::aws:policy/AmazonEC2ContainerRegistryPullOnly",
    ]
    association = written["bootstrap/stacks/s3-csi-driver-sa.yaml"]["Resources"]
    assert list(association) == ["Association"]
    properties = association["Association"]["Properties"]
    assert properties["RoleArn"] == "arn:aws:iam::111122223333:role/MountpointS3-lab"


@pytest.mark.parametrize("made", [auto, spec])
def test_without_a_bucket_nobody_may_mount_one(made: Callable[[], dict[str, Any]]) -> None:
    written = files(plan_of(made()))
    assert "MountpointS3" not in str(written)
    assert "s3-csi-driver-sa" not in str(written)


def test_network_policies_are_switched_on() -> None:
    switch = body_of(manifests_of(auto()), "ConfigMap", "amazon-vpc-cni")
    assert switch["metadata"]["namespace"] == "kube-system"
    assert switch["data"] == {"enable-network-policy-controller": "true"}


def test_a_job_asks_for_no_huge_pages_and_their_memory_is_kept_free() -> None:
    """Nothing says how many there are; Karpenter launches nothing for what it does not know."""
    (share,) = plan_of(auto()).of(NodeShare)
    (elsewhere,) = plan_of(spec()).of(NodeShare)
    assert HUGE_PAGES not in share.resources
    assert share.resources["memory"] == elsewhere.resources["memory"]
    env = {variable.name: variable.value for variable in job_of(auto()).env}
    assert env["FI_EFA_USE_HUGE_PAGE"] == "0"
    assert plan_of(auto()).of(NodeOverlay) == ()
    others = {variable.name for variable in job_of(spec()).env}
    assert "FI_EFA_USE_HUGE_PAGE" not in others


@pytest.mark.parametrize(
    ("mode", "grace", "age"),
    [
        ({}, "168h", "336h"),
        ({"terminationGracePeriod": "240h"}, "240h", "264h"),
        ({"terminationGracePeriod": "480h"}, "480h", "24h"),
        ({"terminationGracePeriod": "90m"}, "1h30m", "502h30m"),
    ],
)
def test_age_and_waiting_are_the_life_of_a_node_together(
    mode: dict[str, Any], grace: str, age: str
) -> None:
    (pool,) = plan_of(auto(mode)).of(NodePool)
    assert (pool.termination_grace, pool.expire_after) == (grace, age)
    body = body_of(manifests_of(auto(mode)), "NodePool")
    assert validate_body(body) == []


@pytest.mark.parametrize("nodes", [4, {"max": 4}])
def test_a_new_image_replaces_no_node_with_a_job_on_it(nodes: Any) -> None:
    (pool,) = plan_of(auto(pool={"nodes": nodes})).of(NodePool)
    drifted = [budget for budget in pool.budgets if "Drifted" in budget.reasons]
    assert [budget.nodes for budget in drifted] == ["0"]


@pytest.mark.parametrize("grace", ["30m", "481h"])
def test_a_node_that_never_gets_old_or_never_waits_is_refused(grace: str) -> None:
    faults = shape_faults(auto({"terminationGracePeriod": grace}))
    assert [fault.code for fault in faults] == ["SPC005"]


@pytest.mark.parametrize(
    "pool",
    [
        {},
        {"nodes": 4},
        {"instanceTypes": ["p5.48xlarge"], "nodes": 4, "capacity": BLOCK},
        {"capacity": [{"spot": {}}, {"onDemand": {}}], "rootVolume": {"size": "500Gi"}},
        {"instanceTypes": ["m7i.8xlarge"], "rootVolume": {"size": "1Ti", "iops": 9000}},
        {"instanceTypes": ["g6.12xlarge"], "efa": False, "labels": {"a.b/c": "d"}},
    ],
)
def test_what_is_written_is_read_back(pool: dict[str, Any]) -> None:
    plan = plan_of(auto(pool=pool))
    read = lift(objects_of(plan), closed=True)
    assert read.of(AutoNodeClass) == plan.of(AutoNodeClass) != ()
    assert read.of(NodePool) == plan.of(NodePool)


def test_what_is_written_has_the_documented_shape() -> None:
    for manifest in manifests_of(auto(pool={"nodes": 4, "rootVolume": {"size": "1Ti"}})):
        assert validate_body(manifest.body) == [], manifest.path


def test_pools_of_the_model_have_efa_and_placement() -> None:
    plan = plan_of(auto(pool={"nodes": 4}))
    nodes = Nodes(lift(objects_of(plan), closed=True), load_catalog())
    (pool,) = nodes.pools
    (instance,) = nodes.types(pool)
    node_class = nodes.node_class(pool)
    assert node_class is not None
    assert nodes.efa_of(pool, instance) == instance.efa_interfaces == 4
    assert node_class.placement_group == "lab-gpu"
    assert nodes.pools_of_class(node_class) == [pool]
    family = nodes.ami_family(pool)
    assert family is not None
    assert family.alias == "bottlerocket"


def test_classes_of_one_name_and_two_kinds_are_told_apart() -> None:
    ours = objects_of(plan_of(auto(pool={"nodes": 4})))
    others = objects_of(plan_of(spec(pool={"nodes": 4, "efa": False})))
    both = Nodes(lift([*ours, *others], closed=False), load_catalog())
    classes = {pool.auto: both.node_class(pool) for pool in both.plan.of(NodePool)}
    assert isinstance(classes[True], AutoNodeClass)
    assert type(classes[False]) is EC2NodeClass


def test_a_network_without_a_way_out_needs_no_instance_profile() -> None:
    """EKS makes the profile, from outside of the VPC."""
    zones = ["us-west-2a", "us-west-2b"]
    network = {"create": {"cidr": "10.0.0.0/16", "zones": zones, "nat": "none"}}
    written = files(plan_of(auto(network=network)))
    assert "InstanceProfile" not in written["bootstrap/stack.yaml"]["Resources"]


def test_the_pages_name_no_system_node_and_no_queue() -> None:
    written = files(plan_of(auto(pool={"nodes": 4})))
    readme = written["bootstrap/README.md"]
    assert "general-purpose" in readme
    assert "nodeclasses.eks.amazonaws.com" in written["bootstrap/down.sh"]
    assert "ec2nodeclasses" not in written["bootstrap/down.sh"]
    for word in ("start-session", "interruption queue", "ec2nodeclasses", "upgrade nodegroup"):
        assert word not in readme
    assert "EKS makes none" in written["bootstrap/pools/gpu.md"]


@pytest.mark.parametrize(("timeout", "found"), [("504h", set()), ("505h", {"RES192"})])
def test_a_run_that_no_node_can_end_is_refused(timeout: str, found: set[str]) -> None:
    assert {fault.code for fault in faults_of(auto(job={"timeout": timeout}))} == found


@pytest.mark.needs("terraform")
def test_terraform_makes_the_role_of_the_nodes_as_cloudformation_does() -> None:
    tool = {"tool": "terraform", "state": {"bucket": "terraform-state-111122223333"}}
    written = files(plan_of(auto(bootstrap=tool)))
    name = "bootstrap/terraform/cluster/main.tf.json"
    (main,) = (main for path, main in written.items() if str(path).endswith(name))
    made = main["resource"]
    role = made["aws_iam_role"]["node_role"]["name"]
    assert role.startswith("AutoModeNodeRole-")
    policies = [
        policy["policy_arn"].rpartition("/")[2]
        for policy in made["aws_iam_role_policy_attachment"].values()
    ]
    assert policies == ["AmazonEKSWorkerNodeMinimalPolicy", "AmazonEC2ContainerRegistryPullOnly"]


def test_autos_families_are_those_of_the_guide() -> None:
    catalog = load_catalog()
    known = {"p5.48xlarge": True, "g6e.48xlarge": True, "trn2.48xlarge": True}
    known |= {"g7.48xlarge": False, "g6f.4xlarge": False, "trn2u.48xlarge": False}
    for name, launched in known.items():
        instance = catalog.instance(name)
        assert instance is not None
        assert launches(instance) is launched, name
    assert "t3" in families()


def edited(**fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "eks.amazonaws.com/v1",
        "kind": "NodeClass",
        "metadata": {"name": "gpu"},
        "spec": {
            "role": "nodes",
            "subnetSelectorTerms": [{"id": "subnet-0a1b2c3d4e5f60718"}],
            "securityGroupSelectorTerms": [{"name": "nodes"}],
            **fields,
        },
    }


def interface(card: int, device: int, kind: str, **more: int) -> dict[str, Any]:
    place = {"networkCardIndex": card, "deviceIndex": device}
    return {**place, "interfaceType": kind, **more}


def interfaces(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"advancedNetworking": {"networkInterfaces": list(entries), **more}}


PRIMARY = interface(0, 0, "interface", secondaryIPv4PrefixCount=1)


@pytest.mark.parametrize(
    ("fields", "code", "place"),
    [
        ({"amiSelectorTerms": []}, "SCH001", "spec/amiSelectorTerms"),
        ({"snatPolicy": "Never"}, "SCH004", "spec/snatPolicy"),
        ({"ephemeralStorage": {"iops": 2000}}, "SCH005", "spec/ephemeralStorage/iops"),
        ({"instanceProfile": "p"}, "SCH011", "spec/instanceProfile"),
        ({"podSubnetSelectorTerms": [{"id": "s"}]}, "SCH011", "spec/podSubnetSelectorTerms"),
        ({"tags": {"karpenter.sh/nodepool": "a"}}, "SCH011", "spec/tags/karpenter.sh|nodepool"),
        (
            interfaces(interface(1, 0, "efa-only")),
            "SCH011",
            "spec/advancedNetworking/networkInterfaces",
        ),
        (
            interfaces(interface(0, 0, "efa-only")),
            "SCH011",
            "spec/advancedNetworking/networkInterfaces/0/interfaceType",
        ),
        (
            interfaces(PRIMARY, interface(1, 0, "efa-only", secondaryIPv4Count=1)),
            "SCH011",
            "spec/advancedNetworking/networkInterfaces/1/secondaryIPv4Count",
        ),
        (
            interfaces({**PRIMARY, "secondaryIPv4Count": 4}),
            "SCH011",
            "spec/advancedNetworking/networkInterfaces/0/secondaryIPv4PrefixCount",
        ),
        (
            interfaces(PRIMARY, interface(0, 1, "efa-only"), associatePublicIPAddress=True),
            "SCH011",
            "spec/advancedNetworking/associatePublicIPAddress",
        ),
    ],
)
def test_what_a_node_class_refuses(fields: dict[str, Any], code: str, place: str) -> None:
    (fault,) = validate_body(edited(**fields))
    path = "/".join(str(key).replace("/", "|") for key in fault.path)
    assert (fault.code, path) == (code, place)


def test_a_sound_node_class_has_no_fault() -> None:
    fields = interfaces(PRIMARY, interface(0, 1, "efa-only"))
    assert validate_body(edited(**fields, tags={"team": "a"})) == []


@pytest.mark.parametrize(
    ("age", "grace", "refused"),
    [
        ("480h", None, False),
        ("481h", None, True),
        (None, "168h", False),
        (None, "169h", True),
        ("Never", None, True),
        ("300h", "204h", False),
        ("300h", "205h", True),
    ],
)
def test_the_life_of_a_node_of_auto_mode(age: str | None, grace: str | None, refused: bool) -> None:
    spans = {"expireAfter": age, "terminationGracePeriod": grace}
    given = {key: span for key, span in spans.items() if span is not None}
    zone = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}
    ref = {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"}
    template = {"spec": {"nodeClassRef": ref, "requirements": [zone], **given}}
    body = {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": "gpu"},
        "spec": {"template": template},
    }
    assert bool(validate_body(body)) is refused


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"enabled": True, "nodePools": ["gpu"]}, ("autoModeConfig", "nodePools", 0)),
        ({"enabled": True, "nodePools": ["system", "system"]}, ("autoModeConfig", "nodePools", 1)),
        (
            {"enabled": True, "nodePools": [], "nodeRoleARN": "arn:a"},
            ("autoModeConfig", "nodeRoleARN"),
        ),
        ({"enabled": False, "nodePools": ["system"]}, ("autoModeConfig", "nodePools")),
    ],
)
def test_what_eksctl_refuses_of_auto_mode(config: dict[str, Any], place: tuple[Any, ...]) -> None:
    (fault,) = validate_body(cluster(autoModeConfig=config))
    assert fault.path == place


def test_eksctl_makes_no_cluster_of_auto_mode_with_core_add_ons() -> None:
    addons = [{"name": "metrics-server"}, {"name": "vpc-cni"}]
    body = cluster(autoModeConfig={"enabled": True}, addons=addons)
    (fault,) = validate_body(body)
    assert fault.path == ("addons", 1, "name")
    assert validate_body({**body, "fargateProfiles": [FARGATE]}) == []


FARGATE = {"name": "f", "selectors": [{"namespace": "default"}]}


def cluster(**fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "region": "us-west-2", "version": "1.35"}
    return {
        "apiVersion": "eksctl.io/v1alpha5",
        "kind": "ClusterConfig",
        "metadata": metadata,
        **fields,
    }


def test_the_committed_schema_is_that_of_the_documentation() -> None:
    (derived,) = from_crd(NODE_CLASS)
    assert set(derived["schema"]["properties"]) == {
        "apiVersion",
        "kind",
        "metadata",
        "spec",
        "status",
    }


@pytest.mark.slow
def test_a_cluster_keeps_the_way_in_which_its_nodes_are_launched(
    trainyard: Command, tmp_path: Path
) -> None:
    compiled(tmp_path, trainyard, spec(jobs=[]))
    done = compiled(tmp_path, trainyard, auto(jobs=[]))
    assert "CHG002" in codes(done)
    assert done.code == 1


@pytest.mark.slow
def test_a_spec_without_it_imports_nothing_of_it() -> None:
    script = (
        "import sys; from trainyard.cli.main import main\n"
        "try: main(['check', 'specs/starter.yaml'])\n"
        "except SystemExit: pass\n"
        "found = {name for name in sys.modules if name.startswith('trainyard.run.platforms.') and 'auto' in name}\n"
        "print(*found - {'trainyard.eks.nodes.launchers.auto_mode'})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.split() == []
