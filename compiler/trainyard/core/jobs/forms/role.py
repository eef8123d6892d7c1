"""Further roles of a JobSet: pods that run another program than the job's nodes."""

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import MOST_NODES, Command, EnvName, Name, Word


class Role(SpecModel):
    """Pods in addition to the nodes of a JobSet, with the image, the mounts and the resources of the job."""

    name: Name = Field(
        description="The role's name, unique in the job and not `node`.", examples=["rollout"]
    )
    nodes: int = Field(
        1,
        ge=1,
        le=MOST_NODES,
        description="The number of its nodes, with one pod on each.",
        examples=[2],
    )
    command: Command = Field(
        min_length=1,
        description="The program and its words, without a shell.",
        examples=[["python", "rollout.py"]],
    )
    args: list[Word] = Field(
        [], description="More words of the command.", examples=[["--seed", "1"]]
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the program, in addition to those of the job.",
        examples=[{"ROLE": "rollout"}],
    )
