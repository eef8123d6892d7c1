"""The network that the bootstrap makes: its blocks, routes, endpoints, addresses, and the script that makes it."""

from __future__ import annotations

import json
import subprocess
from importlib import import_module
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

import cfn_lint
import pytest
import yaml
from builders import faults_of, files, objects_of, plan_of, spec
from running import Command, stand_ins
from trainyard.catalog import load_catalog
from trainyard.catalog.addresses import Warm, taken, warm
from trainyard.eks.cluster.plan import Cluster
from trainyard.eks.network.made import private_part, public_part
from trainyard.eks.network.plan import MadeNetwork
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify.formats import Setting, lifted, verified, written

FSX = [
    {
        "name": "data",
        "fsxLustre": {
            "existing": {"id": "fs-0a1b2c3d4e5f60718", "mountName": "abcdefgh", "size": "1200Gi"}
        },
    }
]
ACCOUNT = "111122223333"
NATS = ("perZone", "single", "none")


def made(nat: str = "perZone", **create: Any) -> dict[str, Any]:
    return spec(network={"create": {"nat": nat, **create}})


def resources(plan: Plan) -> dict[str, Any]:
    found: dict[str, Any] = files(plan)["bootstrap/network.yaml"]["Resources"]
    return found


def of_type(plan: Plan, kind: str) -> dict[str, Any]:
    return {
        name: resource["Properties"]
        for name, resource in resources(plan).items()
        if resource["Type"] == f"AWS::EC2::{kind}"
    }


def endpoints(plan: Plan) -> set[str]:
    return {
        each["ServiceName"].removeprefix("com.amazonaws.us-west-2.")
        for each in of_type(plan, "VPCEndpoint").values()
        if each["VpcEndpointType"] == "Interface"
    }


# amazon-vpc-cni-k8s v1.23.0, docs/eni-and-ip-target.md: type, WARM_ENI_TARGET, WARM_IP_TARGET, MINIMUM_IP_TARGET, pods,
# attached interfaces, attached secondary addresses.
BY_INTERFACE = [
    ("t3.small", 1, None, None, 0, 1, 3),
    ("t3.small", 1, None, None, 5, 3, 9),
    ("t3.small", 1, None, None, 9, 3, 9),
    ("t3.small", 1, 1, 1, 0, 1, 1),
    ("t3.small", 1, 1, 1, 5, 2, 6),
    ("t3.small", 1, 1, 1, 9, 3, 9),
    ("t3.small", 1, 2, 5, 0, 2, 5),
    ("t3.small", 1, 2, 5, 5, 3, 7),
    ("t3.small", 1, 2, 5, 9, 3, 9),
    ("p3dn.24xlarge", 1, None, None, 0, 1, 49),
    ("p3dn.24xlarge", 1, None, None, 3, 2, 98),
    ("p3dn.24xlarge", 1, None, None, 95, 3, 147),
    ("p3dn.24xlarge", 1, 5, 10, 0, 1, 10),
    ("p3dn.24xlarge", 1, 5, 10, 7, 1, 12),
    ("p3dn.24xlarge", 1, 5, 10, 15, 1, 20),
    ("p3dn.24xlarge", 1, 5, 10, 45, 2, 50),
]
# docs/prefix-and-ip-target.md: type, WARM_PREFIX_TARGET, WARM_IP_TARGET, MINIMUM_IP_TARGET, pods, interfaces, prefixes.
# Left out: rows whose interfaces and prefixes per interface disagree, and two that keep an interface more than needed.
BY_PREFIX = [
    ("t3.small", 1, None, None, 0, 1, 1),
    ("t3.small", 1, None, None, 5, 1, 2),
    ("t3.small", 1, None, None, 17, 1, 3),
    ("t3.small", 1, None, None, 58, 2, 5),
    ("t3.small", 1, 1, 1, 5, 1, 1),
    ("t3.small", 1, 1, 1, 17, 1, 2),
    ("t3.small", 1, 1, 1, 58, 2, 4),
    ("t3.small", 1, 7, 20, 5, 1, 2),
    ("t3.small", 1, 7, 20, 58, 2, 5),
    ("p3dn.24xlarge", 1, 5, 10, 7, 1, 1),
    ("p3dn.24xlarge", 1, 5, 10, 15, 1, 2),
]


