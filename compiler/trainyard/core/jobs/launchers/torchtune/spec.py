"""The spec of the launcher ``torchtune``."""

from typing import Literal

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import ObjectName


class Torchtune(SpecModel):
    """A recipe of torchtune, as a released runtime of Trainer has it: image, command, model and dataset are derived.

    The job may set each of them instead, `initializer` as a whole; `args` override values of the configuration.
    """

    runtime: Literal["torchtune-llama3.2-1b", "torchtune-llama3.2-3b", "torchtune-qwen2.5-1.5b"] = (
        Field(description="The released runtime.", examples=["torchtune-llama3.2-1b"])
    )
    secret: ObjectName | None = Field(
        None,
        description="A Secret of the job's namespace with `ACCESS_TOKEN`, for a model that Hugging Face gives to few.",
        examples=["hf-token"],
    )
