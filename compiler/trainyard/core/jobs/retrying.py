"""The default of ``retries``: how often a job is started again where its spec does not say.

Ten tries are for jobs that resume. A gang that has nowhere to save begins at step 0 each time: what fails it four times
fails it ten times, and each try holds all of its nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.catalog.object_stores import URL_SCHEMES

if TYPE_CHECKING:
    from trainyard.core.jobs import spec as spec_jobs
    from trainyard.core.jobs.job import Job
    from trainyard.core.jobs.keys import JobVolume

TRIES = 10
_FROM_STEP_0 = 3
_GONE_WITH_THE_POD = ("emptyDir", "nodeLocal")


def job_retries(job: Job) -> int:
    """How often all pods of a job are recreated."""
    given = job.spec.retries
    if given is not None:
        return given
    return derived_retries(job)


def derived_retries(job: Job) -> int:
    if job.kind.counts_each_try and job.spec.timeout is not None:
        return 0  # with more, the job would take that long several times
    if begins_at_step_0(job):
        return _FROM_STEP_0
    return TRIES


def begins_at_step_0(job: Job) -> bool:
    """Whether a gang has nothing left of what it trained when it is started again, as far as its spec says."""
    return job.has_peers and not _saves(job.spec)


def _saves(job: spec_jobs.Job) -> bool:
    if job.checkpoint is not None:
        return True
    if any(not mount.read_only for mount in job.mounts):
        return True
    if any(_outlives(volume) for volume in job.volumes):
        return True
    texts = [*job.command, *job.args, *job.env.values(), *job.files.values()]
    return any(scheme in text for text in texts for scheme in URL_SCHEMES)


def _outlives(volume: JobVolume) -> bool:
    """Whether what a program writes to a volume is there after its pod."""
    return not volume.is_read_only and volume.chosen not in _GONE_WITH_THE_POD
