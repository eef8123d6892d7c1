from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.managed_policies import attached, missing
from trainyard.judge.policy.rule import Finding, rule
from trainyard.output.manifest import Manifest


@rule("ACC024", kinds=("eksctl.io/ClusterConfig",))
def attached_policy_unknown(manifest: Manifest) -> Iterator[Finding]:
    """eksctl attaches a managed policy of AWS whose ARN does not exist.

    `eksctl create cluster` then fails after the control plane is made, some twenty minutes in. The path is part of
    the ARN: `AmazonEBSCSIDriverPolicy` lies below `service-role/`, `AmazonEBSCSIDriverPolicyV2` does not (AWS Managed
    Policy Reference, 2026-10). A name that is in no list of AWS is a warning, since it may be newer than ours. Roles of
    templates are ACC023.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        addons:
          - {name: eks-pod-identity-agent, version: v1.3.10-eksbuild.1}
          - name: aws-ebs-csi-driver
            version: v1.63.1-eksbuild.1
            podIdentityAssociations: [{namespace: kube-system, serviceAccountName: ebs-csi-controller-sa,
              permissionPolicyARNs: ["arn:aws:iam::aws:policy/service-role/AmazonEBSCSIDriverPolicyV2"]}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        addons:
          - {name: eks-pod-identity-agent, version: v1.3.10-eksbuild.1}
          - name: aws-ebs-csi-driver
            version: v1.63.1-eksbuild.1
            podIdentityAssociations: [{namespace: kube-system, serviceAccountName: ebs-csi-controller-sa,
              permissionPolicyARNs: ["arn:aws:iam::aws:policy/AmazonEBSCSIDriverPolicyV2"]}]
    """
    for at, arn in attached(manifest):
        fault = missing(arn)
        if fault is not None:
            yield Finding(
                f"cluster `{manifest.ref.name}` attaches policy `{arn}`, which does not exist",
                at,
                label=fault.what,
                help=f"write {fault.instead}",
                severity=fault.severity,
            )
