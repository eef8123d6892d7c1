"""Versions and values of one component."""

from typing import Any, Literal

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.types import ChartDigest, ComponentVersion, ObjectName


class SignerIdentity(SpecModel):
    """Who may have signed, by the certificate that Sigstore gave for it."""

    issuer: str = Field(
        min_length=1,
        description="A regular expression of Go for the issuer of the identity.",
        examples=["^https://token.actions.githubusercontent.com$"],
    )
    subject: str = Field(
        min_length=1,
        description="A regular expression of Go for the identity.",
        examples=[
            "^https://github.com/aws/karpenter-provider-aws/.github/workflows/release.yaml@.+$"
        ],
    )


class SecretOfKeys(SpecModel):
    """A Secret in the namespace of Flux."""

    name: ObjectName = Field(
        description="The name of the Secret, in `flux-system`.", examples=["chart-keys"]
    )


class ChartSignature(SpecModel):
    """Whose signature a chart must have: of a key, or of an identity."""

    provider: Literal["cosign", "notation"] = Field(
        "cosign", description="What the chart is signed with.", examples=["notation"]
    )
    secret_ref: SecretOfKeys | None = Field(
        None,
        description="The Secret with the public keys (cosign), or with certificates and `trustpolicy.json` (notation).",
        examples=[{"name": "chart-keys"}],
    )
    match_oidc_identity: list[SignerIdentity] = Field(
        [],
        alias="matchOIDCIdentity",
        description="Without keys: who may have signed, any one of these; Flux then asks Sigstore on the internet.",
        examples=[
            [
                {
                    "issuer": "^https://token.actions.githubusercontent.com$",
                    "subject": "^https://github.com/aws/karpenter-provider-aws/.+$",
                }
            ]
        ],
    )


class Component(SpecModel):
    """What differs from the release for one component."""

    version: ComponentVersion | None = Field(
        None,
        description="The version of the component; derived: the release's, or the one that another component needs.",
        examples=["0.19.2"],
    )
    digest: ChartDigest | None = Field(
        None,
        description="The digest of its chart in an OCI registry, which Flux then takes even if its tag has moved; "
        "goes with `version`, whose chart it is.",
        examples=["sha256:" + "3b0c" * 16],
    )
    verify: ChartSignature | None = Field(
        None,
        description="The signature without which Flux does not take its chart, by Flux' own keys; of an OCI registry.",
        examples=[{"provider": "cosign", "secretRef": {"name": "chart-keys"}}],
    )
    values: dict[str, Any] = Field(
        {},
        description="Values of its chart, over Trainyard's: mappings merge by key, lists and scalars replace, `null` "
        "removes a value of Trainyard's.",
        examples=[{"controllerManager": {"replicas": 3}}],
    )
