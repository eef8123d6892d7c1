"""What only HyperPod has, as people write it, next to what it keeps of EKS."""

from typing import Annotated, Literal

from trainyard.eks.settings import spec as eks
from trainyard.language.models.aws import TrainingPlanArn
from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field
from trainyard.language.models.types import Distinct, Name, Whole
from trainyard.language.places import Route

# SageMaker API, DeepHealthCheckType (botocore 1.44.5).
DeepHealthCheck = Literal["InstanceStress", "InstanceConnectivity", "MultiNodeTrainingValidation"]


class TaskGovernance(SpecModel):
    """Task governance: `queues` and `priorities` say all of it."""


class HyperPod(SpecModel):
    """What only SageMaker HyperPod has."""

    node_recovery: Literal["Automatic", "None"] = Field(
        "Automatic",
        description="Whether HyperPod replaces or reboots nodes that fail (`NodeRecovery`).",
        examples=["Automatic"],
        bound="`Automatic`, `None`",
        source="SageMaker API, ClusterNodeRecovery (botocore 1.44.5)",
    )
    deep_health_checks: Annotated[list[DeepHealthCheck], Distinct] = Field(
        [],
        description="The tests of new nodes, before any job lands on them (`OnStartDeepHealthChecks`); unset: none.",
        examples=[["InstanceStress", "InstanceConnectivity"]],
        bound="`InstanceStress`, `InstanceConnectivity`, `MultiNodeTrainingValidation`, each once",
        source="SageMaker API, DeepHealthCheckType (botocore 1.44.5)",
    )
    training_plans: dict[Name, TrainingPlanArn] = Field(
        {},
        description="The SageMaker training plan that the nodes of a pool come from, by the name of the pool; its "
        "capacity is then `onDemand`.",
        examples=[{"h100": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p5-december"}],
        bound="ARNs of training plans of the cluster's account and Region, by the name of a pool",
        source="SageMaker API, TrainingPlanArn (botocore 1.44.5)",
        codes=("RES325",),
    )
    threads_per_core: Annotated[Literal[1, 2], Whole] | None = Field(
        None,
        description="The threads of each core (`ThreadsPerCore`): 1 switches multithreading off; unset: that of the "
        "instance type.",
        examples=[1],
        bound="1, 2",
        source="SageMaker API, ClusterThreadsPerCore (botocore 1.44.5)",
    )
    task_governance: TaskGovernance | None = Field(
        None,
        description="SageMaker makes the queues, of `queues` and `priorities`, by its add-on for task governance; "
        "unset: Kueue, as on EKS.",
        examples=[{}],
    )


class Platform(eks.Platform):
    """What the cluster runs on: HyperPod, and the cluster of EKS that its nodes are in."""

    hyper_pod: HyperPod = Field(
        description="SageMaker HyperPod, with EKS as its orchestrator: `eks` beside it says what cluster that is.",
        examples=[{"deepHealthChecks": ["InstanceStress"]}],
    )


class HyperPodSection(eks.ClusterSection):
    """The platform."""

    platform: Platform = Field(
        description="What the cluster runs on: `hyperPod`, with what only it has, and `eks`, for its cluster.",
        examples=[{"hyperPod": {"deepHealthChecks": ["InstanceStress"]}}],
    )

    @property
    def own(self) -> HyperPod:
        """What only HyperPod has."""
        return self.platform.hyper_pod


SECTION = HyperPodSection
AT = Route(("spec", "platform", "hyperPod"))
