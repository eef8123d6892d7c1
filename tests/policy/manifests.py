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


JOB = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\n"


def batch(
    pod: str,
    keys: str = "",
    *,
    name: str = "evaluate",
    namespace: str = "team-b",
    labels: str = "app: a",
) -> str:
    """A Job of Kubernetes with these pods."""
    return f"""apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{{keys}template: {{metadata: {{labels: {{{labels}}}}}, spec: {{restartPolicy: Never,
  tolerations: [{{key: nvidia.com/gpu, operator: Exists}}], {pod}}}}}}}"""


def container(asks: str, command: str = "python, evaluate.py") -> str:
    """A container that asks for so much."""
    resources = (
        f"resources: {{requests: {{cpu: 1, memory: 4Gi}}, limits: {{cpu: 1, memory: 4Gi{asks}}}}}"
    )
    return f'containers: [{{name: a, image: "public.ecr.aws/team/train:1.0", command: [{command}], {resources}}}]'


def asking(**amounts: str) -> str:
    """The job that asks for other amounts."""
    listed = ", ".join(f"{name}: {amount}" for name, amount in amounts.items())
    return f"{JOB}spec: {{trainer: {{resourcesPerNode: {{requests: {{{listed}}}, limits: {{{listed}}}}}}}}}"
