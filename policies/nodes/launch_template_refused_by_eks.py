from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.cloud.plan import NodeGroupStack
from trainyard.core.launch.plan import LaunchTemplate
from trainyard.judge.model.worded import spelled
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World

_MIME = re.compile(r"(?im)^(?:mime-version|content-type)\s*:")


@rule("HLT104")
def launch_template_refused_by_eks(template: LaunchTemplate, world: World) -> Iterator[Finding]:
    """A launch template says what EKS does not take of one for a managed node group.

    The group itself says its role, its subnets and whether it is of spot instances, and its nodes do not hibernate (EKS
    API, LaunchTemplateSpecification). Instance types come from the template or from the group. Where the template names
    no image, EKS adds its own part to user data, which must be MIME multi-part, as for Amazon Linux (EKS user guide,
    launch-templates, read 2026-11). The group is not created. Nothing is said of a template that no group of the set
    uses.

    ## Fails

        Resources:
          Gpu:
            Type: AWS::EC2::LaunchTemplate
            Properties: {LaunchTemplateData: {IamInstanceProfile: {Name: nodes}}}
          Group:
            Type: AWS::EKS::Nodegroup
            Properties:
              ClusterName: base
              NodeRole: arn:aws:iam::111122223333:role/nodes
              Subnets: [subnet-0a1b2c3d4e5f60718]
              InstanceTypes: [m7i.2xlarge]
              LaunchTemplate: {Id: !Ref Gpu}

        Resources:
          Gpu:
            Type: AWS::EC2::LaunchTemplate
            Properties:
              LaunchTemplateData:
                UserData:
                  Fn::Base64: |
                    #!/bin/bash
                    sysctl -w vm.max_map_count=262144
          Group:
            Type: AWS::EKS::Nodegroup
            Properties:
              ClusterName: base
              NodeRole: arn:aws:iam::111122223333:role/nodes
              Subnets: [subnet-0a1b2c3d4e5f60718]
              InstanceTypes: [m7i.2xlarge]
              LaunchTemplate: {Id: !Ref Gpu}

    ## Passes

        Resources:
          Gpu:
            Type: AWS::EC2::LaunchTemplate
            Properties:
              LaunchTemplateData:
                UserData:
                  Fn::Base64:
                    Fn::Join:
                      - "\\n"
                      - ["MIME-Version: 1.0", "Content-Type: multipart/mixed; boundary=//", "", "--//",
                         "Content-Type: text/x-shellscript", "", "#!/bin/bash",
                         "sysctl -w vm.max_map_count=262144", "--//--"]
          Group:
            Type: AWS::EKS::Nodegroup
            Properties:
              ClusterName: base
              NodeRole: arn:aws:iam::111122223333:role/nodes
              Subnets: [subnet-0a1b2c3d4e5f60718]
              InstanceTypes: [m7i.2xlarge]
              LaunchTemplate: {Id: !Ref Gpu}
    """
    if not template.groups:
        return
    for setting in template.of_groups:
        name = spelled(template, setting.name)
        yield Finding(
            f"{template.words} has `{name}`, {_INSTEAD[setting.name]}",
            setting.at,
            label=f"EKS does not create node group `{template.groups[0]}` with it",
            help=f"remove `{name}`",
        )
    twice = [group for group in _groups(template, world) if group.instance_types]
    if template.own_types and twice:
        yield Finding(
            f"{template.words} and node group `{twice[0].logical}` both say instance types",
            template.where("instance_types"),
            label="EKS creates no group with both",
            help="keep those of the group",
        )
    for script in template.scripts:
        if (
            not template.own_image
            and template.image in _AMAZON_LINUX
            and not _MIME.search(script.text)
        ):
            yield Finding(
                f"user data of {template.words} is not MIME multi-part",
                script.at,
                label="EKS adds its part to it, and creates no group",
                help='begin with `MIME-Version: 1.0` and `Content-Type: multipart/mixed; boundary="//"`',
            )


_INSTEAD = {
    "IamInstanceProfile": "and a node group its role",
    "InstanceMarketOptions": "and a node group its capacity type",
    "HibernationOptions": "and nodes of EKS do not hibernate",
    "SubnetId": "and a node group its subnets",
}
_AMAZON_LINUX = ("al2", "al2023")


def _groups(template: LaunchTemplate, world: World) -> Iterator[NodeGroupStack]:
    for group in world.plan.of(NodeGroupStack):
        if group.logical in template.groups and group.at[:1] == template.at[:1]:
            yield group
