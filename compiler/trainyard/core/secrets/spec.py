"""The spec of secrets: where their values are stored. A spec never holds a value."""

from typing import Annotated, Literal, Self

from pydantic import model_validator

from trainyard.language.models.aws import KmsKeyArn, StoredName
from trainyard.language.models.base import SpecModel
from trainyard.language.models.choice import existing_or_created, one_of
from trainyard.language.models.field import Field
from trainyard.language.models.section import Section
from trainyard.language.models.types import (
    Distinct,
    JsonKey,
    Name,
    ObjectName,
    RefreshInterval,
    SecretKey,
)


class StoredSecret(SpecModel):
    """A secret of Secrets Manager that exists, in the account and the region of the cluster."""

    name: StoredName = Field(
        description="The name of the secret in Secrets Manager.",
        examples=["team-a/hf-token"],
        bound="1 to 512 of `[A-Za-z0-9/_+=.@-]`",
        source="Secrets Manager API, CreateSecret Name",
    )
    kms_key: KmsKeyArn | None = Field(
        None,
        description="The customer managed key that encrypts it; unset: the AWS managed key `aws/secretsmanager`.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"],
        bound="the ARN of a key of the Region",
        source="KMS developer guide, key ARN",
        codes=("RES121",),
    )


class SecretsManager(SpecModel):
    """A secret of AWS Secrets Manager, and what is taken of it."""

    existing: StoredSecret = Field(
        description="Facts about a secret that exists.", examples=[{"name": "team-a/hf-token"}]
    )
    keys: dict[SecretKey, JsonKey] = Field(
        {},
        description='The keys of the Secret, each with the key of the JSON that it is read from, or `""` for the whole '
        "text; unset: every key of the JSON.",
        examples=[{"token": "hf_token"}],
        bound="keys of a Secret, of 253 characters at most; keys of JSON, or empty",
        source="apimachinery 0.35, IsConfigMapKey; external-secrets v2.9.0, remoteRef.property",
        codes=("RES110",),
    )
    refresh: RefreshInterval | None = Field(
        None,
        description="How often the value is read again; derived: `1h`.",
        examples=["30m"],
        bound="1m or more",
        source="external-secrets v2.9.0, refreshInterval; Secrets Manager pricing",
    )


class Secret(SpecModel):
    """A Kubernetes Secret in namespaces of teams, whose values are kept in AWS."""

    name: ObjectName = Field(
        description="The name of the Secret, which jobs refer to.",
        examples=["hf-token"],
        bound="a DNS subdomain of 253 characters at most; unique",
        source="Kubernetes, object names",
        codes=("RES009",),
    )
    namespaces: Annotated[list[Name], Distinct] = Field(
        min_length=1,
        description="The namespaces of teams in which it is made.",
        examples=[["team-a"]],
        bound="at least one, each of a team",
        source="external-secrets v2.9.0, ExternalSecret metadata",
        codes=("RES013",),
    )
    type: Literal[
        "Opaque",
        "kubernetes.io/dockerconfigjson",
        "kubernetes.io/basic-auth",
        "kubernetes.io/ssh-auth",
        "kubernetes.io/tls",
    ] = Field(
        "Opaque",
        description="The type of the Secret; images are pulled with `kubernetes.io/dockerconfigjson`.",
        examples=["kubernetes.io/dockerconfigjson"],
        bound="`Opaque`, `kubernetes.io/dockerconfigjson`, `kubernetes.io/basic-auth`, "
        "`kubernetes.io/ssh-auth`, `kubernetes.io/tls`",
        source="Kubernetes, types of Secret",
        codes=("RES110",),
    )
    secrets_manager: SecretsManager = Field(
        description="The secret of AWS Secrets Manager that it is made from, by External Secrets.",
        examples=[{"existing": {"name": "team-a/hf-token"}, "keys": {"token": "hf_token"}}],
    )


class ExistingKey(SpecModel):
    """A key of KMS that exists."""

    kms_key: KmsKeyArn = Field(
        description="The ARN of the key.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"],
        bound="the ARN of a key, that of every encrypted file",
        source="KMS developer guide, key ARN; getsops/sops v3.11.0, README.rst",
        codes=("RES186", "RES187"),
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


class SecretsSection(Section):
    """What the cluster knows of secrets: where they are."""

    secrets: list[Secret] = Field(
        [],
        description="Secrets that are made in namespaces of what AWS Secrets Manager keeps; no value is written here.",
        examples=[
            [
                {
                    "name": "hf-token",
                    "namespaces": ["team-a"],
                    "secretsManager": {
                        "existing": {"name": "team-a/hf-token"},
                        "keys": {"token": "hf_token"},
                    },
                }
            ]
        ],
    )
    sops: Sops | None = Field(
        None,
        description="The KMS key of Secrets that are encrypted by SOPS in included files, which Flux decrypts; unset: "
        "none are.",
        examples=[{"create": {}}],
    )


SECTION = SecretsSection
DOCUMENTS = {"TrainingSecret": ("secrets", Secret)}
