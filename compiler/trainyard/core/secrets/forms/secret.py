"""A secret of the cluster: where its values are stored."""

from typing import Annotated, Literal

from pydantic import Field

from trainyard.language.models.aws import KmsKeyArn, StoredName
from trainyard.language.models.base import SpecModel
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
        description="The name of the secret in Secrets Manager.", examples=["team-a/hf-token"]
    )
    kms_key: KmsKeyArn | None = Field(
        None,
        description="The customer managed key that encrypts it; unset: the AWS managed key `aws/secretsmanager`.",
        examples=["arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"],
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
    )
    refresh: RefreshInterval | None = Field(
        None, description="How often the value is read again; derived: `1h`.", examples=["30m"]
    )


class Secret(SpecModel):
    """A Kubernetes Secret in namespaces of teams, whose values are kept in AWS."""

    name: ObjectName = Field(
        description="The name of the Secret, which jobs refer to.", examples=["hf-token"]
    )
    namespaces: Annotated[list[Name], Distinct] = Field(
        min_length=1,
        description="The namespaces of teams in which it is made.",
        examples=[["team-a"]],
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
    )
    secrets_manager: SecretsManager = Field(
        description="The secret of AWS Secrets Manager that it is made from, by External Secrets.",
        examples=[{"existing": {"name": "team-a/hf-token"}, "keys": {"token": "hf_token"}}],
    )
