from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.manifest import Manifest
from compiler.model.user_data import KINDS, BootScript, boot_scripts
from compiler.policy.rule import Finding, rule

_SCRIPT = re.compile(r"(?:/etc/eks/)?\bbootstrap\.sh\b")
_NODE_CONFIG = re.compile(r"node\.eks\.aws|\bnodeadm\b|\bkind:\s*NodeConfig\b")
_WITH_SCRIPT = ("al2", "custom")
"""Families with `/etc/eks/bootstrap.sh`, and any image. Of others the reader knows none with it."""
_WITH_NODEADM = ("al2023", "custom")
_OURS = re.compile(
    r"(?:>{1,2}\s*|\btee\s+(?:-a\s+)?)\S*bootstrap\.sh|\b(?:test|\[)\s+-[efx]\s+\S*bootstrap\.sh"
)


@rule("HLT077", kinds=KINDS)
def user_data_of_other_image(manifest: Manifest) -> Iterator[Finding]:
    """The user data of nodes starts them as another image does.

    Amazon Linux 2 joins a cluster by `/etc/eks/bootstrap.sh`. Amazon Linux 2023 has no such script: nodeadm reads a
    NodeConfig (awslabs/amazon-eks-ami, nodeadm; its issues 1701, 1885 and 2426), so a call fails and an edit of the
    file does nothing. Bottlerocket runs no shell at all, and takes settings in TOML. A NodeConfig is read by nodeadm
    alone, which Amazon Linux 2 and Bottlerocket do not have.

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            #!/bin/bash
            /etc/eks/bootstrap.sh train --kubelet-extra-args '--max-pods=110'

        apiVersion: eksctl.io/v1alpha5
        kind: ClusterConfig
        metadata: {name: a, region: us-west-2, version: "1.35"}
        autoModeConfig: {enabled: false}
        managedNodeGroups:
          - {name: gpu, instanceType: p4d.24xlarge, nodeRepairConfig: {enabled: true},
             preBootstrapCommands: ['sed -i "s/^exec/export X=1; exec/" /etc/eks/bootstrap.sh']}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          amiSelectorTerms: [{alias: bottlerocket@v1.53.0}]
          userData: |
            apiVersion: node.eks.aws/v1alpha1
            kind: NodeConfig
            spec: {kubelet: {config: {maxPods: 110}}}

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            # /etc/eks/bootstrap.sh was that of Amazon Linux 2
            apiVersion: node.eks.aws/v1alpha1
            kind: NodeConfig
            spec: {kubelet: {config: {maxPods: 110}}}

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          amiSelectorTerms: [{alias: al2@v20260318}]
          userData: |
            #!/bin/bash
            sed -i "s/^exec/export X=1; exec/" /etc/eks/bootstrap.sh
    """
    for script in boot_scripts(manifest):
        family = script.family
        if family is None or family.alias.startswith(("windows", "ubuntu")):
            continue
        if family.alias not in _WITH_SCRIPT:
            yield from _calls(script, family.title)
        if family.alias not in _WITH_NODEADM:
            yield from _configures(script, family.title)


def _calls(script: BootScript, image: str) -> Iterator[Finding]:
    for offset, line in script.commands():
        if _SCRIPT.search(line) and not _OURS.search(line):
            yield Finding(
                f"{script.title} uses `bootstrap.sh`, and {image} has no such script",
                script.line_at(offset),
                label="the node never joins as it is meant to",
                help=_help(image),
            )
            return


def _configures(script: BootScript, image: str) -> Iterator[Finding]:
    for offset, line in script.commands():
        if _NODE_CONFIG.search(line):
            yield Finding(
                f"{script.title} has a NodeConfig, and {image} has no nodeadm that reads it",
                script.line_at(offset),
                label="it has no effect",
                help="write `kubelet` of the node class, or the settings of that image",
            )
            return


def _help(image: str) -> str:
    if image == "Bottlerocket":
        return (
            "write settings in TOML, like `[settings.kubernetes]`, or `kubelet` of the node class"
        )
    return "remove it, and write a NodeConfig (node.eks.aws/v1alpha1) for nodeadm, or `kubelet` of the node class"
