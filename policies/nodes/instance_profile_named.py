from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.manifest import Manifest, placeholder
from compiler.model.values import value
from compiler.policy.rule import Finding, rule
from compiler.source import Route


@rule("HLT042", severity=Severity.NOTE, kinds=("karpenter.k8s.aws/EC2NodeClass",))
def instance_profile_named(manifest: Manifest) -> Iterator[Finding]:
    """A node class names an instance profile, which somebody else has to create.

    Karpenter creates the profile of a `role` by itself; one that is named by `instanceProfile` has to be in the
    account, or no instance is launched (Karpenter 1.14, NodeClasses). In a private cluster without a way to IAM that
    is meant: turn the rule off there.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {role: null, instanceProfile: EFAInstanceProfile}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec: {role: KarpenterNodeRole-base}
    """
    profile = value(manifest.body, "spec", "instanceProfile")
    if isinstance(profile, str) and not placeholder(profile):
        yield Finding(
            f"node class `{manifest.ref.name}` takes instance profile `{profile}`, which Karpenter does not create",
            Route((manifest.id, "spec", "instanceProfile")),
            label="without it no instance is launched",
            help="write `role:`, of which Karpenter creates one",
        )