@pytest.mark.parametrize(
    ("name", "interfaces", "free", "least", "pods", "attached", "secondary"), BY_INTERFACE
)
def test_a_node_takes_the_addresses_of_the_table(
    name: str,
    interfaces: int,
    free: int | None,
    least: int | None,
    pods: int,
    attached: int,
    secondary: int,
) -> None:
    instance = load_catalog().instance(name)
    assert instance is not None
    kept = Warm(interfaces=interfaces, addresses=free, minimum=least)
    assert taken(instance, kept, pods, efa=False) == attached + secondary


@pytest.mark.parametrize(
    ("name", "more", "free", "least", "pods", "attached", "prefixes"), BY_PREFIX
)
def test_a_node_takes_the_prefixes_of_the_table(
    name: str,
    more: int,
    free: int | None,
    least: int | None,
    pods: int,
    attached: int,
    prefixes: int,
) -> None:
    instance = load_catalog().instance(name)
    assert instance is not None
    kept = Warm(addresses=free, minimum=least, by_prefix=True, prefixes=more)
    assert taken(instance, kept, pods, efa=False) == attached + 16 * prefixes


def test_an_efa_only_interface_takes_a_place_and_no_address() -> None:
    """p5.48xlarge has two places on card 0; with EFA one of them is left, of 50 addresses."""
    instance = load_catalog().instance("p5.48xlarge")
    assert instance is not None
    assert taken(instance, Warm(), 1, efa=False) == 100
    assert taken(instance, Warm(), 1, efa=True) == 50


