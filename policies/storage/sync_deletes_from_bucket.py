from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.shell import Command, commands_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity
from trainyard.plan import Plan

_SYNCS = (("aws", "s3", "sync"), ("s5cmd", "sync"))


@rule("RUN073", severity=Severity.WARNING)
def sync_deletes_from_bucket(plan: Plan) -> Iterator[Finding]:
    """A copy to a bucket deletes there what its source does not have.

    With `--delete`, `aws s3 sync` removes every object of the destination that is not in the source (AWS CLI 2, s3
    sync; s5cmd 2.3, sync): from a pod whose folder is empty, or not mounted, it removes all. Data that others read,
    and checkpoints, are worth more than the room that they take.

    ## Fails

        apiVersion: batch/v1
        kind: CronJob
        metadata: {name: upload, namespace: team-a}
        spec:
          schedule: "0 3 * * *"
          jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: aws,
            image: "public.ecr.aws/aws-cli/aws-cli:2.31.0",
            command: [aws, s3, sync, /data, "s3://training-data", --delete]}]}}}}

        jobs: [{name: llama, command: [bash, -c, "torchrun train.py && aws s3 sync --delete /data s3://runs/llama"]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "torchrun train.py; aws s3 sync /data s3://runs/llama"]}]

        jobs: [{name: llama, command: [bash, -c, "aws s3 sync --delete s3://data /scratch && exec torchrun train.py"]}]
    """
    for said in plan.once(commands_of):
        bucket = _emptied(said.words)
        if bucket:
            yield Finding(
                f"{said.title} deletes from `{bucket}` what is not in the folder that it copies",
                said.at,
                label="of an empty folder: everything",
                help="remove `--delete`; a lifecycle rule of the bucket removes what is old",
            )


def _emptied(words: Command) -> str:
    """The destination in S3 of a copy that deletes; empty for other commands."""
    sync = next((sync for sync in _SYNCS if words[: len(sync)] == sync), ())
    if not sync or "--delete" not in words:
        return ""
    places = [word for word in words[len(sync) :] if word.startswith(("s3://", "/", "."))]
    has_source = len(places) > 1 and places[1].startswith("s3://")
    return places[1] if has_source else ""
