from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.model.values import value
from compiler.places import Route
from compiler.policy.rule import Finding, rule


@rule("ACC043", severity=Severity.WARNING, kinds=("karpenter.k8s.aws/EC2NodeClass",))
def instance_metadata_open(manifest: Manifest) -> Iterator[Finding]:
    """Pods reach the instance metadata of their node, and with it the credentials of the node's role.

    With `httpTokens: optional` (IMDSv1) one plain request to 169.254.169.254 is answered, so that any program which
    can be made to fetch a URL gives the role away; with a hop limit above 1 pods without the host's network get a
    token too. Karpenter sets `required` and 1 (Karpenter 1.14, NodeClasses, spec.metadataOptions; EKS best practices,
    security: restrict access to the instance profile). Pods have roles of their own by EKS Pod Identity.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {metadataOptions: {httpTokens: optional}}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {metadataOptions: {httpPutResponseHopLimit: 2}}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {metadataOptions: {httpTokens: required, httpPutResponseHopLimit: 1}}
    """
    options = ("spec", "metadataOptions")
    if value(manifest.body, *options, "httpTokens") == "optional":
        yield Finding(
            f"instances of `{manifest.ref.name}` answer without a token (IMDSv1)",
            Route((manifest.id, *options, "httpTokens")),
            label="the credentials of the node's role leave with one request",
            help="write `required`, or remove it: it is the default",
        )
    hops = value(manifest.body, *options, "httpPutResponseHopLimit")
    if isinstance(hops, int) and hops > 1:
        yield Finding(
            f"pods on instances of `{manifest.ref.name}` get the credentials of the node's role",
            Route((manifest.id, *options, "httpPutResponseHopLimit")),
            help="write 1, and give the pods that need it a role of their own (EKS Pod Identity)",
        )
