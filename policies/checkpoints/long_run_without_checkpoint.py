from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Severity
from compiler.model.work import Work
from compiler.plan.units import Duration
from compiler.policy.rule import Finding, rule
from compiler.policy.world import World

_OF_THE_POD = (
    "emptyDir",
    "ephemeral",
    "configMap",
    "secret",
    "projected",
    "downwardAPI",
    "",
)
_ELSEWHERE = (
    "s3://",
    "s3a://",
    "gs://",
    "hdfs://",
    "hf://",
    "abfs://",
    "abfss://",
    "wandb://",
)


@rule("RUN041", severity=Severity.WARNING, params={"hours": 24, "restarts": 20})
def long_run_without_checkpoint(
    work: Work,
    world: World,
) -> Iterator[Finding]:
    """A job may run for days or restart many times, and has nowhere to save.

    No storage is mounted and no bucket named, so that a restart begins at step 0: of 16,384 GPUs one failed every three
    hours in the training of Llama 3 (arXiv:2407.21783, section 3.3.4), and a restart after 71 hours repeats 71 hours.
    A job of at most `hours` and `restarts` is accepted.

    ## Fails

        jobs: [{name: llama, timeout: 72h}]

        jobs: [{name: llama, retries: {job: 50}}]

        # params: {hours: 8}
        jobs: [{name: llama, timeout: 12h}]

        # params: {restarts: 5}
        jobs: [{name: llama, retries: {job: 10}}]

    ## Passes

        jobs: [{name: llama, timeout: 12h}]

        # params: {hours: 72, restarts: 50}
        jobs: [{name: llama, timeout: 72h, retries: {job: 50}}]

        jobs: [{name: llama, timeout: 72h, env: {SAVE_TO: "s3://team-runs/llama"}}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, mountName: abcdefgh, size: 4800Gi,
          version: "2.15"}}}]
        jobs: [{name: llama, timeout: 72h, mounts: [{storage: data, path: /data}]}]
    """
    if work.main is None or work.pod is None:
        return
    if work.runtime is None or _saves(work):
        return
    deadline = work.deadline or 0
    restarts = work.runtime.max_restarts or 0
    help = "mount a volume and save there, or name a bucket that the program saves to"
    spec_help = "mount a storage and save there (`checkpoint:`), or name a bucket that the program saves to"
    if deadline > world.param("hours") * 3600:
        yield Finding(
            f"job `{work.name}` may take {Duration(deadline)}, and has nowhere to save",
            work.where("deadline"),
            label="a restart begins at step 0",
            help=help,
            spec_help=spec_help,
        )
    elif restarts > world.param("restarts"):
        yield Finding(
            f"job `{work.name}` may restart {restarts} times, and has nowhere to save",
            work.runtime.where("max_restarts"),
            label="each restart begins at step 0",
            help=help,
            spec_help=spec_help,
        )


def _saves(work: Work) -> bool:
    """Whether anything that outlives the pods is known to the job, or may be."""
    if work.pod is not None:
        volumes = work.pod.volumes
    else:
        volumes = ()
    if any(volume.type not in _OF_THE_POD for volume in volumes):
        return True
    if "CHECKPOINT_DIR" in work.env or "volumes" in work.unread:
        return True
    texts = [*work.words, *filter(None, work.env.values())]
    return any(scheme in text for text in texts for scheme in _ELSEWHERE)
