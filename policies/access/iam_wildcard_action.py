from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import AccessPolicy
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("ACC006", severity=Severity.WARNING)
def iam_wildcard_action(policy: AccessPolicy) -> Iterator[Finding]:
    """A policy allows every action of a service, or of all of them.

    With `*` on every resource its holder is an administrator, which is an error. With `service:*` it may delete what it
    works on, and change who may reach it (IAM user guide, security best practices: "Apply least-privilege
    permissions"). `NotAction` with `Allow` is the same from the other side: what AWS adds tomorrow is allowed.

    ## Fails

        Resources:
          Trainer:
            Type: AWS::IAM::ManagedPolicy
            Properties:
              PolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Action: "*", Resource: "*"}]

        Resources:
          Trainer:
            Type: AWS::IAM::Role
            Properties:
              AssumeRolePolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, Principal: {Service: pods.eks.amazonaws.com}, Action: sts:AssumeRole}]
              Policies:
                - PolicyName: checkpoints
                  PolicyDocument:
                    Version: "2012-10-17"
                    Statement: [{Effect: Allow, Action: ["s3:*"], Resource: !Sub "arn:aws:s3:::${Bucket}/*"}]

        Resources:
          Trainer:
            Type: AWS::IAM::ManagedPolicy
            Properties:
              PolicyDocument:
                Version: "2012-10-17"
                Statement: [{Effect: Allow, NotAction: "iam:*", Resource: "arn:aws:s3:::checkpoints"}]

    ## Passes

        Resources:
          Trainer:
            Type: AWS::IAM::ManagedPolicy
            Properties:
              PolicyDocument:
                Version: "2012-10-17"
                Statement:
                  - {Effect: Allow, Action: ["s3:GetObject", "s3:List*"], Resource: "arn:aws:s3:::checkpoints/*"}
                  - {Effect: Deny, Action: "*", Resource: "*", Condition: {Bool: {"aws:SecureTransport": "false"}}}
    """
    if not policy.gives_rights:
        return
    for statement in policy.statements:
        if not statement.allows:
            continue
        if statement.not_actions:
            yield Finding(
                f"`{policy.logical}` allows every action but {len(statement.not_actions)}",
                statement.where("not_actions"),
                help="name the actions that are needed, with `Action`",
            )
        for index, action in enumerate(statement.actions):
            service, _, name = action.rpartition(":")
            if not action or name.strip("*"):
                continue  # it is not known, or not every one
            service = service.strip("*")
            at = statement.where("actions")
            if len(statement.actions) > 1:
                at = at / index
            of = f"`{service}`" if service else "every service"
            is_administrator = not service and statement.is_about_everything
            yield Finding(
                f"`{policy.logical}` allows every action of {of}",
                at,
                help="name the actions that are needed, like `s3:GetObject`",
                severity=Severity.ERROR if is_administrator else None,
            )
