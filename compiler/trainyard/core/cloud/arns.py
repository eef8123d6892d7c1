"""ARNs in a spec that are of another place than the cluster: its partition, its Region, its account; and accounts of
nobody.

What a service does with one of another place stands in its row: the one test of ARNs walks over all keys that take one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.language.dataclass import dataclass
from trainyard.language.models.base import SpecModel
from trainyard.language.places import Route
from trainyard.plan.context import SPEC, Context

_ARN = re.compile(
    r"arn:(?P<partition>aws[a-z-]*):(?P<service>[a-z0-9-]+):(?P<region>[a-z0-9-]*):(?P<account>\d{12}|aws|):.+"
)
_NOBODY = 12 * "0"
_OF_NOBODY = re.compile(
    rf"arn:aws[a-z-]*:[a-z0-9-]*:[a-z0-9-]*:{_NOBODY}:.*|{_NOBODY}\.dkr\.ecr\..*", re.DOTALL
)
"""The account of LocalStack and of others that stand in for AWS, in an ARN and in the name of an image."""
_UNREAD = frozenset({"jobs", "jobDefaults", "components", "patches"})
"""Sections with texts of programs, and of others' objects."""


@dataclass(frozen=True, slots=True)
class _Service:
    """What becomes of something of another Region, or of another account; empty where it works."""

    region: str = ""
    account: str = ""
    source: str = ""


_SERVICES = {
    "kms": _Service("a key encrypts in its own Region alone", "", "KMS developer guide, key ARN"),
    "secretsmanager": _Service(
        "whoever reads it asks the endpoint of the cluster's Region",
        "the policies of the secret and of its key must both let this account in",
        "Secrets Manager user guide, auth-and-access_examples_cross",
    ),
    "sns": _Service(
        "whoever publishes asks the endpoint of the cluster's Region, which has no such topic",
        "the policy of the topic must let this account publish",
        "SNS developer guide, sns-access-policy-use-cases",
    ),
    "sagemaker": _Service(
        "a training plan is of one Region",
        "a training plan is of one account",
        "SageMaker API, CreateTrainingPlan",
    ),
    "codeconnections": _Service("", "a connection is of one account", "CodeConnections user guide"),
    "codestar-connections": _Service(
        "", "a connection is of one account", "CodeConnections user guide"
    ),
}
_FATAL = frozenset({"kms", "secretsmanager", "sagemaker"})
"""Services of which one of another Region is never found."""


def check_arns(context: Context) -> None:
    """What ARNs of a spec say of another place, where nothing else has been said of the key."""
    judged = {fault.at for fault in context.diagnostics}
    for at, text in _texts(context.spec, SPEC):
        if at in judged:
            continue
        is_read = at[1] not in _UNREAD
        found = _ARN.fullmatch(text)
        if _OF_NOBODY.fullmatch(text) or (is_read and text == _NOBODY):
            context.doubt(
                "RES503",
                f"`{_NOBODY}` is the account of programs that stand in for AWS, or is to be filled in",
                at,
                "write your account, which `aws sts get-caller-identity` prints",
                source="LocalStack, multi-account setups: the account that it has by itself",
            )
        elif found is not None and is_read:
            _check(context, at, text, found)


def _check(context: Context, at: Route, arn: str, found: re.Match[str]) -> None:
    region, account = context.spec.region, context.spec.account
    service = _SERVICES.get(found["service"], _Service())
    if found["partition"] != context.partition:
        context.fault(
            "RES456",
            f"`{arn}` is of partition `{found['partition']}`, and the cluster is in `{context.partition}`",
            at,
            "write what is in the partition of the cluster: nothing reaches from one into another",
            source="IAM user guide, reference_identifiers: the partition of an ARN",
        )
    elif service.region and found["region"] not in ("", region):
        say = context.fault if found["service"] in _FATAL else context.doubt
        say(
            "RES456",
            f"`{arn}` is of `{found['region']}`, and the cluster is in `{region}`: {service.region}",
            at,
            f"write one of `{region}`",
            source=service.source,
        )
    elif service.account and found["account"] not in ("", account):
        context.doubt(
            "RES456",
            f"`{arn}` is of account `{found['account']}`, and the cluster is in `{account}`: {service.account}",
            at,
            "write one of this account, if it is a slip",
            source=service.source,
        )


def _texts(value: object, at: Route) -> Iterator[tuple[Route, str]]:
    """Each text of a model that may have an account, with its place; of models only what the spec says."""
    if isinstance(value, str):
        if value.startswith("arn:") or _NOBODY in value:
            yield at, value
    elif isinstance(value, SpecModel):
        fields = type(value).model_fields
        for name in value.model_fields_set:
            key = fields[name].alias or name if name in fields else name
            yield from _texts(getattr(value, name), at / key)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, at / key)
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _texts(item, at / index)
