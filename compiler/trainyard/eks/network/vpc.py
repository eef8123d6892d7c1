"""The stack of the network: VPC, subnets, routes, NAT gateways, endpoints, and the security group of the nodes.

Source of all properties: CloudFormation template reference, AWS::EC2. The tags by which Karpenter and load balancers
find subnets are those that eksctl 0.230.0 sets (pkg/cfn/builder/vpc_ipv4.go).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainyard.catalog.lustre import PORTS
from trainyard.eks.network.plan import NODES_TAG, MadeNetwork, MadeSubnet
from trainyard.output import Artifact
from trainyard.output.artifact import Places
from trainyard.output.lowering.body import fields_given
from trainyard.output.lowering.templates import tag_list, template

PATH = "bootstrap/network.yaml"
_EVERYWHERE = "0.0.0.0/0"
_VPC = {"Ref": "Vpc"}
Resources = dict[str, Any]


def network_stack(made: MadeNetwork) -> Artifact:
    """The template, with the place in the spec of what each subnet and endpoint follows from."""
    resources: Resources = {
        "Vpc": _resource(
            "VPC",
            CidrBlock=made.cidr,
            # EKS user guide, network-reqs: names of hosts and endpoints
            EnableDnsHostnames=True,
            EnableDnsSupport=True,
            Tags=_tags(made, "vpc"),
        ),
        **_groups(made),
    }
    origins: Places = {
        ("Resources", "Vpc"): made.where("cidr"),
        ("Resources", "NodesSecurityGroup"): made.at,
    }
    if not made.isolated:
        resources.update(_way_out(made))
    for subnet in made.subnets:
        for name, resource in _subnet(made, subnet).items():
            resources[name] = resource
            origins["Resources", name] = subnet.at
    resources.update(_endpoints(made))
    for service in made.endpoints:
        origins["Resources", _endpoint_name(service)] = made.where("endpoints")
    body = template(f"The network of cluster {made.cluster}", resources, Parameters=_zones(made))
    body["Outputs"] = _outputs(made)
    return Artifact(body, PATH, made.at, origins, format="cloudformation")


def _resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::EC2::{kind}", "Properties": fields_given(**properties)}


def _tags(made: MadeNetwork, what: str, **more: str) -> list[dict[str, str]]:
    tags = {**made.tags, **more, "Name": f"{made.cluster}-{what}"}
    return tag_list(dict(sorted(tags.items())))


def _role(name: str) -> dict[str, str]:
    """The tag by which load balancers find subnets (EKS user guide, network-load-balancing)."""
    return {f"kubernetes.io/role/{name}": "1"}


def zone_name(zone: str) -> str:
    """A zone as a part of a logical name, which has letters and digits alone."""
    return "".join(part.capitalize() for part in zone.split("-"))


def _zones(made: MadeNetwork) -> dict[str, Any]:
    """The zones by name, which CloudFormation looks up before it makes anything."""
    parameters: dict[str, Any] = {}
    for subnet in made.subnets:
        parameters[f"Zone{zone_name(subnet.zone)}"] = {
            "Type": "AWS::EC2::AvailabilityZone::Name",
            "Default": subnet.zone,
        }
    return parameters


def _way_out(made: MadeNetwork) -> Resources:
    """The internet gateway, the routes of public subnets, and the NAT gateways."""
    resources: Resources = {
        "InternetGateway": _resource("InternetGateway", Tags=_tags(made, "internet")),
        "InternetAttachment": _resource(
            "VPCGatewayAttachment", VpcId=_VPC, InternetGatewayId={"Ref": "InternetGateway"}
        ),
        "PublicRoutes": _resource("RouteTable", VpcId=_VPC, Tags=_tags(made, "public")),
        "PublicRoute": {
            **_resource(
                "Route",
                RouteTableId={"Ref": "PublicRoutes"},
                DestinationCidrBlock=_EVERYWHERE,
                GatewayId={"Ref": "InternetGateway"},
            ),
            "DependsOn": "InternetAttachment",
        },
    }
    for subnet in _with_gateway(made):
        name = zone_name(subnet.zone)
        # An address of a VPC waits for its gateway (template reference, AWS::EC2::EIP).
        resources[f"NatAddress{name}"] = {
            **_resource("EIP", Domain="vpc", Tags=_tags(made, f"nat-{subnet.zone}")),
            "DependsOn": "InternetAttachment",
        }
        resources[f"NatGateway{name}"] = _resource(
            "NatGateway",
            AllocationId={"Fn::GetAtt": [f"NatAddress{name}", "AllocationId"]},
            SubnetId={"Ref": f"PublicSubnet{name}"},
            Tags=_tags(made, f"nat-{subnet.zone}"),
        )
    return resources


def _with_gateway(made: MadeNetwork) -> tuple[MadeSubnet, ...]:
    """The zones with a NAT gateway of their own: all, or the first."""
    if made.isolated:
        return ()
    if made.nat == "single":
        return made.subnets[:1]
    return made.subnets


def _subnet(made: MadeNetwork, subnet: MadeSubnet) -> Resources:
    zone = subnet.zone
    name = zone_name(subnet.zone)
    resources: Resources = {
        f"PrivateSubnet{name}": _resource(
            "Subnet",
            VpcId=_VPC,
            AvailabilityZone={"Ref": f"Zone{name}"},
            CidrBlock=subnet.private,
            Tags=_tags(made, f"private-{zone}", **_role("internal-elb")),
        ),
        f"PrivateRoutes{name}": _resource(
            "RouteTable", VpcId=_VPC, Tags=_tags(made, f"private-{zone}")
        ),
        f"PrivateSubnetRoutes{name}": _resource(
            "SubnetRouteTableAssociation",
            RouteTableId={"Ref": f"PrivateRoutes{name}"},
            SubnetId={"Ref": f"PrivateSubnet{name}"},
        ),
    }
    gateways = _with_gateway(made)
    if gateways:
        if subnet in gateways:
            own = subnet
        else:
            own = gateways[0]
        resources[f"PrivateRoute{name}"] = _resource(
            "Route",
            RouteTableId={"Ref": f"PrivateRoutes{name}"},
            DestinationCidrBlock=_EVERYWHERE,
            NatGatewayId={"Ref": f"NatGateway{zone_name(own.zone)}"},
        )
    if subnet.public is not None:
        resources[f"PublicSubnet{name}"] = _resource(
            "Subnet",
            VpcId=_VPC,
            AvailabilityZone={"Ref": f"Zone{name}"},
            CidrBlock=subnet.public,
            # eksctl 0.230.0, pkg/vpc, validatePublicSubnet
            MapPublicIpOnLaunch=True,
            Tags=_tags(made, f"public-{zone}", **_role("elb")),
        )
        resources[f"PublicSubnetRoutes{name}"] = _resource(
            "SubnetRouteTableAssociation",
            RouteTableId={"Ref": "PublicRoutes"},
            SubnetId={"Ref": f"PublicSubnet{name}"},
        )
    return resources


def _groups(made: MadeNetwork) -> Resources:
    """The security group of the pools' nodes, in addition to the cluster's: all traffic between its members, in rules
    of both directions, as EFA needs them (EC2 user guide, efa-start: an address block is not enough), and Lustre's
    ports from the VPC, whichever group a file system has."""
    own = {"Ref": "NodesSecurityGroup"}
    from_vpc = [_ports(made, *ports, "Lustre") for ports in PORTS]
    itself = {"GroupId": own, "IpProtocol": "-1"}
    resources: Resources = {
        "NodesSecurityGroup": _resource(
            "SecurityGroup",
            GroupDescription=f"Nodes of cluster {made.cluster}",
            VpcId=_VPC,
            SecurityGroupIngress=from_vpc,
            SecurityGroupEgress=[{"IpProtocol": "-1", "CidrIp": _EVERYWHERE}],
            Tags=_tags(made, "nodes", **{NODES_TAG: made.cluster}),
        ),
        "NodesFromItself": _resource("SecurityGroupIngress", **itself, SourceSecurityGroupId=own),
        "NodesToItself": _resource("SecurityGroupEgress", **itself, DestinationSecurityGroupId=own),
    }
    if made.endpoints:
        resources["EndpointsSecurityGroup"] = _resource(
            "SecurityGroup",
            GroupDescription=f"Endpoints of cluster {made.cluster}",
            VpcId=_VPC,
            SecurityGroupIngress=[_ports(made, 443, 443, "HTTPS")],
            Tags=_tags(made, "endpoints"),
        )
    return resources


def _ports(made: MadeNetwork, first: int, last: int, what: str) -> dict[str, Any]:
    return {
        "Description": f"{what} from the VPC",
        "IpProtocol": "tcp",
        "FromPort": first,
        "ToPort": last,
        "CidrIp": made.cidr,
    }


def _endpoints(made: MadeNetwork) -> Resources:
    """The gateway of S3, where ECR keeps image layers too, and the interface endpoints, in every zone."""
    zones = [zone_name(subnet.zone) for subnet in made.subnets]
    tables: list[Mapping[str, str]] = [{"Ref": f"PrivateRoutes{zone}"} for zone in zones]
    if not made.isolated:
        tables.append({"Ref": "PublicRoutes"})
    resources: Resources = {
        "S3Endpoint": _resource(
            "VPCEndpoint",
            VpcId=_VPC,
            ServiceName=_service(made, "s3"),
            VpcEndpointType="Gateway",
            RouteTableIds=tables,
            Tags=_tags(made, "s3"),
        )
    }
    for service in made.endpoints:
        resources[_endpoint_name(service)] = _resource(
            "VPCEndpoint",
            VpcId=_VPC,
            ServiceName=_service(made, service),
            VpcEndpointType="Interface",
            # Clients go on with the public names of the service (EKS user guide, private-clusters).
            PrivateDnsEnabled=True,
            SubnetIds=[{"Ref": f"PrivateSubnet{zone}"} for zone in zones],
            SecurityGroupIds=[{"Ref": "EndpointsSecurityGroup"}],
            Tags=_tags(made, service),
        )
    return resources


def _service(made: MadeNetwork, service: str) -> str:
    return f"com.amazonaws.{made.region}.{service}"


def _endpoint_name(service: str) -> str:
    """The logical name of an endpoint: no two services of the spec differ by punctuation alone."""
    words = service.replace(".", "-").split("-")
    return "Endpoint" + "".join(word.capitalize() for word in words)


def _outputs(made: MadeNetwork) -> Resources:
    outputs: Resources = {
        "Vpc": {"Value": _VPC},
        "NodesSecurityGroup": {"Value": {"Ref": "NodesSecurityGroup"}},
    }
    for subnet in made.subnets:
        name = zone_name(subnet.zone)
        outputs[f"PrivateSubnet{name}"] = {"Value": {"Ref": f"PrivateSubnet{name}"}}
    return outputs
