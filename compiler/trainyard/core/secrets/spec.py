"""The spec of secrets: where their values are stored. A spec never holds a value."""

from pydantic import Field

from trainyard.core.secrets.forms.secret import Secret
from trainyard.core.secrets.forms.sops import Sops
from trainyard.language.models.section import Section


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
