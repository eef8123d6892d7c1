"""Secrets, as people write them: where the values are kept. No spec has a value."""

from typing import TYPE_CHECKING

from pydantic import Field

from compiler.spec.later import later
from compiler.spec.section import Section

if TYPE_CHECKING:
    from compiler.subjects.secrets.forms.secret import Secret
else:
    (Secret,) = later("secrets.forms.secret", "Secret")


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


SECTION = SecretsSection
DOCUMENTS = {"TrainingSecret": ("secrets", Secret)}
