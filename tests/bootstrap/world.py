"""An account with a cluster, behind stand-ins for ``aws``, ``eksctl``, ``kubectl``, ``flux`` and ``terraform``.

The world keeps what was made and refuses what AWS refuses: to make a thing twice, to delete a VPC in which something
lies, a node class that has nodes, a stack whose exports are used. ``--query`` is evaluated by JMESPath, as the AWS CLI
does.
"""

from __future__ import annotations

import json
import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import jmespath
import yaml
from answering import Answering, RefusedError

ACCOUNT = "111122223333"


class World(Answering):
    """The account and the cluster in it."""

    def __init__(self, root: Path, cluster: str, region: str) -> None:
        super().__init__(root)
        self.cluster, self.region = cluster, region
        self.stacks: dict[str, dict[str, Any]] = {}
        self.modules: set[str] = set()
        self.things: dict[str, dict[str, dict[str, Any]]] = {}
        self.account = ACCOUNT
        self.quota = 100000.0
        self.small: set[str] = set()
        """Quotas of which the account has one, by code or name."""
        self.cluster_made = self.context = self.suspended = self.delivered = False
        self.objects: dict[str, set[str]] = {}
        self.unlabelled = ""
        self.flux_made: dict[str, int] = {}
        """What Flux makes: how often kubectl is asked until each is there; a while later it is Ready."""
        self.asked = 0
        self.system: set[str] = set()
        """Node groups that came with the cluster."""
        self.deleted: list[str] = []
        """Endpoints that EC2 still lists (hashicorp/terraform-provider-aws, ec2/find.go, leaves these out)."""
        self.own_file = False
        """Whether kubectl is asked by a file of the script's own."""

    # --- what there is

    def of(self, kind: str) -> dict[str, dict[str, Any]]:
        return self.things.setdefault(kind, {})

    def add(self, kind: str, name: str, **facts: Any) -> None:
        if name in self.of(kind):
            raise RefusedError(f"AlreadyExists: {kind} {name}")
        self.of(kind)[name] = facts

    def paid(self) -> dict[str, list[str]]:
        return {kind: sorted(each) for kind, each in self.things.items() if each}

    def state(self) -> dict[str, Any]:
        return {
            "things": self.paid(),
            "stacks": sorted(self.stacks),
            "modules": sorted(self.modules),
            "objects": {kind: sorted(each) for kind, each in self.objects.items() if each},
            "cluster": self.cluster_made,
        }

    # --- being asked

    def answer(self, call: list[str], stdin: str) -> str:
        self.calls.append(call)
        program = call[0]
        return str(getattr(self, program)(call[1:], stdin) or "")

    def aws(self, words: list[str], stdin: str) -> str:
        given = options(words)
        name = f"{words[0]}_{words[1]}".replace("-", "_")
        if words[1] == "wait":
            return self.waited(words, given)
        action = getattr(self, f"aws_{name}", None)
        assert action is not None, f"the world does not know: aws {shlex.join(words)}"
        found = action(given)
        if found is None or ("query" not in given and "output" not in given):
            return ""
        if "query" in given:
            found = jmespath.search(given["query"], found)
        return text_of(found) if given.get("output") == "text" else json.dumps(found)

    def need(self, kind: str, name: str) -> dict[str, Any]:
        if name not in self.of(kind):
            code = {"bucket": "404", "role": "NoSuchEntity"}.get(kind, "ResourceNotFoundException")
            raise refused(code, f"{kind} {name}")
        return self.of(kind)[name]

    def waited(self, words: list[str], given: dict[str, str]) -> str:
        if words[2] == "stack-delete-complete" and given["stack-name"] in self.stacks:
            raise RefusedError("DELETE_FAILED")
        return ""

    def tagged(self, kind: str) -> list[dict[str, Any]]:
        return [
            {
                **facts,
                "id": name,
                "Tags": [
                    {"Key": key, "Value": value} for key, value in facts.get("tags", {}).items()
                ],
            }
            for name, facts in sorted(self.of(kind).items())
        ]

    def filtered(
        self, kind: str, given: dict[str, str], words: str = "filters"
    ) -> list[dict[str, Any]]:
        found = self.tagged(kind)
        for each in shlex.split(given.get(words, "")):
            name, values = re.fullmatch(r"Name=([^,]+),Values=(.*)", each).groups()  # type: ignore[union-attr]
            wanted = values.split(",")
            found = [one for one in found if matches(one, name, wanted)]
        return found

    # --- AWS

    def aws_sts_get_caller_identity(self, given: dict[str, str]) -> Any:
        return {"Account": self.account}

    def aws_service_quotas_get_service_quota(self, given: dict[str, str]) -> Any:
        return {"Quota": {"Value": 1.0 if given["quota-code"] in self.small else self.quota}}

    def aws_service_quotas_list_service_quotas(self, given: dict[str, str]) -> Any:
        name = given["query"].partition("QuotaName=='")[2].partition("'")[0]
        return {"Quotas": [{"QuotaName": name, "Value": 1.0 if name in self.small else self.quota}]}

    def aws_account_get_region_opt_status(self, given: dict[str, str]) -> Any:
        return {"RegionOptStatus": "ENABLED"}

    def aws_iam_get_role(self, given: dict[str, str]) -> Any:
        self.need("role", given["role-name"])

    def aws_iam_create_service_linked_role(self, given: dict[str, str]) -> Any:
        self.add("role", "AWSServiceRoleForEC2Spot")

    def aws_cloudformation_describe_stacks(self, given: dict[str, str]) -> Any:
        names = [given["stack-name"]] if "stack-name" in given else sorted(self.stacks)
        if any(name not in self.stacks for name in names):
            raise refused("ValidationError", f"Stack with id {names[0]} does not exist")
        return {"Stacks": [{"StackName": name, **self.stacks[name]} for name in names]}

    def aws_cloudformation_deploy(self, given: dict[str, str]) -> Any:
        name = given["stack-name"]
        template = read(given["template-file"])
        key, _, value = given.get("tags", "").partition("=")
        tags = [{"Key": key, "Value": value}] if key else []
        if name in self.stacks:
            return
        imports = set(re.findall(r"'Fn::ImportValue': '([^']+)'", str(template)))
        if imports and not self.cluster_made:
            raise RefusedError(f"No export named {imports}")
        stack = {
            "StackStatus": "CREATE_COMPLETE",
            "Tags": tags,
            "template": template,
            "imports": bool(imports),
        }
        stack["Outputs"] = []
        for logical, resource in template["Resources"].items():
            self.made(name, logical, resource, stack)
        self.stacks[name] = stack

    def made(
        self, stack: str, logical: str, resource: dict[str, Any], record: dict[str, Any]
    ) -> None:
        properties = resource.get("Properties", {})
        tags = (
            {each["Key"]: each["Value"] for each in properties.get("Tags", [])}
            if isinstance(properties.get("Tags"), list)
            else {}
        )
        kind = resource["Type"]
        if kind == "AWS::S3::Bucket":
            self.add("bucket", properties["BucketName"], tags=tags)
        elif kind == "AWS::ECR::Repository":
            self.add("repository", properties["RepositoryName"], tags=tags)
        elif kind == "AWS::FSx::FileSystem":
            self.file_system(f"fs-{stack}", tags)
            record["Outputs"] = [
                {"OutputKey": key, "OutputValue": f"fs-{stack}"}
                for key in ("Id", "DnsName", "MountName")
            ]
        elif kind == "AWS::FSx::DataRepositoryAssociation":
            self.add("link", f"dra-{stack}-{logical}", fs=f"fs-{stack}")
        elif kind == "AWS::EC2::SecurityGroup" and stack.find("-storage-") > 0:
            self.add("group", f"sg-{stack}", tags=tags)
        elif kind == "AWS::APS::Workspace":
            self.add("workspace", f"ws-{stack}", alias=properties["Alias"])
        elif kind == "AWS::EC2::VPC":
            self.network({"trainyard-network-of": self.cluster})
            record["Outputs"] = [{"OutputKey": "Vpc", "OutputValue": "vpc-own"}]

    def file_system(self, name: str, tags: dict[str, str]) -> None:
        self.add("file-system", name, tags=tags)
        self.add("interface", f"eni-{name}", tags={}, vpc="vpc-own")

    def network(self, tags: dict[str, str]) -> None:
        self.add("vpc", "vpc-own", tags=tags)
        self.add("gateway", "nat-1", tags=tags, vpc="vpc-own")
        self.add("address", "eipalloc-1", tags=tags)

    def no_network(self) -> None:
        for kind in ("interface", "endpoint"):
            held = [name for name, each in self.of(kind).items() if each.get("vpc") == "vpc-own"]
            if held:
                raise RefusedError(f"DependencyViolation: vpc-own has {held}")
        for kind, name in (("vpc", "vpc-own"), ("gateway", "nat-1"), ("address", "eipalloc-1")):
            self.of(kind).pop(name, None)

    def aws_cloudformation_set_stack_policy(self, given: dict[str, str]) -> Any:
        return None

    def aws_cloudformation_update_termination_protection(self, given: dict[str, str]) -> Any:
        self.stacks[given["stack-name"]]["free"] = True

    def aws_cloudformation_delete_stack(self, given: dict[str, str]) -> Any:
        stack = self.stacks.get(given["stack-name"])
        if stack is None:
            return
        kinds = {each["Type"] for each in stack["template"]["Resources"].values()}
        if "AWS::EC2::VPC" in kinds:
            if not stack.get("free"):
                raise RefusedError("ValidationError: TerminationProtection is enabled")
            self.no_network()
        # What says Retain stays; everything else of these templates is free.
        del self.stacks[given["stack-name"]]

    def aws_ec2_describe_subnets(self, given: dict[str, str]) -> Any:
        return {"Subnets": [{"SubnetId": "subnet-1"}]}

    def aws_ec2_describe_vpcs(self, given: dict[str, str]) -> Any:
        found = [
            {"VpcId": each["id"], "CidrBlock": "10.0.0.0/16"}
            for each in self.filtered("vpc", given)
        ]
        return {"Vpcs": found if "filters" in given else [{"CidrBlock": "10.1.0.0/16"}]}

    def aws_ec2_describe_route_tables(self, given: dict[str, str]) -> Any:
        return {"RouteTables": [{"RouteTableId": "rtb-1"}, {"RouteTableId": "rtb-2"}]}

    def aws_ec2_describe_vpc_endpoints(self, given: dict[str, str]) -> Any:
        return {
            "VpcEndpoints": [
                {"VpcEndpointId": each, "State": state}
                for each, state in [
                    *((each, "available") for each in self.of("endpoint")),
                    *((each, "deleted") for each in self.deleted),
                ]
            ]
        }

    def aws_ec2_create_vpc_endpoint(self, given: dict[str, str]) -> Any:
        self.add("endpoint", "vpce-1", vpc="vpc-own")

    def aws_ec2_delete_vpc_endpoints(self, given: dict[str, str]) -> Any:
        self.of("endpoint").pop(given["vpc-endpoint-ids"])
        self.deleted.append(given["vpc-endpoint-ids"])

    def aws_ec2_describe_vpc_peering_connections(self, given: dict[str, str]) -> Any:
        return {
            "VpcPeeringConnections": [
                {"VpcPeeringConnectionId": each} for each in self.of("peering")
            ]
        }

    def aws_ec2_create_vpc_peering_connection(self, given: dict[str, str]) -> Any:
        self.add("peering", "pcx-1")
        return {"VpcPeeringConnection": {"VpcPeeringConnectionId": "pcx-1"}}

    def aws_ec2_accept_vpc_peering_connection(self, given: dict[str, str]) -> Any:
        self.need("peering", "pcx-1")

    def aws_ec2_delete_vpc_peering_connection(self, given: dict[str, str]) -> Any:
        self.of("peering").pop(given["vpc-peering-connection-id"])

    def aws_ec2_create_route(self, given: dict[str, str]) -> Any:
        return None

    def aws_ec2_authorize_security_group_ingress(self, given: dict[str, str]) -> Any:
        raise refused("InvalidPermission.Duplicate", "the rule exists")

    def aws_ec2_describe_network_interfaces(self, given: dict[str, str]) -> Any:
        found = self.filtered("interface", given) if "filters" in given else []
        return {
            "NetworkInterfaces": [
                {"NetworkInterfaceId": each["id"], "Groups": []} for each in found
            ]
            or [{"Groups": [{"GroupId": "sg-1"}]}] * ("filters" not in given)
        }

    def aws_ec2_describe_placement_groups(self, given: dict[str, str]) -> Any:
        return {
            "PlacementGroups": [
                {"GroupName": each["id"]} for each in self.filtered("placement", given)
            ]
        }

    def aws_ec2_create_placement_group(self, given: dict[str, str]) -> Any:
        self.add(
            "placement",
            given["group-name"],
            tags={"trainyard-part-of": self.cluster, "group-name": given["group-name"]},
        )

    def aws_ec2_delete_placement_group(self, given: dict[str, str]) -> Any:
        self.of("placement").pop(given["group-name"])

    def aws_ec2_describe_instances(self, given: dict[str, str]) -> Any:
        return {
            "Reservations": [
                {"Instances": [{"InstanceId": each["id"]}]}
                for each in self.filtered("instance", given)
            ]
        }

    def aws_ec2_describe_volumes(self, given: dict[str, str]) -> Any:
        return {
            "Volumes": [
                {"VolumeId": each["id"], "Tags": each["Tags"]}
                for each in self.filtered("volume", given)
            ]
        }

    def aws_ec2_delete_volume(self, given: dict[str, str]) -> Any:
        self.of("volume").pop(given["volume-id"])

    def aws_ec2_describe_snapshots(self, given: dict[str, str]) -> Any:
        return {"Snapshots": []}

    def aws_ec2_describe_security_groups(self, given: dict[str, str]) -> Any:
        return {
            "SecurityGroups": [
                {"GroupId": each["id"], "Tags": each["Tags"]}
                for each in self.filtered("group", given)
            ]
        }

    def aws_ec2_delete_security_group(self, given: dict[str, str]) -> Any:
        self.of("group").pop(given["group-id"])

    def aws_ec2_describe_addresses(self, given: dict[str, str]) -> Any:
        return {
            "Addresses": [{"AllocationId": each["id"]} for each in self.filtered("address", given)]
        }

    def aws_ec2_describe_nat_gateways(self, given: dict[str, str]) -> Any:
        return {
            "NatGateways": [
                {"NatGatewayId": each["id"]} for each in self.filtered("gateway", given, "filter")
            ]
        }

    def aws_ec2_describe_capacity_reservations(self, given: dict[str, str]) -> Any:
        return {"CapacityReservations": [{"State": "active"}]}

    def aws_elbv2_describe_load_balancers(self, given: dict[str, str]) -> Any:
        return {"LoadBalancers": []}

    def aws_resourcegroupstaggingapi_get_resources(self, given: dict[str, str]) -> Any:
        kind = {"s3:bucket": "bucket", "ecr:repository": "repository"}.get(
            given["resource-type-filters"], "balancer"
        )
        colon = ":repository/" if kind == "repository" else ":"
        key = given["tag-filters"].removeprefix("Key=").partition(",")[0]
        return {
            "ResourceTagMappingList": [
                {"ResourceARN": f"arn:aws:x::{colon}{each['id']}", "Tags": each["Tags"]}
                for each in self.tagged(kind)
                if key in each.get("tags", {})
            ]
        }

    def aws_fsx_describe_file_systems(self, given: dict[str, str]) -> Any:
        if "file-system-ids" in given and given["file-system-ids"] not in self.of("file-system"):
            return {"FileSystems": [{"VpcId": "vpc-other", "NetworkInterfaceIds": ["eni-other"]}]}
        return {
            "FileSystems": [
                {"FileSystemId": each["id"], "Tags": each["Tags"], "Lifecycle": "AVAILABLE"}
                for each in self.tagged("file-system")
            ]
        }

    def aws_fsx_delete_file_system(self, given: dict[str, str]) -> Any:
        name = given["file-system-id"]
        if any(each["fs"] == name for each in self.of("link").values()):
            raise RefusedError("BadRequest: it has links")
        self.of("file-system").pop(name)
        self.of("interface").pop(f"eni-{name}")

    def aws_fsx_describe_data_repository_associations(self, given: dict[str, str]) -> Any:
        name = given["filters"].partition("Values=")[2]
        return {
            "Associations": [
                {"AssociationId": each, "Lifecycle": "AVAILABLE"}
                for each, facts in self.of("link").items()
                if facts["fs"] == name
            ]
        }

    def aws_fsx_delete_data_repository_association(self, given: dict[str, str]) -> Any:
        self.of("link").pop(given["association-id"])

    def aws_s3_sync(self, given: dict[str, str]) -> Any:
        return None

    def aws_s3api_head_bucket(self, given: dict[str, str]) -> Any:
        self.need("bucket", given["bucket"])

    def aws_s3api_create_bucket(self, given: dict[str, str]) -> Any:
        self.add("bucket", given["bucket"])

    def aws_s3api_put_bucket_versioning(self, given: dict[str, str]) -> Any:
        self.need("bucket", given["bucket"])["versions"] = True

    def aws_s3api_put_public_access_block(self, given: dict[str, str]) -> Any:
        self.need("bucket", given["bucket"])["private"] = True

    def aws_s3api_list_object_versions(self, given: dict[str, str]) -> Any:
        return {"Versions": self.need("bucket", given["bucket"]).get("objects", [])[:1000]}

    def aws_s3api_delete_objects(self, given: dict[str, str]) -> Any:
        request = json.loads(Path(given["delete"].removeprefix("file://")).read_text())
        gone = {each["Key"] for each in request["Objects"]}
        bucket = self.need("bucket", given["bucket"])
        bucket["objects"] = [each for each in bucket["objects"] if each["Key"] not in gone]
        return {}

    def aws_s3api_list_objects_v2(self, given: dict[str, str]) -> Any:
        self.need("bucket", given["bucket"])
        return {
            "Contents": [
                {"Key": f"{given['prefix']}{each}.tfstate"} for each in sorted(self.modules)
            ]
        }

    def aws_s3api_delete_bucket(self, given: dict[str, str]) -> Any:
        if self.need("bucket", given["bucket"]).get("objects"):
            raise RefusedError("BucketNotEmpty")
        del self.of("bucket")[given["bucket"]]

    def aws_ecr_describe_images(self, given: dict[str, str]) -> Any:
        images = self.of("repository").get(given["repository-name"], {}).get("images", [])
        if given["image-ids"].partition("=")[2] not in images and given[
            "repository-name"
        ] not in self.of("pushed"):
            raise refused("ImageNotFoundException", given["repository-name"])
        return {"imageDetails": [{"imageDigest": images[-1] if images else "sha256:1"}]}

    def aws_ecr_delete_repository(self, given: dict[str, str]) -> Any:
        self.of("repository").pop(given["repository-name"])

    def aws_codebuild_start_build(self, given: dict[str, str]) -> Any:
        for facts in self.of("repository").values():
            facts["images"] = [given["source-version"], "sha256:" + "1a" * 32]
        return {"build": {"id": "build-1"}}

    def aws_codebuild_batch_get_builds(self, given: dict[str, str]) -> Any:
        return {"builds": [{"buildStatus": "SUCCEEDED"}]}

    def aws_amp_list_workspaces(self, given: dict[str, str]) -> Any:
        """Those whose aliases begin so."""
        found = [
            {"workspaceId": name, "alias": facts["alias"], "status": {"statusCode": "ACTIVE"}}
            for name, facts in self.of("workspace").items()
            if facts["alias"].startswith(given["alias"])
        ]
        return {"workspaces": found}

    def aws_secretsmanager_describe_secret(self, given: dict[str, str]) -> Any:
        self.need("secret", given["secret-id"])

    def aws_secretsmanager_create_secret(self, given: dict[str, str]) -> Any:
        text = Path(given["secret-string"].removeprefix("file://")).read_text()
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        self.add("secret", given["name"], value=value)

    def aws_logs_describe_log_groups(self, given: dict[str, str]) -> Any:
        return {"logGroups": [{"logGroupName": each} for each in self.of("log")]}

    def aws_logs_delete_log_group(self, given: dict[str, str]) -> Any:
        self.of("log").pop(given["log-group-name"])

    # --- EKS

    def aws_eks_describe_cluster(self, given: dict[str, str]) -> Any:
        if not self.cluster_made:
            raise refused("ResourceNotFoundException", "No cluster found")
        vpc = {"vpcId": "vpc-own", "clusterSecurityGroupId": "sg-cluster"}
        return {"cluster": {"status": "ACTIVE", "resourcesVpcConfig": vpc, "endpoint": "https://x"}}

    def aws_eks_list_clusters(self, given: dict[str, str]) -> Any:
        return {"clusters": [self.cluster] * self.cluster_made}

    def aws_eks_list_nodegroups(self, given: dict[str, str]) -> Any:
        return {"nodegroups": sorted(self.of("nodegroup"))}

    def aws_eks_update_kubeconfig(self, given: dict[str, str]) -> Any:
        self.own_file = "kubeconfig" in given
        if not self.cluster_made:
            raise refused("ResourceNotFoundException", "No cluster found")
        self.context = self.context or not self.own_file

    def aws_eks_list_pod_identity_associations(self, given: dict[str, str]) -> Any:
        name = given["service-account"]
        return {"associations": [{"associationId": name}] * (name in self.of("identity"))}

    def aws_eks_create_pod_identity_association(self, given: dict[str, str]) -> Any:
        self.add("identity", given["service-account"])

    def aws_eks_describe_access_entry(self, given: dict[str, str]) -> Any:
        self.need("entry", given["principal-arn"])

    def aws_eks_create_access_entry(self, given: dict[str, str]) -> Any:
        self.add("entry", given["principal-arn"])

    def aws_eks_delete_access_entry(self, given: dict[str, str]) -> Any:
        raise refused("ResourceNotFoundException", "no such entry")

    def instances(self, prefix: str, count: int) -> None:
        for index in range(count):
            tags = {f"kubernetes.io/cluster/{self.cluster}": "owned"}
            self.add("instance", f"i-{prefix}-{index}", tags=tags)

    def eksctl(self, words: list[str], stdin: str) -> str:  # noqa: C901 - a command a branch
        given = options(words)
        what = words[:2]
        file = given.get("config-file", "")
        if what in (["create", "cluster"], ["create", "addon"], ["create", "nodegroup"]):
            config = read(file)
            assert "${" not in json.dumps(config), "eksctl knows no variables"
        if what == ["create", "cluster"]:
            if self.cluster_made:
                raise RefusedError("AlreadyExistsException: stack eksctl-…-cluster")
            if "id" not in config.get("vpc", {}):
                self.network({"alpha.eksctl.io/cluster-name": self.cluster})
            self.cluster_made = True
            self.stacks[f"eksctl-{self.cluster}-cluster"] = {
                "StackStatus": "CREATE_COMPLETE",
                "Tags": [],
                "Outputs": [{"OutputKey": "VPC", "OutputValue": "vpc-own"}],
                "template": {"Resources": {}},
            }
            self.add("log", f"/aws/eks/{self.cluster}/cluster")
        elif what == ["create", "nodegroup"]:
            if not self.cluster_made:
                raise RefusedError("no cluster")
            if "/nodegroups/" in file:
                controllers = f"{KUSTOMIZATIONS}/trainyard-controllers"
                assert self.is_ready(controllers), "these nodes would wait for controllers"
            else:
                self.system.update(group["name"] for group in config["managedNodeGroups"])
            for group in config["managedNodeGroups"]:
                if group["name"] not in self.of("nodegroup"):
                    self.add("nodegroup", group["name"])
                    self.instances(group["name"], group.get("desiredCapacity", 1))
        elif what == ["delete", "nodegroup"]:
            if self.objects.get("pods"):
                raise RefusedError("pods hold the drain")
            assert given["name"] not in self.system, "these nodes go with the cluster"
            self.no_group(given["name"])
        elif what == ["delete", "cluster"]:
            if [each for each in self.stacks.values() if each.get("imports")]:
                raise RefusedError("export in use by another stack")
            if [each for each in self.of("instance") if each.startswith("i-pool")]:
                raise RefusedError("instances of Karpenter use the VPC")
            if "alpha.eksctl.io/cluster-name" in self.of("vpc").get("vpc-own", {}).get("tags", {}):
                self.no_network()
            for group in list(self.of("nodegroup")):
                self.no_group(group)
            self.cluster_made = self.delivered = False
            self.objects.clear()
            self.things["identity"] = {}
            self.things["entry"] = {}
            self.stacks.pop(f"eksctl-{self.cluster}-cluster", None)
        return ""

    def no_group(self, name: str) -> None:
        self.need("nodegroup", name)
        del self.of("nodegroup")[name]
        for each in [one for one in self.of("instance") if one.startswith(f"i-{name}-")]:
            del self.of("instance")[each]

    # --- Kubernetes

    def kubectl(self, words: list[str], stdin: str) -> str:
        given = options(words)
        verb = words[0]
        if verb == "config":
            return (
                f"arn:aws:eks:{self.region}:{ACCOUNT}:cluster/{self.cluster}"
                if self.context
                else "another"
            )
        if verb == "label":
            return stdin
        assert self.context or self.own_file, "kubectl speaks to another cluster"
        if not self.cluster_made:
            raise RefusedError("no route to host")
        self.asked += 1
        if verb == "api-resources":
            return "\n".join(sorted(SERVED)) + "\n"
        if verb == "wait":
            return self.waits(given, words[-1])
        if verb == "apply" and given.get("filename", "").endswith("/flux"):
            self.deliver()
        elif verb == "create":
            return self.created(words, given)
        elif verb == "get":
            return self.got(words, given)
        elif verb == "delete":
            self.gone(words[1])
        return ""

    def created(self, words: list[str], given: dict[str, str]) -> str:
        if "dry-run" in given:
            return "kind: ConfigMap\n"
        name = words[3] if words[1] == "secret" else words[2]
        kinds = self.objects.setdefault(words[1], set())
        if name in kinds:
            raise RefusedError("AlreadyExists")
        kinds.add(name)
        return ""

    def got(self, words: list[str], given: dict[str, str]) -> str:
        what, *names = [each for each in words[1:] if not each.startswith("--")] or [""]
        if what in (KUSTOMIZATIONS, HELM_RELEASES):
            return self.of_flux(f"{what}/{names[0]}")
        queues = f"{KUSTOMIZATIONS}/trainyard-queues"
        if (
            what.startswith("clusterqueues")
            and queues in self.flux_made
            and not self.is_ready(queues)
        ):
            raise RefusedError('error: the server doesn\'t have a resource type "clusterqueues"')
        if what.startswith("nodeclaims"):
            if self.objects.get("nodepools") and not self.suspended:
                self.objects["claims"] = {"claim"}
            claims = self.objects.get("claims", set())
            if not self.objects.get("nodepools") and not self.objects.get("pods"):
                claims.clear()
                for each in [one for one in self.of("instance") if one.startswith("i-pool")]:
                    del self.of("instance")[each]
            return "".join(f"nodeclaim/{each}\n" for each in claims)
        if what == "pods" and "no-headers" in given:
            return "".join(f"team {each} true\n" for each in self.objects.get("pods", set()))
        if what == "nodes" and "selector" in given:
            wanted = given["selector"].rpartition("!")[2]
            return "node/bad\n" if self.unlabelled and self.unlabelled == wanted else ""
        if what == "nodes" and "no-headers" in given:
            return "ip-1 Ready <none> 1d v1.35\n"
        if what in ("secret", "namespace") or what.startswith("gitrepositories"):
            name = names[0]
            if name not in self.objects.get(what, set()):
                raise RefusedError(f"Error from server (NotFound): {what} {name} not found")
        return ""

    def gone(self, resource: str) -> None:
        kind = resource.partition(".")[0]
        if kind in ("ec2nodeclasses", "nodeclasses") and self.objects.get("claims"):
            raise RefusedError("timed out: the finalizer waits for nodes")
        self.objects.pop(kind, None)
        jobs = {each.partition(".")[0] for each in SERVED} & {
            "trainjobs",
            "rayjobs",
            "jobs",
            "jobsets",
        }
        if kind in jobs and not any(self.objects.get(each) for each in jobs):
            self.objects.pop("pods", None)

    def of_flux(self, name: str) -> str:
        if self.flux_made.get(name, self.asked + 1) > self.asked:
            raise RefusedError(f'Error from server (NotFound): "{name}" not found')
        return f"{name}\n"

    def is_ready(self, name: str) -> bool:
        return self.flux_made.get(name, self.asked) + SOON < self.asked

    def waits(self, given: dict[str, str], name: str) -> str:
        """As kubectl does: of a name that is not there it does not wait, and `--all` is what there is now."""
        assert "all" not in given, "what is not there yet would not be waited for"
        self.of_flux(name)
        self.asked = max(self.asked, self.flux_made[name] + SOON + 1)
        return f"{name} condition met\n"

    def deliver(self) -> None:
        """What Flux makes of the folder: pools with their classes, jobs and their pods, and nodes for them."""
        assert "flux-system" in self.objects.get("namespace", set()), "Flux is not installed"
        if self.delivered:
            return
        self.delivered = True
        folder = self.root
        for kind, start in ((KUSTOMIZATIONS, "kustomization"), (HELM_RELEASES, "helmrelease")):
            for index, file in enumerate(sorted(folder.glob(f"**/{start}-*.yaml"))):
                name = f"{kind}/{file.stem.removeprefix(f'{start}-')}"
                self.flux_made[name] = self.asked + 2 * index
        pools = list(folder.glob("platform/nodepool-*"))
        jobs = list(folder.glob("jobs/*.trainjob-*"))
        self.objects["nodepools"] = {each.stem for each in pools}
        self.objects["ec2nodeclasses"] = {"class"} if pools else set()
        self.objects["trainjobs"] = {each.stem for each in jobs}
        self.objects["jobsets"] = {each.stem for each in jobs}
        self.objects["rayjobs"] = {"foreign"}
        self.objects["pods"] = {each.stem for each in jobs} | {"ray"}
        self.objects["claims"] = {"claim"}
        self.instances("pool", 2)

    def flux(self, words: list[str], stdin: str) -> str:
        if words[0] in ("install", "bootstrap"):
            self.objects.setdefault("namespace", set()).add("flux-system")
            self.objects.setdefault("gitrepositories.source.toolkit.fluxcd.io", set()).add(
                "flux-system"
            )
        if words[0] == "suspend":
            self.suspended = True
        return ""

    # --- Terraform

    def terraform(self, words: list[str], stdin: str) -> str:
        name = Path(words[0].partition("=")[2]).name
        module = read(f"{words[0].partition('=')[2]}/main.tf.json")
        self.need("bucket", module["terraform"]["backend"]["s3"]["bucket"])
        resources = module.get("resource", {})
        if words[1] == "apply" and name not in self.modules:
            self.modules.add(name)
            if "aws_vpc" in resources:
                self.network({"trainyard-network-of": self.cluster})
            if "aws_fsx_lustre_file_system" in resources:
                self.file_system(
                    f"fs-{name}",
                    {"trainyard-storage": f"{self.cluster}.{name.removeprefix('storage-')}"},
                )
            for bucket in resources.get("aws_s3_bucket", {}).values():
                self.add(
                    "bucket", bucket["bucket"], tags={"trainyard-storage": f"{self.cluster}.x"}
                )
        elif words[1] == "destroy" and name in self.modules:
            if "aws_vpc" in resources:
                self.no_network()
            self.modules.discard(name)
        elif words[1] == "output":
            if words[-1] == "-json":
                return json.dumps(module.get("output", {}) if name in self.modules else {})
            if name not in self.modules:
                raise RefusedError("no outputs")
            return "" if words[-1] == "kept" else {"vpc": "vpc-own"}.get(words[-1], f"fs-{name}")
        return ""


