"""An account in moto, asked by the real AWS CLI, and a cluster whose API server is a real one.

What moto lacks (quotas, pod identities, access entries, placement groups, reservations, links of FSx, HyperPod, builds)
is answered by the world of the other tests. ``eksctl``, ``flux`` and ``terraform`` are stand-ins that make in moto, and
in the API server, what the real ones make; Flux' controllers are real.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any

import yaml
from answering import RefusedError
from control_plane import BUILT, SHARED
from hyperpod_world import HyperPodWorld
from world import ACCOUNT, options, read

from tests.platforms.parallelcluster.account import Account

FORKS = Path(__file__).with_name("aws_forks.py")
LACKING = {
    "account": ("",),
    "service-quotas": ("",),
    "sagemaker": ("",),
    "codebuild": ("",),
    "ec2": ("placement-group", "capacity-reservation"),
    "ecr": ("describe-images",),
    "eks": ("pod-identity", "access-entry", "addon", "wait"),
    "fsx": ("data-repository",),
}
"""What moto 5.2.5 does not answer: services, and words in the names of their commands. Its ECR keeps no image of a
digest that is said."""


def lacks(words: list[str]) -> bool:
    return any(part in words[1] for part in LACKING.get(words[0], ()))


@contextmanager
def aws_cli(env: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """The AWS CLI, loaded once."""
    program = shutil.which("aws")
    assert program is not None
    if "pyenv" in program:
        program = subprocess.check_output(["pyenv", "which", "aws"], text=True).strip()
    python = Path(program).read_text().splitlines()[0].removeprefix("#!").strip()
    with subprocess.Popen(
        [python, str(FORKS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    ) as process:
        yield process


LINKS: dict[str, dict[str, Any]] = {}
"""Links of file systems with buckets, of all stacks."""


class OfStack:
    """What moto's CloudFormation keeps of a resource."""

    def __init__(self, physical: str, attributes: dict[str, str]) -> None:
        self.physical_resource_id, self.attributes = physical, attributes

    @staticmethod
    def has_cfn_attr(name: str) -> bool:
        return True

    def get_cfn_attribute(self, name: str) -> str:
        return self.attributes[name]

    def is_created(self) -> bool:
        return True

    @staticmethod
    def update_from_cloudformation_json(original: Any, *_: Any, **__: Any) -> Any:
        return original


class FileSystem(OfStack):
    @classmethod
    def create_from_cloudformation_json(
        cls, name: str, json: dict[str, Any], account_id: str, region_name: str, **_: Any
    ) -> Any:
        said = json["Properties"]
        absent = ("kms_key_id", "windows_configuration", "ontap_configuration")
        made = (
            import_module("moto.fsx.models")
            .fsx_backends[account_id][region_name]
            .create_file_system(
                client_request_token="",
                file_system_type=said["FileSystemType"],
                storage_capacity=said.get("StorageCapacity"),
                storage_type=said.get("StorageType"),
                subnet_ids=said["SubnetIds"],
                security_group_ids=said.get("SecurityGroupIds"),
                tags=said["Tags"],
                lustre_configuration=said["LustreConfiguration"],
                file_system_type_version=None,
                open_zfs_configuration=None,
                **dict.fromkeys(absent),
            )
        )
        return cls(made.file_system_id, {"DNSName": made.dns_name, "LustreMountName": "mount"})

    @staticmethod
    def delete_from_cloudformation_json(*_: Any, **__: Any) -> None:
        raise AssertionError("a file system stays when its stack goes")


class Link(OfStack):
    @classmethod
    def create_from_cloudformation_json(
        cls, name: str, json: dict[str, Any], *_: Any, **__: Any
    ) -> Any:
        said = json["Properties"]
        made = f"dra-{len(LINKS):017x}"
        tags = {each["Key"]: each["Value"] for each in said["Tags"]}
        LINKS[made] = {"fs": said["FileSystemId"], "tags": tags}
        return cls(made, {})

    @staticmethod
    def delete_from_cloudformation_json(resource_name: str, *_: Any, **__: Any) -> None:
        LINKS.pop(resource_name, None)


