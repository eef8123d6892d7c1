"""Init containers of a job."""

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import Command, EnvName, ImageOrName, Name, Word


class InitContainer(SpecModel):
    """What runs in every pod before the program, with the job's mounts, volumes and files."""

    name: Name = Field(
        description="The container's name, unique in the job and not `node`.", examples=["prepare"]
    )
    image: ImageOrName | None = Field(
        None,
        description="The container image, or the name of one under `images`; derived: the job's.",
        examples=["registry.example/prepare:1.0"],
    )
    command: Command = Field(
        min_length=1,
        description="The program and its words, without a shell.",
        examples=[["python", "prepare.py"]],
    )
    args: list[Word] = Field(
        [], description="More words of the command.", examples=[["--shards", "64"]]
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the program; it has none of the job's.",
        examples=[{"HF_HOME": "/cache"}],
    )