def refused(code: str, why: str) -> RefusedError:
    """As the AWS CLI says it."""
    return RefusedError(f"An error occurred ({code}) when calling an operation: {why}")


KUSTOMIZATIONS = "kustomizations.kustomize.toolkit.fluxcd.io"
HELM_RELEASES = "helmreleases.helm.toolkit.fluxcd.io"
SOON = 5
SERVED = [
    "trainjobs.trainer.kubeflow.org",
    "jobsets.jobset.x-k8s.io",
    "rayjobs.ray.io",
    "jobs.batch",
    "cronjobs.batch",
    "nodepools.karpenter.sh",
    "ec2nodeclasses.karpenter.k8s.aws",
    "nodeclasses.eks.amazonaws.com",
]


def matches(thing: dict[str, Any], name: str, wanted: list[str]) -> bool:
    tags = thing.get("tags", {})
    if name == "tag-key":
        return bool(set(wanted) & set(tags))
    if name in ("state", "instance-state-name", "status-code"):
        return True
    values = {"vpc-id": thing.get("vpc"), "group-name": thing["id"]}
    value = tags.get(name.removeprefix("tag:")) if name.startswith("tag:") else values[name]
    return any(re.fullmatch(re.escape(each).replace(r"\*", ".*"), value or "") for each in wanted)


def options(words: list[str]) -> dict[str, str]:
    """The options of a call by name; values of one that takes several are one text."""
    found: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("--"):
            name, _, value = word[2:].partition("=")
            found[name] = value
        elif name:
            found[name] = f"{found[name]} {word}".strip()
    return found


def read(path: str) -> Any:
    return parsed(Path(path).read_text())


@cache
def parsed(text: str) -> Any:
    """Every run of a script reads the same files."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


def text_of(value: Any) -> str:
    """``--output text`` of the AWS CLI."""
    if not isinstance(value, list):
        return f"{value}\n"
    if any(isinstance(each, list) for each in value):
        return "".join("\t".join(map(str, each)) + "\n" for each in value)
    return "\t".join(map(str, value)) + "\n" if value else "\n"
