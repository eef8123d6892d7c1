"""The spec of teams' namespaces."""

from typing import Annotated, Literal

from trainyard.language.models.aws import Arn
from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import Distinct, GroupName, Name, Quantity


class NamespaceQuota(SpecModel):
    """The ceiling of a namespace, over everything in it."""

    cpu: Quantity | None = Field(
        None,
        description="The CPUs that all pods of the namespace may request together; unset: no ceiling.",
        examples=[768],
        bound="0 or more; as much as each of its jobs asks for",
        source="core/v1 ResourceQuota",
        codes=("LIM010",),
    )
    memory: Quantity | None = Field(
        None,
        description="The memory that all pods of the namespace may request together; unset: no ceiling.",
        examples=["8Ti"],
        bound="0 or more; as much as each of its jobs asks for",
        source="core/v1 ResourceQuota",
        codes=("LIM010",),
    )
    accelerators: int | None = Field(
        None,
        ge=0,
        description="The accelerators, and shares of them, of each kind that all pods of the namespace may request; "
        "unset: no ceiling.",
        examples=[32],
        bound="0 or more; as many as each of its jobs asks for",
        source="core/v1 ResourceQuota",
        codes=("LIM010",),
    )
    pods: int | None = Field(
        None,
        ge=0,
        description="The number of pods that may exist in the namespace at once; unset: no ceiling.",
        examples=[100],
        bound="0 or more",
        source="core/v1 ResourceQuota",
        codes=("LIM010",),
    )


class Namespace(SpecModel):
    """A team's namespace, and who may see what runs in it."""

    name: Name = Field(
        description="The namespace's name, which queues and jobs refer to.",
        examples=["team-a"],
        bound="a label of 63 characters at most, unique, not the system's",
        source="Kubernetes, object names",
        codes=("RES009", "RES021"),
    )
    quota: NamespaceQuota | None = Field(
        None,
        description="Ceilings on everything in the namespace, in addition to the queues' quotas.",
        examples=[{"accelerators": 32, "pods": 100}],
    )
    group: GroupName | None = Field(
        None,
        description="A Kubernetes group that may see, debug and end the jobs of the namespace; its principals join it.",
        examples=["team-a"],
        bound="no spaces; never one of the system (`system:`)",
        source="EKS API CreateAccessEntry; Kubernetes RBAC, default roles",
        codes=("ACC002", "ACC003", "ACC005"),
    )
    pod_security: Literal["baseline", "privileged"] = Field(
        "baseline",
        description="The Pod Security Standard that the namespace enforces; `privileged` lets its pods have the rights "
        "of their nodes.",
        examples=["baseline"],
        bound="`baseline`, `privileged`",
        source="Kubernetes, Pod Security Standards",
    )
    principals: Annotated[list[Arn], Distinct] = Field(
        [],
        description="The IAM roles and users that may see, debug and end the jobs of the namespace, by ARN; each gets "
        "an access entry.",
        examples=[["arn:aws:iam::111122223333:role/team-a"]],
        bound="ARNs of IAM roles and users of the partition, each once, not the nodes'",
        source="EKS API CreateAccessEntry",
        codes=("RES043",),
    )


class NamespacesSection(Section):
    """The namespaces of the teams."""

    namespaces: list[Namespace] = Field(
        [],
        description="The teams' namespaces; derived: those that queues name, or one namespace `training`.",
        examples=[[{"name": "team-a", "principals": ["arn:aws:iam::111122223333:role/team-a"]}]],
    )


SECTION = NamespacesSection
DOCUMENTS = {"TrainingNamespace": ("namespaces", Namespace)}