@cache
def teach() -> None:
    """What moto's CloudFormation lacks for our stacks: FSx, imports and outputs of what a change set makes, and change
    sets of a stack with parameters that change nothing, which fail later (AWS CLI 2, cloudformation/deployer.py)."""
    known = import_module("moto.cloudformation.parsing").get_model_map()
    known["AWS::FSx::FileSystem"] = FileSystem
    known["AWS::FSx::DataRepositoryAssociation"] = Link
    models = import_module("moto.cloudformation.models")
    applied = models.ChangeSet.apply

    def apply(change_set: Any) -> None:
        stack = change_set.stack
        backend = models.cloudformation_backends[stack.account_id][stack.region_name]
        stack.resource_map.cross_stack_resources = backend.exports
        applied(change_set)
        stack.template_dict = change_set.template_dict
        stack.output_map = stack._create_output_map()
        backend.exports.update({each.name: each for each in stack.exports})

    models.ChangeSet.apply = apply
    answers = import_module("moto.cloudformation.responses").CloudFormationResponse
    answers._validate_different_update = lambda *_: None


class MotoWorld(HyperPodWorld):
    """``kubeconfig``: of the administrator of the API server."""

    def __init__(self, root: Path, cluster: str, region: str, url: str, kubeconfig: Path) -> None:
        super().__init__(root, cluster, region)
        self.url, self.kubeconfig = url, kubeconfig
        self.own = root.parents[2] / "kubeconfig"
        self.cli: subprocess.Popen[str] | None = None
        self.lock = Lock()
        self.flux_child: subprocess.Popen[bytes] | None = None
        self.things["link"] = LINKS
        self.others: dict[str, dict[str, Any]] = {}
        """File systems that the spec names, by id: moto's have neither VPC nor interfaces."""
        jobs = "\n".join(each.read_text() for each in root.glob("jobs/*.yaml"))
        pushed = re.findall(r"image: .*amazonaws\.com/([^:@]+)[:@]", jobs)
        self.things["pushed"] = {each: {} for each in pushed}
        teach()

    def client(self, service: str) -> Any:
        boto3 = import_module("boto3")
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name=self.region,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )

    def backend(self, service: str) -> Any:
        return import_module("moto.backends").get_backend(service)[ACCOUNT][self.region]

    # --- AWS

    def aws(self, words: list[str], stdin: str) -> str:
        if lacks(words) or options(words).get("file-system-ids") in self.others:
            return super().aws(words, stdin)
        if words[:2] == ["fsx", "delete-file-system"]:
            self.no_links(options(words)["file-system-id"])
        assert self.cli is not None
        assert self.cli.stdin is not None
        assert self.cli.stdout is not None
        with self.lock:
            self.cli.stdin.write(json.dumps(words) + "\n")
            self.cli.stdin.flush()
            status, out, err = json.loads(self.cli.stdout.readline())
        if status:
            assert "NotImplemented" not in err, f"moto does not know {words}: {err}"
            raise RefusedError(err)
        if words[:2] == ["eks", "update-kubeconfig"]:
            self.as_administrator(Path(options(words).get("kubeconfig") or self.own))
        return str(out)

    def no_links(self, name: str) -> None:
        if any(each["fs"] == name for each in self.of("link").values()):
            raise RefusedError("BadRequest: it has links")

    def aws_fsx_describe_file_systems(self, given: dict[str, str]) -> Any:
        return {"FileSystems": [self.others[given["file-system-ids"]]]}

    def as_administrator(self, file: Path) -> None:
        """The API server knows no tokens of AWS, so that whoever calls is its administrator."""
        config = yaml.safe_load(file.read_text())
        admin = yaml.safe_load(self.kubeconfig.read_text())["users"][0]["user"]
        for user in config["users"]:
            user["user"] = admin
        file.write_text(yaml.safe_dump(config))

    def aws_fsx_describe_data_repository_associations(self, given: dict[str, str]) -> Any:
        wanted = given.get("filters", "").partition("Values=")[2]
        found = [
            {"AssociationId": each["id"], "Lifecycle": "AVAILABLE", "Tags": each["Tags"]}
            for each in self.tagged("link")
            if wanted in ("", each["fs"])
        ]
        return {"Associations": found}

    # --- eksctl

    def eksctl(self, words: list[str], stdin: str) -> str:
        given = options(words)
        match words[:2]:
            case ["create", "cluster"]:
                self.create_cluster(read(given["config-file"]))
            case ["create", "nodegroup"]:
                self.node_groups(read(given["config-file"])["managedNodeGroups"])
            case ["create", "addon"]:
                self.client("eks").describe_cluster(name=self.cluster)
            case ["delete", "nodegroup"]:
                assert given["name"] not in self.system, "these nodes go with the cluster"
                self.no_group(given["name"])
            case ["delete", "cluster"]:
                self.delete_cluster()
            case ["utils", "update-cluster-vpc-config"]:
                self.client("eks").describe_cluster(name=self.cluster)
            case other:
                raise AssertionError(f"eksctl {other}")
        return ""

    def create_cluster(self, config: dict[str, Any]) -> None:
        assert "${" not in json.dumps(config), "eksctl knows no variables"
        stacks, eks = self.client("cloudformation"), self.client("eks")
        name = f"eksctl-{self.cluster}-cluster"
        vpc = config.get("vpc", {})
        try:
            stacks.create_stack(StackName=name, TemplateBody=json.dumps(self.of_eksctl(config)))
        except stacks.exceptions.AlreadyExistsException as why:
            raise RefusedError(f"creating CloudFormation stack: {why}") from None
        outputs = stacks.describe_stacks(StackName=name)["Stacks"][0]["Outputs"]
        made = {each["OutputKey"]: each["OutputValue"] for each in outputs}
        eks.create_cluster(
            name=self.cluster,
            roleArn=f"arn:aws:iam::{ACCOUNT}:role/eks",
            resourcesVpcConfig={"subnetIds": []},
        )
        of_moto = self.backend("eks").clusters[self.cluster]
        real = yaml.safe_load(self.kubeconfig.read_text())["clusters"][0]["cluster"]
        of_moto.endpoint = real["server"]
        data = real.get("certificate-authority-data")
        if data is None:
            data = base64.b64encode(Path(real["certificate-authority"]).read_bytes()).decode()
        of_moto.certificate_authority = {"data": data}
        group = made["ClusterSecurityGroupId"]
        of_moto.resources_vpc_config = {
            "vpcId": vpc.get("id") or made["VPC"],
            "clusterSecurityGroupId": group,
        }
        self.client("logs").create_log_group(logGroupName=f"/aws/eks/{self.cluster}/cluster")
        for each in config["iam"].get("podIdentityAssociations", ()):
            self.add("identity", each["serviceAccountName"])
        for each in config["accessConfig"].get("accessEntries", ()):
            self.add("entry", each["principalARN"])
        self.node_groups(config["managedNodeGroups"])
        self.system.update(group["name"] for group in config["managedNodeGroups"])

    def of_eksctl(self, config: dict[str, Any]) -> dict[str, Any]:
        """The parts of eksctl's stack that others look for (eksctl 0.230.0, pkg/cfn/builder/vpc_ipv4.go)."""
        tags = [{"Key": "alpha.eksctl.io/cluster-name", "Value": self.cluster}]
        vpc = config["vpc"].get("id")
        at: Any = vpc or {"Ref": "VPC"}
        resources: dict[str, Any] = {
            "ControlPlaneSecurityGroup": {
                "Type": "AWS::EC2::SecurityGroup",
                "Properties": {"GroupDescription": "nodes", "VpcId": at},
            }
        }
        if vpc is None:
            block = config["vpc"].get("cidr", "192.168.0.0/16")
            resources["VPC"] = {
                "Type": "AWS::EC2::VPC",
                "Properties": {"CidrBlock": block, "Tags": tags},
            }
            private = [*tags, {"Key": "kubernetes.io/role/internal-elb", "Value": "1"}]
            for index, zone in enumerate(config["availabilityZones"]):
                first, second = block.split(".")[:2]
                resources[f"SubnetPrivate{index}"] = {
                    "Type": "AWS::EC2::Subnet",
                    "Properties": {
                        "VpcId": at,
                        "AvailabilityZone": zone,
                        "CidrBlock": f"{first}.{second}.{32 * index}.0/19",
                        "Tags": private,
                    },
                }
        group = {"Fn::GetAtt": ["ControlPlaneSecurityGroup", "GroupId"]}
        values = {"VPC": at, "ClusterSecurityGroupId": group, "SharedNodeSecurityGroup": group}
        exported = f"eksctl-{self.cluster}-cluster::"
        outputs = {
            key: {"Value": value, "Export": {"Name": exported + key}}
            for key, value in values.items()
        }
        return {"Resources": resources, "Outputs": outputs}

    def node_groups(self, groups: list[dict[str, Any]]) -> None:
        eks, ec2 = self.client("eks"), self.client("ec2")
        for group in groups:
            if group["name"] in eks.list_nodegroups(clusterName=self.cluster)["nodegroups"]:
                continue
            eks.create_nodegroup(
                clusterName=self.cluster,
                nodegroupName=group["name"],
                subnets=["subnet-1"],
                nodeRole=f"arn:aws:iam::{ACCOUNT}:role/nodes",
            )
            tags = {"eks:nodegroup-name": group["name"], "eks:cluster-name": self.cluster}
            tags[f"kubernetes.io/cluster/{self.cluster}"] = "owned"
            count = group.get("desiredCapacity", 1)
            ec2.run_instances(
                ImageId=ec2.describe_images()["Images"][0]["ImageId"],
                MinCount=count,
                MaxCount=count,
                TagSpecifications=[
                    {
                        "ResourceType": "instance",
                        "Tags": [{"Key": key, "Value": value} for key, value in tags.items()],
                    }
                ],
            )
            labels = {**group.get("labels", {}), "eks.amazonaws.com/nodegroup": group["name"]}
            self.nodes(group["name"], count, labels)

    def nodes(self, prefix: str, count: int, labels: dict[str, str]) -> None:
        words = [f"--label={key}={value}" for key, value in labels.items()]
        words = [part for word in words for part in word.split("=", 1)]
        self.controlplane("nodes.sh", "--prefix", prefix, *words, str(count), "m7i.2xlarge")

    def no_group(self, name: str) -> None:
        eks, ec2 = self.client("eks"), self.client("ec2")
        eks.delete_nodegroup(clusterName=self.cluster, nodegroupName=name)
        named = {"Name": "tag:eks:nodegroup-name", "Values": [name]}
        for each in ec2.describe_instances(Filters=[named])["Reservations"]:
            ec2.terminate_instances(InstanceIds=[one["InstanceId"] for one in each["Instances"]])
        self.controlplane("nodes.sh", "--delete", name)

    def delete_cluster(self) -> None:
        eks = self.client("eks")
        for name in eks.list_nodegroups(clusterName=self.cluster)["nodegroups"]:
            self.no_group(name)
        eks.delete_cluster(name=self.cluster)
        self.client("cloudformation").delete_stack(StackName=f"eksctl-{self.cluster}-cluster")
        self.things["identity"], self.things["entry"] = {}, {}

    # --- Kubernetes

    def controlplane(self, script: str, *words: str) -> None:
        subprocess.run(
            ["bash", str(SHARED / script), *words],
            env={**os.environ, "CP_HOME": str(self.kubeconfig.parents[2])},
            check=True,
            capture_output=True,
        )

    def really(self, *words: str, stdin: str = "") -> str:
        """kubectl, as who looks after the cluster."""
        done = subprocess.run(
            [str(BUILT / "kubectl"), f"--kubeconfig={self.kubeconfig}", *words],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RefusedError(done.stderr)
        return done.stdout

    def flux(self, words: list[str], stdin: str) -> str:
        match words[:2]:
            case ["install", _] | ["bootstrap", _]:
                if not self.really("get", "namespace", "flux-system", "--ignore-not-found"):
                    self.really("create", "namespace", "flux-system")
                self.source("flux-system")
            case ["create", "secret"]:
                self.really("create", "secret", "generic", words[3], "--namespace=flux-system")
            case ["create", "source"]:
                self.source(words[3])
            case ["suspend", "kustomization"]:
                patch = ("--type=merge", '--patch={"spec": {"suspend": true}}')
                named = self.really("get", STAGES, "--namespace=flux-system", "--output=name")
                for each in named.split():
                    self.really("patch", each, "--namespace=flux-system", *patch)
            case other:
                raise AssertionError(f"flux {other}")
        return ""

    def source(self, name: str) -> None:
        """What Flux reads: the folder, published as `shared/controlplane` does; charts are said to be Ready."""
        self.really("apply", "--filename=-", stdin=SOURCE % name)
        for chart in self.root.glob("**/gitrepository-*.yaml"):  # in which a chart lies
            served = (
                self.kubeconfig.parents[1]
                / "sources"
                / "flux-system"
                / chart.stem.removeprefix("gitrepository-")
            )
            served.mkdir(parents=True, exist_ok=True)
            (served / "README").write_text("a chart\n")
        if self.flux_child is None:
            text = f". {SHARED}/fleet.sh; read_folder {self.root}; publish {self.root}; stub"
            self.flux_child = subprocess.Popen(
                ["bash", "-c", text],
                env={**os.environ, "CP_HOME": str(self.kubeconfig.parents[2])},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def is_ready(self, name: str) -> bool:
        kind, _, one = name.rpartition("/")
        query = "jsonpath={.status.conditions[?(@.type=='Ready')].status}"
        said = self.really("get", kind, "--namespace=flux-system", one, f"--output={query}")
        return said == "True"

    # --- HyperPod

    def aws_sagemaker_create_cluster(self, given: dict[str, str]) -> Any:
        super().aws_sagemaker_create_cluster(given)
        for group in self.request["InstanceGroups"]:
            labels = {"sagemaker.amazonaws.com/node-health-status": "Schedulable"}
            self.nodes(group["InstanceGroupName"], group["InstanceCount"], labels)

    def aws_sagemaker_delete_cluster(self, given: dict[str, str]) -> Any:
        for group in self.request["InstanceGroups"]:
            self.controlplane("nodes.sh", "--delete", group["InstanceGroupName"])
        super().aws_sagemaker_delete_cluster(given)


STAGES = "kustomizations.kustomize.toolkit.fluxcd.io"
SOURCE = """apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: %s, namespace: flux-system}
spec: {interval: 1m, url: "https://git.example.com/fleet", ref: {branch: main}}
"""


class MotoAccount(MotoWorld):
    """With ParallelCluster: its own command asks for what moto has not (AMIs by owner, price lists), so that it is a
    stand-in, which makes the stack, the nodes and the logs."""

    def __init__(self, root: Path, cluster: str, region: str, url: str) -> None:
        super().__init__(root, cluster, region, url, root)
        self.command = Account(root)
        self.head = ""

    def pcluster(self, words: list[str], stdin: str) -> str:
        before = self.command.status
        said = self.command.pcluster(words)
        after = self.command.status
        if after and not before:
            self.made_by_pcluster()
        if before and not after:
            self.client("ec2").terminate_instances(InstanceIds=[self.head])
            self.client("cloudformation").delete_stack(StackName=self.cluster)
        return json.dumps(self.head) if "headNode.instanceId" in words else said

    def made_by_pcluster(self) -> None:
        ec2 = self.client("ec2")
        tags = [{"Key": "parallelcluster:cluster-name", "Value": self.cluster}]
        made = ec2.run_instances(
            ImageId=ec2.describe_images()["Images"][0]["ImageId"],
            MinCount=1,
            MaxCount=1,
            TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
        )
        self.head = made["Instances"][0]["InstanceId"]
        topic = {"Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {}}}}
        self.client("cloudformation").create_stack(
            StackName=self.cluster, TemplateBody=json.dumps(topic)
        )
        name = f"/aws/parallelcluster/{self.cluster}-202601010000"
        self.client("logs").create_log_group(logGroupName=name)
