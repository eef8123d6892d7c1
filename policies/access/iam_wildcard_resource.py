from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from trainyard.catalog.iam import limited_actions
from trainyard.core.cloud.plan import AccessPolicy, Statement
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.language.diagnostics.diagnostic import listed

_READING = ("describe", "get", "list", "batchget", "batchcheck", "head", "lookup", "search", "view")
_NAMED = 3  # actions that a message names
# Conditions that say how or from where a call is made, not what it is about.
_NOT_ABOUT_IT = ("aws:securetransport", "aws:requestedregion", "aws:useragent")


@rule("ACC007", severity=Severity.WARNING)
def iam_wildcard_resource(policy: AccessPolicy) -> Iterator[Finding]:
    """A policy allows changes of every resource, where AWS could limit them to some.

    The service authorization reference says of every action whether it can be limited to resources; a
    `*` that an action needs is no fault, nor is one of an action that only reads. A statement with a condition on tags,
    accounts or the like is not reported, as in Karpenter's own policies (v1.14.1). Nor are services whose
    actions are not known here, and about `service:*`, which ACC006 reports.

    ## Fails

        Resources:
          Nodes:
            Type: AWS::IAM::ManagedPolicy
            Properties:
              PolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Action: ["ec2:TerminateInstances", "ec2:DescribeInstances"], Resource: "*"}]

        Resources:
          Nodes:
            Type: AWS::IAM::ManagedPolicy
            Properties:
              PolicyDocument:
                Version: "2012-10-17"
                Statement:
                  Effect: Allow
                  Action: [iam:Pass*]
                  Resource: "*"
                  Condition: {Bool: {"aws:SecureTransport": "true"}}

    ## Passes

        Resources:
          Nodes:
            Type: AWS::IAM::ManagedPolicy
            Properties:
              PolicyDocument:
                Version: "2012-10-17"
                Statement:
                  - {Effect: Allow, Action: ["ec2:DescribeInstances", "ecr:BatchCheckLayerAvailability"], Resource: "*"}
                  - Effect: Allow
                    Action: ec2:TerminateInstances
                    Resource: "*"
                    Condition: {StringEquals: {"aws:ResourceTag/kubernetes.io/cluster/lab": owned}}
                  - {Effect: Allow, Action: iam:PassRole, Resource: !Sub "arn:aws:iam::${AWS::AccountId}:role/node"}
    """
    if not policy.gives_rights:
        return
    for statement in policy.statements:
        if not statement.allows or not statement.is_about_everything:
            continue
        if _has_narrowing_condition(statement):
            continue
        actions = [action for action in statement.actions if _could_be_limited(action)]
        if actions:
            shown = listed(actions[:_NAMED])
            if actions[_NAMED:]:
                more = f" and {len(actions) - _NAMED} more"
            else:
                more = ""
            yield Finding(
                f"`{policy.logical}` allows {shown}{more} on every resource",
                statement.where("resources"),
                help="name the ARNs that it is about, or add a condition on their tags",
            )


def _has_narrowing_condition(statement: Statement) -> bool:
    """Whether a condition says what the statement is about; one that is unknown may."""
    if "conditions" in statement.unread:
        return True
    return any(key not in _NOT_ABOUT_IT for key in statement.limiting_keys)


def _could_be_limited(action: str) -> bool:
    """Whether an action, or one of those that a pattern matches, changes something and can be limited."""
    service, _, name = action.lower().partition(":")
    if not name or name == "*" or name.startswith(_READING):
        return False
    known = limited_actions(service)
    if "*" in name or "?" in name:
        return any(fnmatchcase(action, name) for action in known)
    return name in known
