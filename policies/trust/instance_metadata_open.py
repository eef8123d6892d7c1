from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.launch.plan import Launch, LaunchTemplate
from trainyard.eks.nodes.plan import NodeGroup
from trainyard.judge.model.worded import setting
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("ACC043", severity=Severity.WARNING)
def instance_metadata_open(launch: Launch) -> Iterator[Finding]:
    """Pods reach the instance metadata of their node, and with it the credentials of the node's role.

    With `httpTokens: optional` (IMDSv1) one plain request to 169.254.169.254 is answered, so that any program which
    can be made to fetch a URL gives the role away; with a hop limit above 1 pods without the host's network get a
    token too. Karpenter sets `required` and 1 (Karpenter 1.14, NodeClasses, spec.metadataOptions; EKS best practices,
    security: restrict access to the instance profile), and eksctl `disableIMDSv1` (v0.230.0). Pods have roles of their
    own by EKS Pod Identity. Of a launch template the hops are judged if its instances become nodes.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {metadataOptions: {httpTokens: optional}}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {metadataOptions: {httpPutResponseHopLimit: 2}}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: gpu, instanceType: p4d.24xlarge, disableIMDSv1: false, nodeRepairConfig: {enabled: true}}

        Resources:
          Gpu:
            Type: AWS::EC2::LaunchTemplate
            Properties: {LaunchTemplateData: {MetadataOptions: {HttpTokens: optional}}}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {metadataOptions: {httpTokens: required, httpPutResponseHopLimit: 1}}
    """
    if launch.http_tokens == "optional":
        yield Finding(
            f"instances of {launch.words} answer without a token (IMDSv1)",
            launch.where("http_tokens"),
            label="the credentials of the node's role leave with one request",
            help=f"write {_required(launch)}",
        )
    hops = launch.metadata_hops
    if launch.for_nodes and hops is not None and hops > 1:
        yield Finding(
            f"pods on instances of {launch.words} get the credentials of the node's role",
            launch.where("metadata_hops"),
            help="write 1, and give the pods that need it a role of their own (EKS Pod Identity)",
        )


def _required(launch: Launch) -> str:
    if isinstance(launch, LaunchTemplate):
        return setting(launch, "HttpTokens", "required")
    field = "disableIMDSv1: true" if isinstance(launch, NodeGroup) else "required"
    return f"`{field}`, or remove it: it is the default"
