"""The spec of the launcher ``torchtune``."""

from typing import Literal

from trainyard.language.models.base import SpecModel
from trainyard.language.models.field import Field
from trainyard.language.models.types import ObjectName


class Torchtune(SpecModel):
    """A recipe of torchtune, as a released runtime of Trainer has it: image, command, model and dataset are derived.

    The job may set each of them instead, `initializer` as a whole; `args` override values of the configuration.
    """

    runtime: Literal["torchtune-llama3.2-1b", "torchtune-llama3.2-3b", "torchtune-qwen2.5-1.5b"] = (
        Field(
            description="The released runtime.",
            examples=["torchtune-llama3.2-1b"],
            bound="a runtime for torchtune of Trainer's releases",
            source="compiler/trainyard/catalog/data/runtimes.json",
            codes=("RES165",),
        )
    )
    secret: ObjectName | None = Field(
        None,
        description="A Secret of the job's namespace with `ACCESS_TOKEN`, for a model that Hugging Face gives to few.",
        examples=["hf-token"],
        bound="a DNS subdomain of 253 characters at most",
        source="Kubernetes, object names",
    )
