"""What a batch script tells people: that its job hangs, goes on again, has failed.

AWS CLI reference, sns publish; GNU findutils, find: -newermt, -quit. Without Prometheus the script itself looks whether
its output or its checkpoints grow. A message that is not sent ends no job.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from trainyard.extensions.parallelcluster.batch.plan import BatchJob

_TEXT = """\
tell() {
  local topic message=WHAT" $1. $2 On the head node: scontrol show job $SLURM_JOB_ID"
  for topic in TOPICS; do
    aws sns publish --topic-arn "$topic" --region "$(cut -d : -f 4 <<<"$topic")" \\
      --subject "$SLURM_JOB_NAME $1" --message "$message" > /dev/null || echo "$topic was not told that the job $1" >&2
  done
}
watch() {
  local quiet=QUIET grew hangs=''
  while sleep 300; do
    grew=$(find FOLDERS -type f -newermt "$quiet seconds ago" -print -quit 2>/dev/null) || true
    if [ -z "$grew" ] && [ -z "$hangs" ]; then
      hangs=1
      tell hangs "No line of output and no checkpoint for $((quiet / 60)) minutes, while its nodes are paid."
    elif [ -n "$grew" ] && [ -n "$hangs" ]; then
      hangs=''
      tell "goes on" "It writes again."
    fi
  done
}
watch &
"""


def lines(job: BatchJob) -> Iterator[str]:
    """What tells, and the watch, which ends with the script."""
    output = f'{shlex.quote(job.output)}/"$SLURM_JOB_NAME-$SLURM_JOB_ID.out"'
    folders = [output, *([shlex.quote(job.saved)] if job.saved else [])]
    values = {
        "WHAT": shlex.quote(job.comment.removeprefix("trainyard ")),
        "TOPICS": " ".join(map(shlex.quote, job.told)),
        "QUIET": str(job.quiet),
        "FOLDERS": " ".join(folders),
    }
    text = _TEXT
    for name, value in values.items():
        text = text.replace(name, value, 1)
    return iter(text.splitlines())
