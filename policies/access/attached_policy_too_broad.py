from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.managed_policies import attached, broad
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.output.manifest import Manifest


@rule("ACC021", severity=Severity.WARNING, kinds=("eksctl.io/ClusterConfig",))
def attached_policy_too_broad(manifest: Manifest) -> Iterator[Finding]:
    """eksctl attaches a managed policy of AWS that allows everything, or everything of a service.

    To nodes, service accounts, pod identities and add-ons alike: whoever gets into such a pod has the rights of its
    role (EKS best practices, identity and access management). A `…FullAccess` is a note: it may delete what it is only
    to read. AWS itself has the FSx CSI driver take `AmazonFSxFullAccess` (EKS user guide, fsx-csi). Roles of templates
    are ACC020.

    ## Fails

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        iam:
          withOIDC: true
          serviceAccounts: [{metadata: {name: trainer, namespace: team-a},
            attachPolicyARNs: ["arn:aws:iam::aws:policy/AmazonS3FullAccess"]}]

    ## Passes

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        iam:
          withOIDC: true
          serviceAccounts: [{metadata: {name: trainer, namespace: team-a},
            attachPolicyARNs: ["arn:aws:iam::aws:policy/AmazonS3ReadOnlyAccess"]}]
    """
    for at, arn in attached(manifest):
        policy = broad(arn)
        if policy is not None:
            yield Finding(
                f"cluster `{manifest.ref.name}` attaches `{policy.name}`",
                at,
                label=policy.what,
                help="write a policy with the actions and resources that are used",
                severity=policy.severity,
            )
