"""What HyperPod reads of a job that it starts again when it has replaced a node (auto-resume).

Source: SageMaker developer guide, sagemaker-hyperpod-eks-resiliency-auto-resume; aws/sagemaker-hyperpod-cli 011ca92,
helm_chart/readme.md.
"""

from __future__ import annotations

AUTO_RESUME = "sagemaker.amazonaws.com/enable-job-auto-resume"
MOST_RETRIES = "sagemaker.amazonaws.com/job-max-retry-count"
RESUMED_IN = "kubeflow"
RESUMED_PREFIX = "hyperpod"


def resumes_in(namespace: str) -> bool:
    """Whether HyperPod resumes jobs of a namespace."""
    return namespace == RESUMED_IN or namespace.startswith(RESUMED_PREFIX)
