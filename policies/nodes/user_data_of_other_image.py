from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.launch.plan import BootScript, Launch, LaunchTemplate
from trainyard.judge.policy.rule import Finding, rule

_SCRIPT = re.compile(r"(?:/etc/eks/)?\bbootstrap\.sh\b")
_NODE_CONFIG = re.compile(r"node\.eks\.aws|\bnodeadm\b|\bkind:\s*NodeConfig\b")
_TOML = re.compile(r"\s*\[settings[.\]]")
_PROGRAM = re.compile(r"#!|MIME-Version:|Content-Type:\s*multipart/", re.IGNORECASE)
_BOTTLEROCKET = "bottlerocket"
_WITH_SCRIPT = ("al2", "custom")
"""Families with `/etc/eks/bootstrap.sh`, and any image. Of others the reader knows none with it."""
_WITH_NODEADM = ("al2023", "custom")
_OURS = re.compile(
    r"(?:>{1,2}\s*|\btee\s+(?:-a\s+)?)\S*bootstrap\.sh|\b(?:test|\[)\s+-[efx]\s+\S*bootstrap\.sh"
)


@rule("HLT077")
def user_data_of_other_image(launch: Launch) -> Iterator[Finding]:
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

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          userData: |
            [settings.kubernetes]
            max-pods = 110

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          amiSelectorTerms: [{alias: bottlerocket@v1.53.0}]
          userData: |
            #!/bin/bash
            sysctl -w vm.max_map_count=262144

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
    family = launch.family
    if family is None or family.alias.startswith(("windows", "ubuntu")):
        return
    for script in launch.scripts:
        if family.alias not in _WITH_SCRIPT:
            yield from _calls(script, launch, family.title)
        if family.alias not in _WITH_NODEADM:
            yield from _configures(script, launch, family.title)
        if family.alias == _BOTTLEROCKET:
            yield from _begins(script, launch)
        elif family.alias != "custom":
            yield from _sets(script, launch, family.title)


def _calls(script: BootScript, launch: Launch, image: str) -> Iterator[Finding]:
    for offset, line in script.commands():
        if _SCRIPT.search(line) and not _OURS.search(line):
            yield Finding(
                f"{launch.words} uses `bootstrap.sh`, and {image} has no such script",
                script.line_at(offset),
                label="the node never joins as it is meant to",
                help=_help(launch, image),
            )
            return


def _configures(script: BootScript, launch: Launch, image: str) -> Iterator[Finding]:
    for offset, line in script.commands():
        if _NODE_CONFIG.search(line):
            yield Finding(
                f"{launch.words} has a NodeConfig, and {image} has no nodeadm that reads it",
                script.line_at(offset),
                label="it has no effect",
                help=f"write {_or_kubelet(launch, 'the settings of that image')}",
            )
            return


def _begins(script: BootScript, launch: Launch) -> Iterator[Finding]:
    """A script or parts of MIME, where settings in TOML are read."""
    if _PROGRAM.match(script.text.lstrip()):
        yield Finding(
            f"{launch.words} has a script, and Bottlerocket reads settings in TOML",
            script.line_at(0),
            label="the node never joins as it is meant to",
            help=_help(launch, "Bottlerocket"),
        )


def _sets(script: BootScript, launch: Launch, image: str) -> Iterator[Finding]:
    for offset, line in script.commands():
        if _TOML.match(line):
            yield Finding(
                f"{launch.words} has settings of Bottlerocket, and {image} does not read them",
                script.line_at(offset),
                label="they have no effect",
                help=f"write {_or_kubelet(launch, 'what that image reads')}",
            )
            return


def _help(launch: Launch, image: str) -> str:
    if image == "Bottlerocket":
        settings = "settings in TOML, like `[settings.kubernetes]`"
        return f"write {_or_kubelet(launch, settings)}"
    config = "a NodeConfig (node.eks.aws/v1alpha1) for nodeadm"
    return f"remove it, and write {_or_kubelet(launch, config)}"


def _or_kubelet(launch: Launch, what: str) -> str:
    """What to write, or the field that a node class has for it."""
    return what if isinstance(launch, LaunchTemplate) else f"{what}, or `kubelet` of the node class"
