"""What one team leaves Terminating holds up no stage that others wait for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import ROOT, data_of

KEPT = {
    "ClusterQueue": "kueue 0.19.2, kueue.x-k8s.io/resource-in-use",
    "ResourceFlavor": "kueue 0.19.2, kueue.x-k8s.io/resource-in-use",
    "Topology": "kueue 0.19.2, kueue.x-k8s.io/resource-in-use",
    "ClusterTrainingRuntime": "trainer v2.3.0, trainer.kubeflow.org/resource-in-use",
    "EC2NodeClass": "karpenter-provider-aws v1.14.1, karpenter.k8s.aws/termination",
    "NodeClass": "EKS Auto Mode, eks.amazonaws.com/termination",
    "PersistentVolume": "Kubernetes 1.36, kubernetes.io/pv-protection",
    "PersistentVolumeClaim": "Kubernetes 1.36, kubernetes.io/pvc-protection",
}
"""Kinds that are kept by a finalizer as long as something uses them. No Namespace leaves git with its jobs, and a stage
cannot be applied to one that somebody deletes by hand."""
CLUSTERS = sorted(path.parent.name for path in ROOT.glob("generated/*/flux"))


def bodies(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.yaml")):
        yield data_of(path.read_text())


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_no_stage_waits_for_what_is_kept_by_a_finalizer(cluster: str) -> None:
    folder = ROOT / "generated" / cluster
    stages = [*bodies(folder / "flux"), *bodies(folder / "storage")]
    found: set[str] = set()
    for stage in (each for each in stages if each["kind"] == "Kustomization"):
        applied = ROOT / stage["spec"]["path"]
        kinds = {each["kind"] for each in bodies(applied)} & KEPT.keys()
        found |= kinds
        if not stage["spec"]["wait"]:
            continue
        health = {
            each["kind"]: each["current"] for each in stage["spec"].get("healthCheckExprs", ())
        }
        assert kinds <= health.keys(), stage["metadata"]["name"]
        for kind in kinds:
            assert health[kind] == "true" or "has(metadata.deletionTimestamp)" in health[kind]
    assert found


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_namespaces_of_jobs_and_their_claims_are_never_deleted_by_git(cluster: str) -> None:
    folder = ROOT / "generated" / cluster
    for body in bodies(folder / "platform"):
        if body["kind"] in ("Namespace", "PersistentVolume", "PersistentVolumeClaim"):
            annotations = body["metadata"]["annotations"]
            assert annotations["kustomize.toolkit.fluxcd.io/prune"] == "disabled"
