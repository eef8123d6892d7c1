"""Scripts of one's own that nodes run when they are set up."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import matched
from trainyard.language.models.types import Line

# aws-parallelcluster 3.16.1, UrlValidator: an object of S3, or a page that anybody may get.
_Script = Annotated[
    str,
    BeforeValidator(
        matched(
            r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]/[^\s]+|https://[^\s/]+/[^\s]+",
            "the place of a script, as `s3://` or `https://`",
            "s3://scripts-111122223333/setup.sh",
            longest=2048,
        )
    ),
]


class OwnScript(SpecModel):
    """A script that nodes run as root."""

    script: _Script = Field(
        description="Where it is: an object of a bucket that nodes may read, or a page that anybody may get.",
        examples=["s3://scripts-111122223333/setup.sh"],
    )
    args: list[Line] = Field([], description="Its arguments.", examples=[["--metrics"]])


class CustomActions(SpecModel):
    """Scripts of one's own (`CustomActions`); each runs after those that Trainyard needs."""

    on_node_start: list[OwnScript] = Field(
        [],
        max_length=9,
        description="What runs before anything of a node is set up.",
        examples=[[{"script": "s3://scripts-111122223333/early.sh"}]],
    )
    on_node_configured: list[OwnScript] = Field(
        [],
        max_length=9,
        description="What runs once a node is set up, before it takes jobs.",
        examples=[[{"script": "s3://scripts-111122223333/setup.sh", "args": ["--metrics"]}]],
    )


class ComputeNodes(SpecModel):
    """What all compute nodes have."""

    custom_actions: CustomActions = Field(
        description="Scripts of one's own that each compute node runs.",
        examples=[{"onNodeConfigured": [{"script": "s3://scripts-111122223333/setup.sh"}]}],
    )
