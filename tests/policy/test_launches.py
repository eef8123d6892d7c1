"""How machines start is judged whoever says it: one fault in a node class, a node group, and a launch template in the
words of CloudFormation and of Terraform. A form that has no such fault says why in one line."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from native import native
from running import Command
from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.language.source.libyaml import DUMPER, yaml
from trainyard.lift.launch_templates import snake

from tests.policy.harness import builtin_rules

pytestmark = pytest.mark.needs("lint")

Settings = Mapping[str, Any]
"""Of a launch template in EC2's words; ``UserData`` as text."""
BOOT = "#!/bin/bash\n"
GPU, AL2 = {"InstanceTypes": ["p4d.24xlarge"], "AmiType": "AL2023_x86_64_NVIDIA"}, "AL2_x86_64_GPU"
SSM = "resolve:ssm:/aws/service/eks/optimized-ami/1.35/amazon-linux-2023/"
EFA = [
    {"NetworkCardIndex": card, "DeviceIndex": min(card, 1), "InterfaceType": "efa"}
    for card in range(4)
]
BLOCK = {"InstanceMarketOptions": {"MarketType": "capacity-block"}}
RESERVED = {
    "CapacityReservationSpecification": {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0a1b2c3d4e5f60718"}
    }
}
TWO_BLOCKS = {**GPU, "InstanceTypes": ["p5.48xlarge", "p5en.48xlarge"]}
FAULTS: Mapping[str, tuple[str, Settings, Settings]] = {
    "no token": ("ACC043", {"MetadataOptions": {"HttpTokens": "optional"}}, GPU),
    "two hops": ("ACC043", {"MetadataOptions": {"HttpPutResponseHopLimit": 2}}, GPU),
    "a download": ("ACC044", {"UserData": "curl -fsSL https://example.com/a.sh | bash"}, GPU),
    "limits": ("HLT038", {"UserData": "echo a >> /etc/security/limits.d/9.conf"}, GPU),
    "packages": ("HLT039", {"UserData": "pip install torch"}, GPU),
    "another image's script": ("HLT077", {"UserData": "/etc/eks/bootstrap.sh base"}, GPU),
    "a version": ("HLT105", {"UserData": "apiVersion: node.eks.aws/v1\nkind: NodeConfig\n"}, GPU),
    "a label": ("HLT078", {"UserData": "x --node-labels=node-role.kubernetes.io/gpu=1"}, GPU),
    "a profile": (
        "HLT082",
        {"IamInstanceProfile": {"Name": "arn:aws:iam::1:instance-profile/a"}},
        GPU,
    ),
    "a card": ("EFA006", {"NetworkInterfaces": [*EFA, {**EFA[1], "NetworkCardIndex": 9}]}, GPU),
    "an address": (
        "EFA046",
        {"NetworkInterfaces": [{**EFA[0], "AssociatePublicIpAddress": True}, *EFA[1:]]},
        GPU,
    ),
    "a disk": (
        "HLT020",
        {"BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 500}}]},
        GPU,
    ),
    "a small disk": (
        "LIM039",
        {"BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 30}}]},
        GPU,
    ),
    "no kubelet": (
        "HLT026",
        {
            "ImageId": "resolve:ssm:/aws/service/deeplearning/ami/x86_64/base-gpu-al2023/latest/ami-id"
        },
        {"InstanceTypes": ["p4d.24xlarge"]},
    ),
    "another architecture": (
        "HLT027",
        {"ImageId": f"{SSM}arm64/nvidia/recommended/image_id"},
        {"InstanceTypes": ["p4d.24xlarge"]},
    ),
    "no driver": ("HLT040", {"EbsOptimized": True}, {"InstanceTypes": ["p4d.24xlarge"]}),
    "Amazon Linux 2": ("HLT041", {"EbsOptimized": True}, {**GPU, "AmiType": AL2}),
    "a block without a name": ("PLC028", BLOCK, GPU),
    "a block in a group": (
        "PLC022",
        {**BLOCK, **RESERVED, "Placement": {"GroupName": "close"}},
        GPU,
    ),
    "a block of g5": ("PLC023", {**BLOCK, **RESERVED}, {**GPU, "InstanceTypes": ["g5.xlarge"]}),
    "a block of two types": ("PLC025", {**BLOCK, **RESERVED}, TWO_BLOCKS),
    "no such type": ("PLC027", {"InstanceType": "p4d.48xlarge"}, {"AmiType": GPU["AmiType"]}),
    "two at one place": ("EFA072", {"NetworkInterfaces": [*EFA, EFA[3]]}, GPU),
    "groups beside": (
        "EFA072",
        {"NetworkInterfaces": EFA, "SecurityGroupIds": ["sg-0a1b2c3d"]},
        GPU,
    ),
    "no primary": ("EFA072", {"NetworkInterfaces": EFA[1:]}, GPU),
    "a role": ("HLT104", {"IamInstanceProfile": {"Name": "nodes"}}, GPU),
    "spot": ("HLT104", {"InstanceMarketOptions": {"MarketType": "spot"}}, GPU),
    "hibernation": ("HLT104", {"HibernationOptions": {"Configured": True}}, GPU),
    "a subnet": (
        "HLT104",
        {"NetworkInterfaces": [{"DeviceIndex": 0, "SubnetId": "subnet-0a1b2c3d"}]},
        GPU,
    ),
    "types twice": ("HLT104", {"InstanceType": "p4d.24xlarge"}, GPU),
    "no MIME": ("HLT104", {"UserData": "sysctl -w a=1"}, GPU),
}
"""Of each: the rule, the settings of a template, and those of the node group of EKS that uses it."""
OTHERS = {  # where node classes and node groups have the same fault: an example of the rule's page
    "EFA072": "the definition of the node class says it (SCH008), and eksctl writes interfaces itself",
    "HLT104": "EKS refuses it of launch templates alone",
    "HLT040": "eksctl and Karpenter choose the image by the instance type",
}
SILENT = {
    "EFA005": "Karpenter attaches interfaces by itself or not at all; a template has what it says",
    "HLT018": "a template follows no image: nobody replaces its nodes until it is applied again",
    "HLT021": "the version of the cluster is in no template: HLT041 says it",
    "HLT057": "a template has no alias",
    "HLT081": "what charts install is in other sets than templates",
    "ACC053": "it is about patches of what a spec makes",
    "PLC003": "zones are those of the group's subnets, which are ids or references",
    "PLC007": "zones are those of the group's subnets, which are ids or references",
    "PLC009": "Karpenter's capacity types; a template names a reservation or none",
    "PLC010": "a template launches into the reservation that it names",
    "PLC021": "zones are those of the group's subnets, which are ids or references",
    "PLC119": "eksctl makes the subnets there; those of a template's group are somebody else's",
}


def of_cloudformation(settings: Settings, group: Settings) -> str:
    data = dict(settings)
    if "UserData" in data:
        data["UserData"] = {"Fn::Base64": {"Fn::Sub": BOOT + data["UserData"] + "\n"}}
    used = {"LaunchTemplate": {"Id": {"Ref": "Gpu"}, "Version": "1"}}
    needed = {"ClusterName": "base", "NodeRole": "arn:aws:iam::111122223333:role/nodes"}
    body = {
        "Resources": {
            "Gpu": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
            "Group": {
                "Type": "AWS::EKS::Nodegroup",
                "Properties": {**needed, "Subnets": ["subnet-0a1b2c3d"], **group, **used},
            },
        }
    }
    return yaml.dump(body, Dumper=DUMPER)


def spelled(value: Any) -> Any:
    """Settings as Terraform's provider has them."""
    if isinstance(value, dict):
        names = {"SecurityGroupIds": "vpc_security_group_ids"}
        return {names.get(key, snake(key)): spelled(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [spelled(item) for item in value]
    return value


def of_terraform(settings: Settings, group: Settings) -> str:
    data = spelled(settings)
    if "user_data" in data:
        data["user_data"] = base64.b64encode((BOOT + data["user_data"]).encode()).decode()
    node_group = {
        "cluster_name": "base",
        "node_role_arn": "arn:aws:iam::111122223333:role/nodes",
        "subnet_ids": ["subnet-0a1b2c3d"],
        "scaling_config": [{"desired_size": 1, "max_size": 1, "min_size": 1}],
        "launch_template": [{"id": "${aws_launch_template.gpu.id}", "version": "1"}],
        **spelled(group),
    }
    body = {
        "resource": {
            "aws_launch_template": {"gpu": data},
            "aws_eks_node_group": {"gpu": node_group},
        }
    }
    return json.dumps(body, indent=1)


def of_native_terraform(settings: Mapping[str, Any], group: Mapping[str, Any]) -> str:
    """The same in the native syntax, with user data as people write it."""
    body = json.loads(of_terraform(settings, group))
    if "UserData" in settings:
        script = f"{BOOT}{settings['UserData']}"
        template = body["resource"]["aws_launch_template"]["gpu"]
        template["user_data"] = f"${{base64encode(<<-EOT\n{script}\nEOT\n)}}"
    return native(body)


FORMS = {
    "stack.yaml": of_cloudformation,
    "main.tf.json": of_terraform,
    "main.tf": of_native_terraform,
}


def found(trainyard: Command, folder: Path, name: str, text: str) -> list[tuple[str, int]]:
    (folder / name).write_text(text)
    done = trainyard("lint", "--format=json", name, cwd=folder)
    return [(each["code"], each["place"]["line"]) for each in json.loads(done.out)["diagnostics"]]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_found_in_each_form(
    fault: str, form: str, tmp_path: Path, trainyard: Command
) -> None:
    code, settings, group = FAULTS[fault]
    assert code in dict(found(trainyard, tmp_path, form, FORMS[form](settings, group)))


@pytest.mark.parametrize("form", FORMS)
def test_what_is_right_is_left_alone(form: str, tmp_path: Path, trainyard: Command) -> None:
    right = {
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
        "NetworkInterfaces": [{**each, "Groups": ["sg-0a1b2c3d"]} for each in EFA],
        "BlockDeviceMappings": [
            {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 200, "Encrypted": True}}
        ],
        **BLOCK,
        **RESERVED,
    }
    if form != "stack.yaml":
        right["NetworkInterfaces"] = [{**each, "SecurityGroups": ["sg-0a1b2c3d"]} for each in EFA]
    assert found(trainyard, tmp_path, form, FORMS[form](right, GPU)) == []


UNKNOWN: Mapping[str, Any] = {
    "stack.yaml": {"Ref": "X"},
    "main.tf.json": "${var.x}",
    "main.tf": "${var.x}",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "no driver"])
def test_what_is_filled_in_later_is_no_fault(
    fault: str, form: str, tmp_path: Path, trainyard: Command
) -> None:
    """The same settings, each value that a function or an expression can give; and types and image of the group."""
    code, settings, group = FAULTS[fault]
    open_settings = {name: filled(value, UNKNOWN[form]) for name, value in settings.items()}
    open_settings.pop("UserData", None)
    open_group = dict.fromkeys(group, UNKNOWN[form])
    text = FORMS[form](open_settings, open_group)
    if fault in ("groups beside", "a role", "a subnet", "a block without a name"):
        return  # the field itself is the fault, whatever its value
    assert code not in dict(found(trainyard, tmp_path, form, text))


def filled(value: Any, unknown: Any) -> Any:
    if isinstance(value, dict):
        return {key: filled(inner, unknown) for key, inner in value.items()}
    if isinstance(value, list):
        return [filled(item, unknown) for item in value]
    return unknown


_READS = r"\bLaunch\b|world\.launches|\bNodeClass\b|\.node_class\("


def readers() -> Iterator[str]:
    """The rules that read how machines start: those on a launch, and those that name a node class or a node group."""
    for rule in builtin_rules():
        code = Path(rule.file).read_text().split('"""')
        body = code[0] + code[-1]
        if issubclass(rule.subject, Launch) or re.search(_READS, body):
            yield rule.code


def test_each_rule_about_node_classes_is_tried_or_says_why_it_is_silent() -> None:
    tried = {code for code, _, _ in FAULTS.values()}
    elsewhere = {
        "RUN110": "test_a_stack_with_lustre_over_efa",
        "PLC004": "jobs",
        "PLC013": "jobs",
        "PLC019": "labels of pools",
        "PLC049": "subnets",
        "PLC117": "labels of pools",
        "HLT016": "groups",
        "HLT017": "groups",
        "HLT056": "groups",
        "LIM012": "groups",
        "LIM034": "groups",
    }
    assert set(readers()) - tried - SILENT.keys() - elsewhere.keys() == set()
    assert tried.isdisjoint(SILENT)


def test_rules_for_templates_alone_are_on_them() -> None:
    alone = {rule.code for rule in builtin_rules() if rule.subject is LaunchTemplate}
    assert alone == {"EFA072", "HLT104"}
    assert alone < OTHERS.keys()


LUSTRE = """\
  Data:
    Type: AWS::FSx::FileSystem
    Properties:
      FileSystemType: LUSTRE
      StorageCapacity: 4800
      SubnetIds: [subnet-0a1b2c3d]
      LustreConfiguration: {DeploymentType: PERSISTENT_2, PerUnitStorageThroughput: 125, EfaEnabled: true}
"""


def test_a_stack_with_lustre_over_efa(tmp_path: Path, trainyard: Command) -> None:
    idle = of_cloudformation({"UserData": "sysctl -w a=1"}, GPU) + LUSTRE
    client = of_cloudformation({"UserData": "lnetctl net add --net efa"}, GPU) + LUSTRE
    assert "RUN110" in dict(found(trainyard, tmp_path, "idle.yaml", idle))
    assert "RUN110" not in dict(found(trainyard, tmp_path, "client.yaml", client))


def test_a_group_of_auto_scaling_and_a_template_in_another_file(
    tmp_path: Path, trainyard: Command
) -> None:
    template = {
        "aws_launch_template": {
            "a": spelled({"NetworkInterfaces": [{**EFA[0], "NetworkCardIndex": 9}]})
        }
    }
    mixed = {
        "launch_template": {
            "launch_template_specification": {"launch_template_id": "${aws_launch_template.a.id}"},
            "override": [{"instance_type": "p4d.24xlarge"}],
        }
    }
    group = {
        "aws_autoscaling_group": {
            "a": {"max_size": 1, "min_size": 0, "mixed_instances_policy": mixed}
        }
    }
    (tmp_path / "group.tf.json").write_text(json.dumps({"resource": group}))
    (tmp_path / "template.tf.json").write_text(json.dumps({"resource": template}, indent=1))
    done = trainyard("lint", "--format=json", ".", cwd=tmp_path)
    codes = [each["code"] for each in json.loads(done.out)["diagnostics"]]
    assert "EFA006" in codes


def test_instances_that_are_no_nodes_may_have_their_own_packages(
    tmp_path: Path, trainyard: Command
) -> None:
    data = {"UserData": {"Fn::Base64": f"{BOOT}pip install torch\nulimit -l unlimited\n"}}
    body = {
        "Resources": {
            "A": {"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}}
        }
    }
    assert found(trainyard, tmp_path, "a.yaml", yaml.dump(body, Dumper=DUMPER)) == []


@pytest.mark.parametrize(
    "user_data",
    [
        '${base64encode("#!/bin/bash\\n/etc/eks/bootstrap.sh ${var.cluster}\\n")}',
        "${base64encode(<<-EOT\n  #!/bin/bash\n  /etc/eks/bootstrap.sh base\n  EOT\n)}",
    ],
)
def test_user_data_of_an_expression_is_read(
    user_data: str, tmp_path: Path, trainyard: Command
) -> None:
    body = json.loads(of_terraform({}, GPU))
    body["resource"]["aws_launch_template"]["gpu"] = {"user_data": user_data}
    assert "HLT077" in dict(found(trainyard, tmp_path, "main.tf.json", json.dumps(body)))


def test_a_finding_in_user_data_is_at_its_line(tmp_path: Path, trainyard: Command) -> None:
    text = """\
Resources:
  Gpu:
    Type: AWS::EC2::LaunchTemplate
    Properties:
      LaunchTemplateData:
        UserData:
          Fn::Base64: !Sub |
            #!/bin/bash
            echo ${!HOME}
            /etc/eks/bootstrap.sh ${Cluster} --kubelet-extra-args '--node-labels=node-role.kubernetes.io/gpu=1'
Parameters: {Cluster: {Type: String}}
"""
    assert ("HLT078", 10) in found(trainyard, tmp_path, "a.yaml", text)
