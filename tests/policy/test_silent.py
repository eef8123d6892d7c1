"""What strangers write and mean: laid over the set without fault, nothing is told of it."""

from __future__ import annotations

import pytest

from tests.policy.harness import findings_for

JOB = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"
POOL = "apiVersion: karpenter.sh/v1\nkind: NodePool\n"
FLAVOR = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\n"
CLASS = "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\n"
RELEASE = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"


def required(key: str, *values: str) -> str:
    """A pool with another requirement."""
    listed = ", ".join(values)
    return (f"{POOL}spec: {{template: {{spec: {{requirements: [{{key: {key}, operator: In, "
            f"values: [{listed}]}}]}}}}}}")


def pods(text: str) -> str:
    """A runtime whose pod template has more."""
    return ("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nspec: {template: {spec: "
            f"{{replicatedJobs: [{{name: node, template: {{spec: {{template: {text}}}}}}}]}}}}}}")


def asking(**amounts: str) -> str:
    """A job that asks for other amounts."""
    listed = ", ".join(f"{name}: {amount}" for name, amount in amounts.items())
    return f"{JOB}spec: {{trainer: {{resourcesPerNode: {{requests: {{{listed}}}, limits: {{{listed}}}}}}}}}"


GROUP = """apiVersion: karpenter.sh/v1
kind: NodePool
$patch: delete
---
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: base, region: us-west-2, version: "1.35"}
autoModeConfig: {enabled: false}
managedNodeGroups:
  - {name: gpu, instanceType: p4d.24xlarge, efaEnabled: true, availabilityZones: [us-west-2b], maxSize: 4,
     labels: {pool: gpu}, nodeRepairConfig: {enabled: true}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
spec: {nodeLabels: {$patch: replace, pool: gpu}}
"""
TYPE, ZONE = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"
SETS = {
    "several types, of which the job takes one": [
        required(TYPE, "p4d.24xlarge", "p5.48xlarge"), pods(f"{{spec: {{nodeSelector: {{{TYPE}: p4d.24xlarge}}}}}}")],
    "several types, of which the flavor takes one": [
        required(TYPE, "p4d.24xlarge", "p5.48xlarge"), f"{FLAVOR}spec: {{nodeLabels: {{{TYPE}: p4d.24xlarge}}}}"],
    "Karpenter's memory overhead on a node group": [
        GROUP, pods("{spec: {nodeSelector: {$patch: replace, pool: gpu}}}"), asking(memory="1090Gi"),
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nspec: {resourceGroups: [{flavors: [{name: gpu, "
        "resources: [{name: memory, nominalQuota: 5000Gi}]}]}]}"],
    "another memory overhead": [
        f"{RELEASE}metadata: {{name: karpenter}}\nspec: {{chart: {{spec: {{chart: karpenter, version: 1.14.1}}}}, "
        "values: {settings: {vmMemoryOverheadPercent: 0.02}}}", asking(memory="1090Gi"),
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nspec: {resourceGroups: [{flavors: [{name: gpu, "
        "resources: [{name: memory, nominalQuota: 5000Gi}]}]}]}"],
    "huge pages by user data": [f"{CLASS}spec: {{userData: 'sysctl -w vm.nr_hugepages=20000'}}",
                                asking(**{"hugepages-2Mi": "20Gi"}),
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nspec: {resourceGroups: [{flavors: [{name: gpu, "
        "resources: [{name: hugepages-2Mi, nominalQuota: 100Gi}]}]}]}"],
    "a cohort with quota of its own": [
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: research}\nspec: {cohortName: all, "
        "resourceGroups: [{flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]}]}",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: idle}\nspec: {cohortName: all}",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: all}\nspec: {resourceGroups: ["
        "{coveredResources: [nvidia.com/gpu], flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, "
        "nominalQuota: 16}]}]}]}"],
    "a cohort whose parent is elsewhere": [
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: research}\nspec: {cohortName: all, "
        "resourceGroups: [{flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]}]}",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: idle}\nspec: {cohortName: all}",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: all}, spec: {parentName: company}}"],
    "a member of the cohort that is elsewhere": [
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: research}\nspec: {cohortName: all, "
        "resourceGroups: [{flavors: [{name: gpu, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}]}]}",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: idle}\nspec: {cohortName: all}",
        "{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: vision, namespace: b}, "
        "spec: {clusterQueue: vision}}"],
}


@pytest.mark.parametrize("title", SETS)
def test_meant(title: str) -> None:
    found = findings_for("\n---\n".join(SETS[title]))
    assert found == [], [(each.code, each.message) for each in found]
