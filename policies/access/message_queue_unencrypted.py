from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.cloud.plan import MessageQueue
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity


@rule("ACC009", severity=Severity.WARNING)
def message_queue_unencrypted(queue: MessageQueue) -> Iterator[Finding]:
    """A queue of SQS keeps its messages unencrypted.

    SQS encrypts with a key of its own unless that is switched off: "When SqsManagedSseEnabled is not defined, SSE-SQS
    encryption is enabled by default" (AWS::SQS::Queue, CloudFormation template reference). It costs nothing, and a
    queue without it fails the checks of Security Hub (SQS.1).

    ## Fails

        Resources:
          Interruptions:
            Type: AWS::SQS::Queue
            Properties: {SqsManagedSseEnabled: false}

    ## Passes

        Resources:
          Interruptions:
            Type: AWS::SQS::Queue
            Properties: {MessageRetentionPeriod: 300}

        Resources:
          Interruptions:
            Type: AWS::SQS::Queue
            Properties: {SqsManagedSseEnabled: false, KmsMasterKeyId: alias/aws/sqs}
    """
    if queue.managed_encryption is False and not queue.key:
        yield Finding(
            f"the messages of queue `{queue.logical}` are not encrypted",
            queue.where("managed_encryption"),
            help="leave `SqsManagedSseEnabled` out, or name a key in `KmsMasterKeyId`",
        )
