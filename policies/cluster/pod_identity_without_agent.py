from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import indexed, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_AGENT = "eks-pod-identity-agent"


@rule("ACC095", kinds=("eksctl.io/ClusterConfig",))
def pod_identity_without_agent(manifest: Manifest) -> Iterator[Finding]:
    """Pods get their role by Pod Identity, and the agent that hands it out is not installed.

    The credentials come from `eks-pod-identity-agent` on the pod's node (EKS user guide, pod-id-agent-setup); eksctl
    does not install it by itself, with its default add-ons or without them (eksctl v0.230.0). EKS Auto Mode has it.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        addons:
          - {name: vpc-cni, version: v1.20.4-eksbuild.2}
          - {name: aws-ebs-csi-driver, version: v1.52.0-eksbuild.1, podIdentityAssociations: [
              {serviceAccountName: ebs-csi-controller-sa, namespace: kube-system}]}

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        iam: {podIdentityAssociations: [{namespace: team-a, serviceAccountName: train,
          permissionPolicyARNs: ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]}]}

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        addons:
          - {name: eks-pod-identity-agent, version: v1.3.10-eksbuild.1}
          - {name: aws-ebs-csi-driver, version: v1.52.0-eksbuild.1, podIdentityAssociations: [
              {serviceAccountName: ebs-csi-controller-sa, namespace: kube-system}]}
    """
    body = manifest.body
    names = [addon.get("name") for _, addon in indexed(body, "addons")]
    if _AGENT in names or value_at(body, "autoModeConfig", "enabled") is True:
        return
    at = Route((manifest.id,))
    for index, addon in indexed(body, "addons"):
        applies = addon.get("useDefaultPodIdentityAssociations") is True
        if addon.get("podIdentityAssociations") or applies:
            yield _finding(f"add-on `{addon.get('name')}`", at / "addons" / index)
    for index, association in indexed(body, "iam", "podIdentityAssociations"):
        whose = f"service account `{association.get('serviceAccountName')}`"
        yield _finding(whose, at / "iam" / "podIdentityAssociations" / index)
        return
    if value_at(body, "addonsConfig", "autoApplyPodIdentityAssociations") is True:
        yield _finding("each add-on", at / "addonsConfig" / "autoApplyPodIdentityAssociations")


def _finding(whose: str, at: Route) -> Finding:
    return Finding(
        f"{whose} gets its role by Pod Identity, and `{_AGENT}` is not among the add-ons",
        at,
        label="its pods get no credentials",
        help=f"add `{_AGENT}` to `addons`",
    )
