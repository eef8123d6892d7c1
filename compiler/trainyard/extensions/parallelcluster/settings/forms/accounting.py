"""Slurm's accounting."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.checks import matched
from trainyard.language.models.types import Line

_Uri = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[a-z0-9][a-z0-9.-]*(:([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?",
            "a database's host, and its port after `:`",
            "db.example.com:3306",
        )
    ),
]
_SecretArn = Annotated[
    str,
    BeforeValidator(
        matched(
            r"arn:aws[a-z-]*:secretsmanager:[a-z0-9-]+:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]+",
            "the ARN of a secret of Secrets Manager",
            "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
        )
    ),
]
_DatabaseName = Annotated[
    str,
    BeforeValidator(
        matched(
            r"[0-9a-z_]{1,64}",
            "the name of a database, of lower case letters, digits and `_`",
            "research_slurm",
        )
    ),
]


class Accounting(SpecModel):
    """The MySQL database that Slurm's accounting uses (aws-parallelcluster 3.16.1, SlurmSettings.Database)."""

    uri: _Uri = Field(
        description="The host of a MySQL server that the head node reaches, and its port after `:`.",
        examples=["slurm-db.cluster-abc.us-west-2.rds.amazonaws.com:3306"],
    )
    user_name: Line = Field(description="The user of the database.", examples=["slurm"])
    password_secret_arn: _SecretArn = Field(
        description="The ARN of the secret of Secrets Manager with the user's password, as plain text.",
        examples=["arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"],
    )
    database_name: _DatabaseName | None = Field(
        None,
        description="The name of the database; unset: ParallelCluster derives it from the cluster's name.",
        examples=["research_slurm"],
    )
