"""What task governance calls the objects of a team, which it makes itself in the cluster of EKS.

Source: SageMaker developer guide, sagemaker-hyperpod-eks-operate-console-ui-governance-policies;
aws/sagemaker-hyperpod-cli 011ca92, constants of the namespace and of the LocalQueue.
"""

from __future__ import annotations


def namespace_of(team: str) -> str:
    """The namespace of a team."""
    return f"hyperpod-ns-{team}"


def local_queue_of(team: str) -> str:
    """The LocalQueue in the team's namespace."""
    return f"{namespace_of(team)}-localqueue"


def priority_class_of(name: str) -> str:
    """The WorkloadPriorityClass of a priority."""
    return f"{name}-priority"
