from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.eks.flux.plan import HelmRelease
from trainyard.judge.model.storage import FSX
from trainyard.judge.model.values import mapping, mappings_at, value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan


@rule("RUN083", severity=Severity.WARNING)
def direct_storage_without_efa(plan: Plan, world: World) -> Iterator[Finding]:
    """GPUDirect Storage is installed, and the file systems of a storage class do not speak EFA.

    FSx for Lustre moves data past the CPU only over EFA: it takes PERSISTENT_2 with metadata configuration and
    `efaEnabled`, and clients with EFA and NVIDIA GPUs (FSx for Lustre user guide, efa-file-systems). Over TCP cuFile
    falls back to copies through the host (NVIDIA, GPUDirect Storage, compatibility mode), and nothing is faster.

    ## Fails

        apiVersion: helm.toolkit.fluxcd.io/v2
        kind: HelmRelease
        metadata: {name: gpu-operator, namespace: gpu-operator}
        spec: {interval: 1h, chart: {spec: {chart: gpu-operator, version: v25.10.1,
          sourceRef: {kind: HelmRepository, name: nvidia}}}, values: {gds: {enabled: true}}}
        ---
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: "2.15"}

        apiVersion: nvidia.com/v1
        kind: ClusterPolicy
        metadata: {name: cluster-policy}
        spec: {gds: {enabled: true}}
        ---
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: "2.15"}

        apiVersion: argoproj.io/v1alpha1
        kind: Application
        metadata: {name: gpu-operator, namespace: argocd}
        spec:
          project: default
          destination: {server: "https://kubernetes.default.svc", namespace: gpu-operator}
          source:
            repoURL: https://helm.ngc.nvidia.com/nvidia
            chart: gpu-operator
            targetRevision: v25.10.1
            helm: {values: "gds:\\n  enabled: true\\n"}
        ---
        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: "2.15"}

    ## Passes

        apiVersion: storage.k8s.io/v1
        kind: StorageClass
        metadata: {name: lustre}
        provisioner: fsx.csi.aws.com
        parameters: {subnetId: subnet-0a1b2c3d4e5f60718, deploymentType: SCRATCH_2, fileSystemTypeVersion: "2.15"}
    """
    by_chart = any(_has_gds(release) for release in plan.of(HelmRelease))
    by_object = any(_is_policy(each) or _has_application(each) for each in world.manifests)
    if not by_chart and not by_object:
        return
    for manifest in world.manifests:
        if manifest.ref.kind == "StorageClass" and _is_slow(manifest):
            yield Finding(
                f"storage class `{manifest.ref.name}` makes file systems without EFA, "
                "and GPUDirect Storage is installed",
                Route((manifest.id, "parameters")),
                label="data goes through the host",
                help='write `deploymentType: PERSISTENT_2` and `efaEnabled: "true"`, or turn `gds` off',
            )


def _has_gds(release: HelmRelease) -> bool:
    is_operator = release.chart.rpartition("/")[2] == "gpu-operator"
    return is_operator and _is_on(release.values)


def _is_on(values: Any) -> bool:
    """Whether values of the chart turn it on; Helm takes any text for true."""
    return value_at(values, "gds", "enabled") in (True, "true")


def _has_application(manifest: Manifest) -> bool:
    """Whether Argo CD installs the GPU Operator with GPUDirect Storage on (Argo CD, Application spec: helm)."""
    if (manifest.ref.kind, manifest.ref.group) != ("Application", "argoproj.io"):
        return False
    sources = [
        value_at(manifest.body, "spec", "source"),
        *mappings_at(manifest.body, "spec", "sources"),
    ]
    for source in sources:
        if value_at(source, "chart") != "gpu-operator":
            continue
        text = value_at(source, "helm", "values")
        by_text = isinstance(text, str) and bool(re.search(_IN_TEXT, text, re.MULTILINE))
        parameters = mappings_at(source, "helm", "parameters")
        by_parameter = {"gds.enabled": "true"} in [
            {str(each.get("name")): str(each.get("value"))} for each in parameters
        ]
        if by_text or by_parameter or _is_on(value_at(source, "helm", "valuesObject")):
            return True
    return False


_IN_TEXT = r"^gds:\s*(?:\{\s*|\n\s+)enabled:\s*[\"']?true\b"


def _is_policy(manifest: Manifest) -> bool:
    """Whether a manifest is the GPU Operator's own object with GPUDirect Storage on (gpu-operator v25.10.1)."""
    if manifest.ref.kind != "ClusterPolicy" or manifest.ref.group != "nvidia.com":
        return False
    return value_at(manifest.body, "spec", "gds", "enabled") is True


def _is_slow(manifest: Manifest) -> bool:
    """Whether a class is of FSx, and its file systems have no EFA."""
    if manifest.body.get("provisioner") != FSX:
        return False
    return str(mapping(manifest.body, "parameters").get("efaEnabled")) != "true"
