from __future__ import annotations

from collections.abc import Iterator

from compiler.core.cloud.plan import FileSystemStack
from compiler.diagnostics import Severity
from compiler.manifest import Manifest
from compiler.model.storage import FSX
from compiler.model.user_data import KINDS, boot_scripts
from compiler.model.values import items, mapping, value
from compiler.places import Route
from compiler.plan import Plan
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World

_CONFIGURES = ("--net efa", "configure-efa-fsx-lustre-client", "FSxLustreEFAClient")
_OWN_IMAGE = ("ami", "launchTemplate")


@rule("RUN110", severity=Severity.WARNING)
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
    of_nodes = [each for each in world.manifests if _has_nodes(each)]
    if not of_nodes or any(_may_be_client(each) for each in of_nodes):
        return
    for title, at in _with_efa(plan, world):
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


def _has_nodes(manifest: Manifest) -> bool:
    """Whether it describes nodes that run scripts."""
    kind = f"{manifest.ref.api_version.partition('/')[0]}/{manifest.ref.kind}"
    if kind not in KINDS:
        return False
    groups = [*items(manifest.body, "managedNodeGroups"), *items(manifest.body, "nodeGroups")]
    return manifest.ref.kind == "EC2NodeClass" or bool(groups)


def _may_be_client(manifest: Manifest) -> bool:
    """Whether a script of its nodes sets up LNet, or their image may."""
    for script in boot_scripts(manifest):
        if any(word in script.text for word in _CONFIGURES):
            return True
    if manifest.ref.kind == "EC2NodeClass":
        terms = value(manifest.body, "spec", "amiSelectorTerms")
        if not isinstance(terms, list):
            return True
        return not all(isinstance(term, dict) and "alias" in term for term in terms)
    groups = [*items(manifest.body, "managedNodeGroups"), *items(manifest.body, "nodeGroups")]
    return any(key in group for group in groups for key in _OWN_IMAGE)
