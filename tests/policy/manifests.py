"""Manifests that are laid over those of the set: what tests of rules change of it."""

from __future__ import annotations

POOL = "apiVersion: karpenter.sh/v1\nkind: NodePool\n"


def required(key: str, *values: str) -> str:
    """A pool with another requirement."""
    listed = ", ".join(values)
    return (
        f"{POOL}spec: {{template: {{spec: {{requirements: [{{key: {key}, operator: In, "
        f"values: [{listed}]}}]}}}}}}"
    )


def pods(text: str) -> str:
    """A runtime whose pod template has more."""
    return (
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: ClusterTrainingRuntime\nspec: {template: {spec: "
        f"{{replicatedJobs: [{{name: node, template: {{spec: {{template: {text}}}}}}}]}}}}}}"
    )


def release(chart: str, values: str = "{}", name: str = "") -> str:
    """A release of a chart."""
    return (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"
        f"metadata: {{name: {name or chart}, namespace: a}}\n"
        f"spec: {{chart: {{spec: {{chart: {chart}, version: 1.2.3}}}}, values: {values}}}"
    )
