"""The environment variables of a job's program: its own, the checkpoint's, the network's, the rendezvous'."""

from __future__ import annotations

from trainyard.core.jobs.flight_recorder import flight_recorder
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import launcher_of
from trainyard.core.jobs.stopping import SIGNAL_FILE_ENV
from trainyard.core.jobs.variables import variable
from trainyard.core.pods.plan import EnvVar
from trainyard.language.units import Quantity
from trainyard.plan.context import Context

CHECKPOINT_ENV = "CHECKPOINT_DIR"
CHECKPOINT_EVERY_ENV = "CHECKPOINT_EVERY_SECONDS"
CHECKPOINT_KEEP_ENV = "CHECKPOINT_KEEP"


def environment(context: Context, job: Job) -> tuple[EnvVar, ...]:
    """All variables but those of the rendezvous, which carry the job's name."""
    spec = job.spec
    own = spec.env.items()
    variables = [EnvVar(name, value) for name, value in own]
    variables += [
        EnvVar(secret.env, secret=secret.secret, key=secret.key) for secret in spec.secret_env
    ]
    variables += _checkpoint(context, job)
    variables += flight_recorder(context, job)
    variables += launcher_of(job).environment(context, job)
    variables += _network(context, job)
    return tuple(variables)


def _checkpoint(context: Context, job: Job) -> list[EnvVar]:
    checkpoint = job.spec.checkpoint
    if checkpoint is None:
        return []
    at = job.at / "checkpoint"
    variables = variable(
        context,
        job,
        CHECKPOINT_ENV,
        checkpoint.path,
        "where the program saves and resumes",
        follows=at / "path",
    )
    if checkpoint.every is not None:
        variables += variable(
            context,
            job,
            CHECKPOINT_EVERY_ENV,
            str(checkpoint.every.seconds),
            "how often the program saves, in seconds",
            follows=at / "every",
        )
    if checkpoint.keep is not None:
        variables += variable(
            context,
            job,
            CHECKPOINT_KEEP_ENV,
            str(checkpoint.keep),
            "how many checkpoints the program keeps",
            follows=at / "keep",
        )
    if checkpoint.signal_file is not None:
        variables += variable(
            context,
            job,
            SIGNAL_FILE_ENV,
            checkpoint.signal_file,
            "appears when the pod must stop; to be removed when all is saved",
            follows=at / "signalFile",
        )
    return variables


def _network(context: Context, job: Job) -> list[EnvVar]:
    """Only what the plugin does not choose itself: it sets provider, protocol, tuner and topology by instance type."""
    if not job.pool.efa or not job.has_peers:
        return []
    variables = []
    if job.pool.instance.gpus:
        variables += variable(
            context,
            job,
            "NCCL_NET",
            _PLUGIN,
            "without the EFA plugin NCCL stops, rather than use TCP",
            "aws-ofi-nccl v1.21.1 nccl_ofi_interface_nvidia.cpp (this name in all versions)",
        )
    share = job.pool.share
    if share.huge_pages == Quantity(0):
        variables += variable(
            context, job, "FI_EFA_USE_HUGE_PAGE", "0", share.no_huge_pages, "libfabric fi_efa(7)"
        )
    return variables


_PLUGIN = "AWS Libfabric"