@pytest.mark.parametrize(
    ("env", "kept"),
    [
        ({}, Warm()),
        ({"WARM_ENI_TARGET": "0"}, Warm(interfaces=0)),
        ({"WARM_IP_TARGET": "2", "MINIMUM_IP_TARGET": 12}, Warm(addresses=2, minimum=12)),
        ({"ENABLE_PREFIX_DELEGATION": "true"}, Warm(by_prefix=True)),
        ({"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}, None),
        ({"WARM_IP_TARGET": "many"}, Warm()),
    ],
)
def test_what_is_kept_warm_is_read_from_the_add_on(env: dict[str, Any], kept: Warm | None) -> None:
    assert warm({"env": env}) == kept


def test_every_zone_has_a_block_of_its_own() -> None:
    blocks = [private_part("10.0.0.0/16", f"us-east-1{letter}") for letter in "abcdefg"]
    blocks += [public_part("10.0.0.0/16", f"us-east-1{letter}") for letter in "abcdefg"]
    read = [IPv4Network(block or "") for block in blocks]
    for index, block in enumerate(read):
        assert block.subnet_of(IPv4Network("10.0.0.0/16"))
        assert not any(block.overlaps(other) for other in read[:index])
    assert blocks[0] == "10.0.0.0/19"
    assert public_part("10.0.0.0/24", "us-east-1a") is None
    assert private_part("10.0.0.0/16", "us-east-1h") is None


def test_a_zone_and_a_pool_that_come_move_no_subnet() -> None:
    two = of_type(plan_of(made(zones=["us-west-2b", "us-west-2c"])), "Subnet")
    data = made(zones=["us-west-2a", "us-west-2b", "us-west-2c"])
    data["spec"]["nodePools"][0]["nodes"]["max"] = 64
    three = of_type(plan_of(data), "Subnet")
    assert {name: three[name] for name in two} == two
    assert set(three) - set(two) == {"PrivateSubnetUsWest2a", "PublicSubnetUsWest2a"}


@pytest.mark.parametrize(("nat", "gateways"), [("perZone", 2), ("single", 1), ("none", 0)])
def test_private_subnets_go_out_by_their_gateway(nat: str, gateways: int) -> None:
    plan = plan_of(made(nat))
    found = of_type(plan, "NatGateway")
    assert len(found) == len(of_type(plan, "EIP")) == gateways
    routes = of_type(plan, "Route")
    private = {
        name: route["NatGatewayId"]["Ref"]
        for name, route in routes.items()
        if "NatGatewayId" in route
    }
    assert len(private) == (2 if gateways else 0)
    assert set(private.values()) == set(found)
    for name, gateway in private.items():
        zone = name.removeprefix("PrivateRoute")
        if nat == "perZone":
            assert gateway == f"NatGateway{zone}"
    public = [each for each in of_type(plan, "Subnet").values() if each.get("MapPublicIpOnLaunch")]
    assert len(public) == (2 if gateways else 0)
    assert bool(of_type(plan, "InternetGateway")) == bool(gateways)
    for each in found.values():
        assert each["SubnetId"]["Ref"].startswith("PublicSubnet")


@pytest.mark.parametrize("nat", NATS)
def test_s3_has_a_gateway_in_every_route_table(nat: str) -> None:
    plan = plan_of(made(nat))
    tables = {each["Ref"] for each in gateway(plan)["RouteTableIds"]}
    assert tables == set(of_type(plan, "RouteTable"))


def gateway(plan: Plan) -> dict[str, Any]:
    (found,) = (
        each
        for each in of_type(plan, "VPCEndpoint").values()
        if each["VpcEndpointType"] == "Gateway"
    )
    assert found["ServiceName"] == "com.amazonaws.us-west-2.s3"
    return dict(found)


@pytest.mark.needs("observability")
def test_endpoints_are_those_that_are_needed() -> None:
    needed = {
        *("ec2", "ecr.api", "ecr.dkr", "sts", "eks", "eks-auth"),
        *("sqs", "ssm", "ssmmessages"),
    }
    assert endpoints(plan_of(made("none"))) == needed
    assert endpoints(plan_of(made("single"))) == set()
    assert endpoints(plan_of(made("single", endpoints=["ecr.api", "kms"]))) == {"ecr.api", "kms"}
    assert endpoints(plan_of(made("none", endpoints=["kms"]))) == {*needed, "kms"}
    with_files = made("none")
    with_files["spec"]["storage"] = FSX
    assert endpoints(plan_of(with_files)) == {*needed, "fsx"}
    watched = made("none")
    watched["spec"]["platform"] = {"eks": {"addons": {"amazon-cloudwatch-observability": {}}}}
    assert endpoints(plan_of(watched)) == {*needed, "logs", "monitoring"}


def test_endpoints_answer_the_vpc_by_their_public_names() -> None:
    plan = plan_of(made("none"))
    group = of_type(plan, "SecurityGroup")["EndpointsSecurityGroup"]
    (rule,) = group["SecurityGroupIngress"]
    assert (rule["FromPort"], rule["ToPort"], rule["CidrIp"]) == (443, 443, "10.0.0.0/16")
    for each in of_type(plan, "VPCEndpoint").values():
        if each["VpcEndpointType"] == "Interface":
            assert each["PrivateDnsEnabled"] is True
            assert each["SecurityGroupIds"] == [{"Ref": "EndpointsSecurityGroup"}]
            assert len(each["SubnetIds"]) == 2


def test_nodes_reach_each_other_both_ways_and_lustre_reaches_them() -> None:
    plan = plan_of(made())
    own = {"Ref": "NodesSecurityGroup"}
    (into,) = of_type(plan, "SecurityGroupIngress").values()
    (out,) = of_type(plan, "SecurityGroupEgress").values()
    assert into == {"GroupId": own, "IpProtocol": "-1", "SourceSecurityGroupId": own}
    assert out == {"GroupId": own, "IpProtocol": "-1", "DestinationSecurityGroupId": own}
    group = of_type(plan, "SecurityGroup")["NodesSecurityGroup"]
    ports = [
        (each["IpProtocol"], each["FromPort"], each["ToPort"])
        for each in group["SecurityGroupIngress"]
    ]
    assert ports == [("tcp", 988, 988), ("tcp", 1018, 1023)]
    tags = {each["Key"]: each["Value"] for each in group["Tags"]}
    (node_class,) = (each.body for each in objects_of(plan) if each.body["kind"] == "EC2NodeClass")
    terms = node_class["spec"]["securityGroupSelectorTerms"]
    assert any(term["tags"].items() <= tags.items() for term in terms)


def test_karpenter_finds_the_private_subnets_by_their_tags() -> None:
    plan = plan_of(made())
    (node_class,) = (each.body for each in objects_of(plan) if each.body["kind"] == "EC2NodeClass")
    (term,) = node_class["spec"]["subnetSelectorTerms"]
    selected = [
        name
        for name, subnet in of_type(plan, "Subnet").items()
        if term["tags"].items() <= {each["Key"]: each["Value"] for each in subnet["Tags"]}.items()
    ]
    assert selected == ["PrivateSubnetUsWest2a", "PrivateSubnetUsWest2b"]


@pytest.mark.parametrize("nat", NATS)
def test_no_template_has_a_fault(nat: str) -> None:
    plan = plan_of(made(nat, endpoints=["kms"]))
    templates = [each for each in lower(plan) if each.format == "cloudformation"]
    assert len(templates) >= 2
    assert verified(templates, Setting()) == []


@pytest.mark.slow
def test_cfn_lint_finds_nothing_above_information(tmp_path: Path) -> None:
    """By somebody else's judge (cfn-lint, of the development requirements)."""
    for nat in NATS:
        for each in lower(plan_of(made(nat, endpoints=["kms"]))):
            if each.path in ("bootstrap/network.yaml", "bootstrap/stack.yaml"):
                file = tmp_path / nat / Path(each.path).name
                file.parent.mkdir(exist_ok=True)
                file.write_bytes(written(each))
    templates = sorted(tmp_path.rglob("*.yaml"))
    assert len(templates) == 6
    assert cfn_lint.findings(templates, "--regions", "us-west-2") == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Tried to parse AWS..EC2..SecurityGroupEgress")
@pytest.mark.parametrize(("nat", "gateways"), [("perZone", 2), ("single", 1)])
def test_the_stack_is_made_and_changed(
    nat: str, gateways: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By moto's CloudFormation: each private subnet goes out by NAT and S3, and keeps its id when the network grows."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "none")
    boto3, moto = import_module("boto3"), import_module("moto")
    larger = made("single", zones=["us-west-2a", "us-west-2b", "us-west-2c"])
    with moto.mock_aws():
        stacks = boto3.client("cloudformation", region_name="us-west-2")
        ec2 = boto3.client("ec2", region_name="us-west-2")
        stacks.create_stack(StackName="network", TemplateBody=template_of(made(nat)))
        (stack,) = stacks.describe_stacks(StackName="network")["Stacks"]
        outputs = {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}
        of_vpc = [{"Name": "vpc-id", "Values": [outputs["Vpc"]]}]
        found = ec2.describe_nat_gateways(Filter=of_vpc)["NatGateways"]
        assert len(found) == gateways
        tables = ec2.describe_route_tables(Filters=of_vpc)["RouteTables"]
        by_nat = [each for each in tables if _targets(each) >= {"nat", "vpce"}]
        by_gateway = [each for each in tables if _targets(each) >= {"igw", "vpce"}]
        assert (len(by_nat), len(by_gateway)) == (2, 1)
        before = _subnets(ec2, of_vpc)
        assert before[outputs["PrivateSubnetUsWest2b"]] == "10.0.32.0/19"
        stacks.update_stack(StackName="network", TemplateBody=template_of(larger))
        after = _subnets(ec2, of_vpc)
    assert before.items() <= after.items()
    assert len(after) == 6


def template_of(data: dict[str, Any]) -> str:
    artifacts = lower(plan_of(data))
    (template,) = (each for each in artifacts if each.path == "bootstrap/network.yaml")
    return written(template).decode()


def _targets(table: dict[str, Any]) -> set[str]:
    """The kinds of what the routes of a table lead to, by the beginnings of their ids."""
    ids = [route.get("NatGatewayId") or route.get("GatewayId") or "" for route in table["Routes"]]
    return {id.partition("-")[0] for id in ids}


def _subnets(ec2: Any, of_vpc: list[dict[str, Any]]) -> dict[str, str]:
    found = ec2.describe_subnets(Filters=of_vpc)["Subnets"]
    return {each["SubnetId"]: each["CidrBlock"] for each in found}


@pytest.mark.parametrize("nat", NATS)
def test_eksctl_takes_the_subnets_by_their_blocks(nat: str) -> None:
    plan = plan_of(made(nat))
    artifacts = lower(plan)
    (config,) = (each for each in artifacts if each.path == "bootstrap/eksctl.yaml")
    vpc = config.body["vpc"]
    assert vpc["id"] == "${TRAINYARD_VPC}"
    assert "nat" not in vpc
    assert "availabilityZones" not in config.body
    blocks = {each["cidr"] for side in vpc["subnets"].values() for each in side.values()}
    assert blocks == {each["CidrBlock"] for each in of_type(plan, "Subnet").values()}
    assert verified([config], Setting()) == []
    (read,) = lifted(artifacts, closed=True).of(Cluster)
    (planned,) = plan.of(Cluster)
    assert read.network.subnets == planned.network.subnets


def test_made_file_systems_lie_in_the_network_too() -> None:
    """eksctl's stack exports an imported VPC as well (0.230.0, pkg/cfn/builder/vpc_existing.go)."""
    data = made("single")
    create = {"deployment": "SCRATCH_2", "size": "1200Gi"}
    data["spec"]["storage"] = [{"name": "data", "fsxLustre": {"create": create}}]
    written_files = files(plan_of(data))
    stack = written_files["bootstrap/stacks/storage-data.yaml"]
    group = stack["Resources"]["SecurityGroup"]["Properties"]
    assert group["VpcId"] == {"Fn::ImportValue": "eksctl-lab-cluster::VPC"}
    assert stack["Metadata"] == {"Zone": "us-west-2b"}
    page = written_files["bootstrap/README.md"]
    assert "lies in the cluster's VPC" not in page
    assert "unless file systems that are kept lie in it" in page


def test_eksctl_makes_the_vpc_where_it_can() -> None:
    for create in ({}, {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}):
        plan = plan_of(spec(network={"create": create}))
        assert plan.of(MadeNetwork) == ()
        assert not any("network" in path for path in files(plan))


def test_what_the_stack_makes_does_not_wait_for_a_second_compile() -> None:
    """No id of AWS is in what is written; the one that eksctl needs is filled in by the script."""
    plan = plan_of(made())
    for path, text in files(plan).items():
        if "network" in path:
            assert "vpc-0" not in str(text)


def test_without_nat_karpenter_calls_no_iam() -> None:
    plan = plan_of(made("none"))
    bodies = {(each.body["kind"], each.ref.name): each.body for each in objects_of(plan)}
    release = bodies["HelmRelease", "karpenter"]
    assert release["spec"]["values"]["settings"]["isolatedVPC"] is True
    node_class = bodies["EC2NodeClass", "gpu"]["spec"]
    assert "role" not in node_class
    stack = files(plan)["bootstrap/stack.yaml"]["Resources"]
    profile = stack["InstanceProfile"]["Properties"]
    assert profile["InstanceProfileName"] == node_class["instanceProfile"]
    assert profile["Roles"] == [{"Ref": "NodeRole"}]
    with_nat = files(plan_of(made("single")))["bootstrap/stack.yaml"]
    assert "InstanceProfile" not in with_nat["Resources"]


@pytest.mark.parametrize(
    ("create", "code", "place", "words"),
    [
        (
            {"subnets": {"us-west-2a": "10.1.0.0/18"}},
            "RES150",
            "spec.network.create.subnets.us-west-2a",
            "is not within that of the VPC, `10.0.0.0/16`",
        ),
        (
            {"subnets": {"us-west-2a": "10.0.0.0/18"}},
            "RES150",
            "spec.network.create.subnets.us-west-2a",
            "overlap",
        ),
        (
            {"subnets": {"us-west-2d": "10.0.128.0/18"}},
            "RES150",
            "spec.network.create.subnets.us-west-2d",
            "in which the VPC has no subnet",
        ),
        (
            {"cidr": "10.0.0.0/24", "nat": "single"},
            "RES150",
            "spec.network.create.cidr",
            "`10.0.0.0/24` has no blocks for the subnets of `us-west-2a`",
        ),
    ],
)
def test_blocks_that_ec2_refuses(create: dict[str, Any], code: str, place: str, words: str) -> None:
    found = faults_of(spec(network={"create": create}))
    assert found
    assert {each.code for each in found} == {code}
    assert str(found[0].at) == place
    assert words in found[0].message


def test_a_given_block_is_the_subnets() -> None:
    plan = plan_of(made(subnets={"us-west-2b": "10.0.128.0/18"}))
    blocks = {name: each["CidrBlock"] for name, each in of_type(plan, "Subnet").items()}
    assert blocks["PrivateSubnetUsWest2b"] == "10.0.128.0/18"
    assert blocks["PrivateSubnetUsWest2a"] == "10.0.0.0/19"


def test_china_has_other_names_of_endpoints() -> None:
    data = made("none")
    data["spec"]["region"] = "cn-north-1"
    assert "RES154" in {each.code for each in faults_of(data)}


@pytest.mark.parametrize(("nodes", "fits"), [(163, True), (164, False)])
def test_the_addresses_of_nodes_are_compared_with_the_subnet(nodes: int, fits: bool) -> None:
    """163 × 50 and 16 are within the 8187 of a /19."""
    pool = {"instanceTypes": ["p5.48xlarge"], "nodes": {"max": nodes}}
    for network in ({"create": {"nat": "single"}}, {}):
        found = faults_of(spec(network=network, pool=pool))
        assert [each.code for each in found] == ([] if fits else ["RES151"])
        for each in found:
            assert each.severity is Severity.WARNING
            assert f"{nodes} nodes take {nodes * 50} " in each.message
    fewer = {"WARM_IP_TARGET": "2", "MINIMUM_IP_TARGET": "12"}
    platform = {"eks": {"addons": {"vpc-cni": {"values": {"env": fewer}}}}}
    assert not faults_of(spec(pool=pool, platform=platform))


@pytest.mark.parametrize(("nodes", "fits"), [(333, True), (334, False)])
def test_nodes_of_several_zones_are_compared_with_all_of_them(nodes: int, fits: bool) -> None:
    """Where each of them will be is Karpenter's to say: only the two subnets together can be too small."""
    pool = {
        "instanceTypes": ["m7i.48xlarge"],
        "zones": ["us-west-2a", "us-west-2b"],
        "nodes": {"max": nodes},
    }
    prefixes = {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "2"}
    platform = {"eks": {"addons": {"vpc-cni": {"values": {"env": prefixes}}}}}
    data = spec(network={"create": {"nat": "single"}}, pool=pool, platform=platform)
    data["spec"]["jobs"] = []
    found = faults_of(data)
    # each node: one prefix for its pod and two that are kept, of 16, and the address of its interface
    assert (49 * nodes + 32 <= 2 * 8187) == fits
    assert [each.code for each in found] == ([] if fits else ["RES151"])
    for each in found:
        assert f"`us-west-2a`, `us-west-2b` have 16374 addresses; {nodes} " in each.message


@pytest.mark.parametrize(
    ("zones", "size"), [("abcd", "a /19 with 8187"), ("abcdf", "a /20 with 4091")]
)
def test_eksctl_cuts_a_vpc_of_more_than_four_zones_into_sixteen(zones: str, size: str) -> None:
    """eksctl user guide, vpc-configuration."""
    data = spec(region="us-east-1", jobs=[])
    data["spec"]["nodePools"] = [
        {
            "name": f"pool-{letter}",
            "instanceTypes": ["m7i.48xlarge"],
            "zones": [f"us-east-1{letter}"],
            "nodes": {"max": 500},
        }
        for letter in zones
    ]
    found = [each for each in faults_of(data) if each.code == "RES151"]
    assert len(found) == len(zones)
    for each in found:
        assert f"is {size} addresses" in each.message


def test_a_zone_without_room_is_said_once() -> None:
    """Nodes that may be in several zones are not compared with one that is too small anyway."""
    create = {"subnets": {"us-west-2a": "10.0.32.0/26"}}
    data = spec(network={"create": create}, jobs=[])
    pool = {"instanceTypes": ["m7i.48xlarge"], "nodes": {"max": 4}}
    data["spec"]["nodePools"] = [
        {**pool, "name": "one", "zones": ["us-west-2a"]},
        {**pool, "name": "both", "zones": ["us-west-2a", "us-west-2b"]},
    ]
    found = [each.message for each in faults_of(data) if each.code == "RES151"]
    assert len(found) == 1
    assert "the private subnet in `us-west-2a`, `10.0.32.0/26`, has 59 addresses" in found[0]


def test_pods_with_subnets_of_their_own_take_no_addresses_of_nodes() -> None:
    pool = {"instanceTypes": ["p5.48xlarge"], "nodes": {"max": 400}}
    custom = {"AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true"}
    platform = {"eks": {"addons": {"vpc-cni": {"values": {"env": custom}}}}}
    assert faults_of(spec(pool=pool, platform=platform)) == []


def test_zone_ids_are_of_zones_of_the_region() -> None:
    data = spec(network={"zoneIds": {"us-east-1a": "use1-az1", "us-west-2a": "usw2-az1"}})
    (found,) = (each for each in faults_of(data) if each.code == "RES004")
    assert str(found.at) == "spec.network.zoneIds.us-east-1a"


def test_endpoints_have_an_address_in_each_zone() -> None:
    """2 × 50 and 16 are within the 123 of a /25, and 8 more are not."""
    pool = {"instanceTypes": ["p5.48xlarge"], "nodes": {"max": 2}}
    services = ["ecr.api", "ecr.dkr", "ec2", "kms", "sts", "sqs", "ssm", "logs"]
    create: dict[str, Any] = {"subnets": {"us-west-2b": "10.0.32.0/25"}}
    job = {"nodes": 2}
    for count, codes in ((7, []), (8, ["RES151"])):
        create["endpoints"] = services[:count]
        found = faults_of(spec(network={"create": create}, pool=pool, job=job))
        assert [each.code for each in found] == codes


@pytest.mark.parametrize(("free", "codes"), [(4091, []), (200, ["RES151"]), (7, ["RES026"])])
def test_free_addresses_of_a_subnet_that_exists(free: int, codes: list[str]) -> None:
    subnets = [
        {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2a"},
        {
            "id": "subnet-0a1b2c3d4e5f60719",
            "zone": "us-west-2b",
            "cidr": "10.0.32.0/20",
            "freeAddresses": free,
        },
    ]
    existing = {"vpc": "vpc-0a1b2c3d4e5f60718", "subnets": subnets}
    found = faults_of(spec(network={"existing": existing}))
    assert [each.code for each in found] == codes
    for each in found:
        assert str(each.at) == "spec.network.existing.subnets[1].freeAddresses"


EXISTING = {
    "vpc": "vpc-0a1b2c3d4e5f60718",
    "subnets": [
        {"id": "subnet-0a1b2c3d4e5f60718", "zone": "us-west-2a"},
        {"id": "subnet-0a1b2c3d4e5f60719", "zone": "us-west-2b"},
    ],
}
OTHER = {**EXISTING, "vpc": "vpc-0a1b2c3d4e5f60719"}
TWO = ["us-west-2a", "us-west-2b"]
THREE = [*TWO, "us-west-2c"]


def compiled(folder: Path, trainyard: Command, network: dict[str, Any]) -> str:
    """What a compilation of a spec with this network reports."""
    data = spec(network=network)
    (folder / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
    done = trainyard("compile", "spec.yaml", cwd=folder)
    return done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            {"create": {}},
            {"create": {"nat": "single"}},
            "that which eksctl makes, `10.0.0.0/16` → that of `bootstrap/network.yaml`",
        ),
        (
            {"create": {"nat": "single"}},
            {"create": {}},
            "that of `bootstrap/network.yaml` → that which eksctl makes, `10.0.0.0/16`",
        ),
        (
            {"create": {}},
            {"create": {"cidr": "10.1.0.0/16"}},
            "→ that which eksctl makes, `10.1.0.0/16`",
        ),
        ({"existing": EXISTING}, {"existing": OTHER}, "→ `vpc-0a1b2c3d4e5f60719`"),
        ({"existing": EXISTING}, {"create": {}}, "`vpc-0a1b2c3d4e5f60718` → that"),
        (
            {"create": {"nat": "none", "cidr": "10.0.0.0/16"}},
            {"create": {"nat": "none", "cidr": "10.1.0.0/16"}},
            "`CidrBlock` of `Vpc` of `bootstrap/network.yaml` cannot change",
        ),
        (
            {"create": {"nat": "none"}},
            {"create": {"nat": "none", "subnets": {"us-west-2b": "10.0.128.0/18"}}},
            "`CidrBlock` of `PrivateSubnetUsWest2b`",
        ),
        (
            {"create": {"nat": "none", "zones": THREE}},
            {"create": {"nat": "none", "zones": TWO}},
            "`PrivateSubnetUsWest2c` of `bootstrap/network.yaml` cannot be removed",
        ),
        (
            {"create": {"nat": "single"}},
            {"create": {"nat": "none"}},
            "`PublicSubnetUsWest2a` of `bootstrap/network.yaml` cannot be removed",
        ),
        # these change nothing that cannot
        ({"create": {"nat": "none"}}, {"create": {"nat": "single"}}, ""),
        ({"create": {"nat": "single"}}, {"create": {"nat": "perZone"}}, ""),
        (
            {"create": {"nat": "single", "zones": TWO}},
            {"create": {"nat": "single", "zones": THREE}},
            "",
        ),
        ({"create": {}}, {"existing": EXISTING}, ""),
        ({"create": {"nat": "single"}}, {"existing": EXISTING}, ""),
        ({"create": {}}, {}, ""),
    ],
)
def test_a_cluster_stays_in_its_network(
    before: dict[str, Any], after: dict[str, Any], words: str, tmp_path: Path, trainyard: Command
) -> None:
    assert "CHG025" not in compiled(tmp_path, trainyard, before)
    found = compiled(tmp_path, trainyard, after)
    assert ("error[CHG025]" in found) == bool(words), found
    assert words in found


AWS = """#!/bin/bash
printf '%s\\n' "aws $*" >> "$LOG"
case "$*" in
  *set-stack-policy*) printf '%s' "${@: -1}" > "$POLICY" ;;
  *describe-stacks*) printf '%s\\n' "$VPC" ;;
esac
"""


def run(plan: Plan, folder: Path, *words: str, vpc: str) -> Any:
    bootstrap = folder / "bootstrap"
    bootstrap.mkdir()
    for each in lower(plan):
        if each.path.startswith("bootstrap/") and each.path.count("/") == 1:
            (folder / each.path).write_bytes(written(each))
    return subprocess.run(
        ["bash", str(bootstrap / "network.sh"), *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={
            "PATH": stand_ins(folder / "bin", {"aws": AWS}),
            "LOG": str(folder / "log"),
            "POLICY": str(folder / "policy"),
            "VPC": vpc,
        },
    )


def test_the_script_makes_the_network_and_protects_it(tmp_path: Path) -> None:
    done = run(plan_of(made()), tmp_path, vpc="vpc-0a1b2c3d4e5f60718")
    assert (done.returncode, done.stderr) == (0, "")
    calls = (tmp_path / "log").read_text().splitlines()
    assert done.stdout.count("  + aws cloudformation") == len(calls)
    assert [call.split()[2] for call in calls] == [
        "deploy",
        "set-stack-policy",
        "update-termination-protection",
    ]
    assert "--stack-name trainyard-lab-network" in calls[0]
    allowed, denied = json.loads((tmp_path / "policy").read_text())["Statement"]
    assert (allowed["Effect"], denied["Effect"]) == ("Allow", "Deny")
    assert denied["Action"] == ["Update:Replace", "Update:Delete"]
    assert denied["Condition"]["StringEquals"]["ResourceType"] == [
        "AWS::EC2::VPC",
        "AWS::EC2::Subnet",
    ]


def test_the_script_fills_the_vpc_in(tmp_path: Path) -> None:
    vpc = "vpc-0a1b2c3d4e5f60718"
    done = run(plan_of(made()), tmp_path, "config", vpc=vpc)
    assert (done.returncode, done.stderr) == (0, "")
    config = yaml.safe_load(done.stdout)
    assert config["vpc"]["id"] == vpc
    config["vpc"]["id"] = "${TRAINYARD_VPC}"
    kept = (tmp_path / "bootstrap" / "eksctl.yaml").read_text()
    assert config == yaml.safe_load(kept)


@pytest.mark.parametrize(
    ("words", "vpc", "code", "message"),
    [
        (("config",), "None", 1, "has no VPC yet: bash network.sh makes it"),
        (("delete",), "vpc-1", 2, "takes no argument"),
    ],
)
def test_the_script_says_what_is_missing(
    words: tuple[str, ...], vpc: str, code: int, message: str, tmp_path: Path
) -> None:
    done = run(plan_of(made()), tmp_path, *words, vpc=vpc)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr


def test_the_network_comes_before_the_cluster_and_goes_after_it() -> None:
    found = files(plan_of(made("single")))
    up, down = (found[f"bootstrap/{name}.sh"] for name in ("up", "down"))
    assert up.index('"network|') < up.index('"cluster|')
    assert down.index('"cluster|') < down.index('"network|')
    assert "create-vpc-endpoint" not in up
    without = files(plan_of(spec()))
    assert "network.sh" not in without["bootstrap/up.sh"]
    assert '"network|' not in without["bootstrap/down.sh"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("image", "words"),
    [
        ("team/train:1.0", "pull-through cache"),
        ("ghcr.io/team/train:1.0", "pull-through cache"),
        ("registry-1.docker.io/team/train:1.0", "pull-through cache"),
        ("nvcr.io/nvidia/pytorch:25.10-py3", "copy it into ECR"),
        (f"{ACCOUNT}.dkr.ecr.eu-west-1.amazonaws.com/t:1", "replicate it"),
        (f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/t:1", ""),
        ("registry.example.com/train:1.0", ""),
        ("localhost:5000/train:1.0", ""),
    ],
)
def test_images_that_no_endpoint_reaches(
    image: str, words: str, tmp_path: Path, trainyard: Command
) -> None:
    for nat in ("none", "single"):
        data = made(nat)
        data["spec"]["jobs"][0]["image"] = image
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        done = trainyard("check", "spec.yaml", "--format", "json", cwd=tmp_path)
        helps = [
            each["help"]
            for each in json.loads(done.out)["diagnostics"]
            if each["code"] == "RUN071" and image in each["message"]
        ]
        assert len(helps) == (1 if words and nat == "none" else 0)
        assert all(words in help for help in helps)


def test_a_chart_that_was_moved_is_in_reach(tmp_path: Path, trainyard: Command) -> None:
    data = made("none")
    charts = f"oci://{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/ecr-public/karpenter"
    target = {"kind": "OCIRepository", "name": "karpenter"}
    patch = {"spec": {"url": f"{charts}/karpenter", "provider": "aws"}}
    for patches, there in (([], True), ([{"target": target, "patch": patch}], False)):
        data["spec"]["patches"] = patches
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(data, sort_keys=False))
        found = trainyard("check", "spec.yaml", cwd=tmp_path).out
        assert ("the chart of OCIRepository `karpenter` is" in found) == there
        assert "the chart of OCIRepository `kueue` is at `registry.k8s.io`" in found
