from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import FileSystemStack
from trainyard.core.launch.plan import Launch
from trainyard.eks.nodes.plan import AutoNodeClass
from trainyard.judge.model.storage import FSX
from trainyard.judge.model.values import mapping
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.plan import Plan

_CONFIGURES = ("--net efa", "configure-efa-fsx-lustre-client", "FSxLustreEFAClient")


@rule("RUN110", severity=Severity.WARNING, alone=True)
def lustre_efa_without_clients(plan: Plan, world: World) -> Iterator[Finding]:
    """A file system of FSx for Lustre has EFA, and no node is made its client over EFA.

    A node talks to FSx over TCP until LNet has EFA interfaces on it: the tools of Lustre, the module `kefalnd`, and
    `lnetctl net add --net efa` for each interface (EKS user guide, fsx-csi-tuning-efa, commit 1527dee9), or AWS' script
    `configure-efa-fsx-lustre-client`. The EKS optimized images have none of it set up. A file system with EFA is larger
    at the least, and of what is paid for each node reaches a part. Nodes of an image of one's own are not looked into.

    ## Fails

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: PERSISTENT_2, fileSystemTypeVersion: "2.15",
          perUnitStorageThroughput: "250", efaEnabled: "true", metadataConfigurationMode: AUTOMATIC}
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {amiSelectorTerms: [{alias: al2023@v20260714}]}

    ## Passes

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: PERSISTENT_2, fileSystemTypeVersion: "2.15",
          perUnitStorageThroughput: "250", efaEnabled: "true", metadataConfigurationMode: AUTOMATIC}
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec:
          amiSelectorTerms: [{alias: al2023@v20260714}]
          userData: |
            #!/bin/bash
            lnetctl net add --net efa --if rdmap0 --peer-credits 32

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: scratch}
        provisioner: scratch.example.com
        parameters: {efaEnabled: "true"}
        ---
        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        metadata: {name: gpu}
        spec: {amiSelectorTerms: [{alias: al2023@v20260714}]}
    """
    nodes = [each for each in world.launches if each.for_nodes and not _boots_by_itself(each)]
    for title, at in _with_efa(plan, world):
        own = [each for each in nodes if each.at[:1] == at[:1]] or nodes
        if not own or any(map(_may_be_client, own)):
            continue
        yield Finding(
            f"{title} has EFA, and no node is made its client over EFA",
            at,
            label="nodes talk to it over TCP",
            help="set up LNet in the nodes' user data (`lnetctl net add --net efa`), or turn EFA off",
        )


def _with_efa(plan: Plan, world: World) -> Iterator[tuple[str, Route]]:
    """The file systems with EFA, and classes that make some: what each is called, and its place."""
    for stack in plan.of(FileSystemStack):
        if stack.efa:
            yield f"file system `{stack.logical}`", stack.where("efa")
    for manifest in world.manifests:
        is_class = manifest.ref.kind == "StorageClass"
        if not is_class or manifest.body.get("provisioner") != FSX:
            continue
        if str(mapping(manifest.body, "parameters").get("efaEnabled")) == "true":
            at = Route((manifest.id, "parameters", "efaEnabled"))
            yield f"what storage class `{manifest.ref.name}` makes", at


def _boots_by_itself(launch: Launch) -> bool:
    """Whether nodes run no scripts of one's own."""
    return isinstance(launch, AutoNodeClass)


def _may_be_client(launch: Launch) -> bool:
    """Whether a script of its nodes sets up LNet, or their image may."""
    if launch.own_image or "scripts" in launch.unread:
        return True
    return any(word in script.text for script in launch.scripts for word in _CONFIGURES)
