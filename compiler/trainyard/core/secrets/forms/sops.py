"""SOPS: Secrets that are encrypted in git and decrypted by Flux."""

from typing import Self

from pydantic import Field, model_validator

from trainyard.language.models.aws import KmsKeyArn
from trainyard.language.models.base import SpecModel
from trainyard.language.models.choice import existing_or_created, one_of


class ExistingKey(SpecModel):
    """A key of KMS that exists."""

    kms_key: KmsKeyArn = Field(
        description="The ARN of the key.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"],
    )


class CreatedKey(SpecModel):
    """A key of KMS that the bootstrap makes, with rotation, and nothing ever deletes by itself."""


class Sops(SpecModel):
    """The key that Secrets in git are encrypted with: one that is there, or one to ``create``."""

    model_config = one_of("existing", "create")

    existing: ExistingKey | None = Field(
        None,
        description="Facts about a key that exists.",
        examples=[
            {
                "kmsKey": "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
            }
        ],
    )
    create: CreatedKey | None = Field(
        None,
        description="A key that the bootstrap makes, with the alias `trainyard-CLUSTER-sops`.",
        examples=[{}],
    )

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        existing_or_created(self.existing, self.create, "key")
        return self
