from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import AccessPolicy, Statement
from trainyard.judge.policy.rule import Finding, rule

_WHAT = {
    "trust": "may be taken on by any account of AWS",
    "queue": "gives any account of AWS rights on its queue",
    "bucket": "gives anybody rights on its bucket",
}
_NO_LIMIT = ("aws:securetransport", "aws:requestedregion", "aws:useragent")


@rule("ACC008")
def policy_for_anybody(policy: AccessPolicy) -> Iterator[Finding]:
    """A role, a queue or a bucket is open to every account of AWS.

    `Principal: "*"` and `AWS: "*"` with `Allow` mean everybody (IAM user guide, Principal: "all users, including
    anonymous users"), unless a condition says who: `aws:PrincipalOrgID`, `aws:SourceAccount`, `sts:ExternalId`. A role
    that anybody may take on hands its rights to whoever guesses its name. A service in `Service` is not reported.

    ## Fails

        Resources:
          Trainer:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {AWS: "*"}, Action: sts:AssumeRole}]

        Resources:
          Events: {Type: AWS::SQS::Queue}
          Policy:
            Type: AWS::SQS::QueuePolicy
            Properties:
              Queues: [!Ref Events]
              PolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: "*", Action: sqs:SendMessage, Resource: !GetAtt Events.Arn}]

    ## Passes

        Resources:
          Trainer:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement:
                  - {Effect: Allow, Principal: {Service: pods.eks.amazonaws.com}, Action: sts:AssumeRole}
                  - Effect: Allow
                    Principal: {AWS: "*"}
                    Action: sts:AssumeRole
                    Condition: {StringEquals: {"aws:PrincipalOrgID": o-abcdefghij}}

        Resources:
          Events: {Type: AWS::SQS::Queue}
          Policy:
            Type: AWS::SQS::QueuePolicy
            Properties:
              Queues: [!Ref Events]
              PolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Deny, Principal: "*", Action: "sqs:*", Resource: "*"}]
    """
    what = _WHAT.get(policy.what)
    if what is None:
        return
    for statement in policy.statements:
        if statement.allows and _anybody(statement) and not _is_limited(statement):
            yield Finding(
                f"`{policy.logical}` {what}",
                statement.where("principals"),
                help="name the accounts, roles or services, or add a condition like `aws:PrincipalOrgID`",
            )


def _anybody(statement: Statement) -> bool:
    principals = statement.principals
    return "*" in principals or "*" in principals.get("AWS", ())


def _is_limited(statement: Statement) -> bool:
    """Whether a condition says who it is; one that is unknown may."""
    if "conditions" in statement.unread:
        return True
    return any(key not in _NO_LIMIT for key in statement.limiting_keys)
