"""What is downloaded before the nodes of a job start."""

from typing import Self

from pydantic import Field, model_validator

from trainyard.language.models.base import SpecModel
from trainyard.language.models.buckets import is_bucket
from trainyard.language.models.checks import fault
from trainyard.language.models.types import EnvName, Name, ObjectName, Word


# trainer v2.3.0, pkg/initializers/{dataset,model}/__main__.py; `cache` needs the data cache, which is not installed.
def _is_read(uri: str) -> bool:
    """Whether an initializer reads a place: of Hugging Face a repository of an owner, of S3 a bucket at least."""
    scheme, found, rest = uri.partition("://")
    parts = rest.strip("/").split("/")
    least = {"hf": 2, "s3": 1}.get(scheme)
    if not found or least is None:
        return False
    if scheme == "s3" and not is_bucket(parts[0]):
        return False
    return len(parts) >= least and all(parts)


class Downloaded(SpecModel):
    """Something that Trainer's initializer downloads."""

    storage_uri: Word = Field(
        description="Where it is: a repository of Hugging Face, or a prefix of a bucket.",
        examples=["hf://tatsu-lab/alpaca"],
    )
    secret: ObjectName | None = Field(
        None,
        description="A Secret of the job's namespace, whose keys become variables of the initializer, like "
        "`ACCESS_TOKEN`.",
        examples=["hf-token"],
    )
    env: dict[EnvName, Word] = Field(
        {},
        description="Environment variables of the initializer, like `IGNORE_PATTERNS`.",
        examples=[{"IGNORE_PATTERNS": "*.bin"}],
    )

    @model_validator(mode="after")
    def _is_read(self) -> Self:
        if not _is_read(self.storage_uri):
            raise fault(
                f"`{self.storage_uri}` is no place that an initializer reads",
                "write `hf://OWNER/NAME` or `s3://BUCKET/PREFIX`",
                "storageUri",
                source="trainer v2.3.0, pkg/initializers",
            )
        return self


class Initializer(SpecModel):
    """What Trainer downloads to `/workspace/dataset` and `/workspace/model` before the nodes start."""

    dataset: Downloaded | None = Field(
        None,
        description="What is downloaded to `/workspace/dataset`.",
        examples=[{"storageUri": "hf://tatsu-lab/alpaca"}],
    )
    model: Downloaded | None = Field(
        None,
        description="What is downloaded to `/workspace/model`.",
        examples=[{"storageUri": "hf://meta-llama/Llama-3.2-1B", "secret": "hf-token"}],
    )
    storage: Name | None = Field(
        None,
        description="The storage, mounted by the job, that holds it for all nodes; derived where only one could.",
        examples=["scratch"],
    )

    @model_validator(mode="after")
    def _downloads(self) -> Self:
        if self.dataset is None and self.model is None:
            raise fault(
                "an initializer that downloads nothing",
                "write `dataset:` or `model:`",
                source="trainer.kubeflow.org/v1alpha1 TrainJob initializer",
            )
        return self

    def parts(self) -> dict[str, Downloaded]:
        """What is downloaded, by its name."""
        both = {"dataset": self.dataset, "model": self.model}
        named = both.items()
        return {name: source for name, source in named if source is not None}
