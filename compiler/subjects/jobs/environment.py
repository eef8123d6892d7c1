"""The environment of a job's program: its own variables, where it saves, the network, the rendezvous."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from compiler.resolve.context import Context
from compiler.source import Route
from compiler.subjects.jobs.binding import Job
from compiler.subjects.jobs.plan import EnvVar
from compiler.subjects.jobs.stopping import (
    SHUTDOWN_OPTION,
    SHUTDOWN_TIMEOUT,
    SIGNAL_FILE_ENV,
    shutdown_seconds,
)
from compiler.subjects.queues.resolve import RECOVERY

CHECKPOINT_ENV = "CHECKPOINT_DIR"
CHECKPOINT_EVERY_ENV = "CHECKPOINT_EVERY_SECONDS"
CHECKPOINT_KEEP_ENV = "CHECKPOINT_KEEP"
CHECKPOINT_KEEP_ENV = "CHECKPOINT_KEEP"
PORT = 29500
DOMAIN = "cluster.local"  # nodeadm configures it in the kubelet (awslabs/amazon-eks-ami, internal/kubelet/config.go)
RENDEZVOUS_SECONDS = RECOVERY.seconds  # so long Kueue waits too
_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")


def launches_torchrun(parts: Iterable[str]) -> bool:
    """Whether a command starts its processes with torchrun, directly or in a shell line."""
    return any(launcher in part for part in parts for launcher in _LAUNCHERS)


def flags(parts: Iterable[str]) -> set[str]:
    """The long options of a command and of the shell lines in it, with ``-`` for ``_``."""
    options: set[str] = set()
    for part in parts:
        for word in _words(part):
            if word.startswith("--"):
                name, _, _ = word.partition("=")
                options.add(name.replace("_", "-"))
    return options


def _words(part: str) -> list[str]:
    if " " not in part:
        return [part]
    try:
        return shlex.split(part)
    except ValueError:
        return part.split()


def rendezvous(context: Context, job: Job, name: str) -> list[EnvVar]:
    """torchrun reads each option from PET_*; Trainer injects nodes, rank and master, the rest is said here.

    The endpoint is the whole name, as the kubelet writes it into rank 0's own /etc/hosts: torchrun opens the store
    where the endpoint is its own machine (`_matches_machine_hostname`), and a shorter name is known there only once
    the service's record has spread. Before that rank 0 takes itself for a guest, and nobody opens the store.
    """
    parts = [*job.spec.command, *job.spec.args]
    if not launches_torchrun(parts):
        return []
    written = flags(parts)
    if "--standalone" in written:
        return []
    host = f"{name}-node-0-0.{name}.{job.namespace}.svc.{DOMAIN}"
    derived = {
        "--rdzv-backend": ("PET_RDZV_BACKEND", "c10d"),
        "--rdzv-endpoint": ("PET_RDZV_ENDPOINT", f"{host}:{PORT}"),
        "--rdzv-id": ("PET_RDZV_ID", name),
        "--rdzv-conf": ("PET_RDZV_CONF", _waits(RENDEZVOUS_SECONDS)),
        "--max-restarts": ("PET_MAX_RESTARTS", str(job.spec.retries.process)),
    }
    source = "torchrun reads every option from PET_*"
    variables = []
    for flag, (variable, value) in derived.items():
        if flag not in written:
            why = _WHY[variable]
            variables += _variable(context, job, variable, value, why, source)
    return variables


def _waits(seconds: int) -> str:
    """How long a rank waits for the others, whichever backend the job takes.

    c10d reads `read_timeout` (60 s unless said: also how long it tries to reach rank 0) and `join_timeout` (600 s), the
    static backend `timeout` (PyTorch 2.8, torch/distributed/elastic/rendezvous; pytorch/pytorch#79388).
    """
    names = ("timeout", "join_timeout", "read_timeout")
    return ",".join(f"{name}={seconds}" for name in names)


def _variable(
    context: Context,
    job: Job,
    name: str,
    value: str,
    reason: str,
    source: str = "",
    *,
    follows: Route | None = None,
) -> list[EnvVar]:
    """A variable that is derived, unless the job sets it itself."""
    for index, secret in enumerate(job.spec.secrets):
        if secret.env == name:
            at = job.at / "secrets" / index
            context.settle(
                job.target,
                f"env.{name}",
                f"from Secret {secret.secret}",
                value,
                reason,
                source,
                at=at,
            )
            return []
    own = job.spec.env.get(name)
    context.settle(
        job.target,
        f"env.{name}",
        own,
        value,
        reason,
        source,
        at=job.at / "env" / name,
        follows=follows,
    )
    return [EnvVar(name, value)] if own is None else []


_WHY = {
    "PET_RDZV_BACKEND": "static rendezvous cannot restart processes",
    "PET_RDZV_ENDPOINT": "the pod of rank 0, by the whole name that it knows itself by",
    "PET_RDZV_ID": "one rendezvous a run",
    "PET_RDZV_CONF": "as long as a node takes to be repaired, to come up and to pull its image",
    "PET_MAX_RESTARTS": "processes restart in place before the whole gang does",
}


def environment(context: Context, job: Job) -> tuple[EnvVar, ...]:
    """All variables but those of the rendezvous, which carry the job's name."""
    spec = job.spec
    variables = [EnvVar(name, value) for name, value in spec.env.items()]
    variables += [
        EnvVar(secret.env, secret=secret.secret, key=secret.key)
        for secret in spec.secrets
    ]
    variables += _checkpoint(context, job)
    variables += _shutdown(context, job)
    variables += _network(context, job)
    return tuple(variables)


def _checkpoint(context: Context, job: Job) -> list[EnvVar]:
    checkpoint = job.spec.checkpoint
    if checkpoint is None:
        return []
    at = job.at / "checkpoint"
    variables = _variable(
        context,
        job,
        CHECKPOINT_ENV,
        checkpoint.path,
        "where the program saves and resumes",
        follows=at / "path",
    )
    if checkpoint.every is not None:
        variables += _variable(
            context,
            job,
            CHECKPOINT_EVERY_ENV,
            str(checkpoint.every.seconds),
            "how often the program saves, in seconds",
            follows=at / "every",
        )
    if checkpoint.keep is not None:
        variables += _variable(
            context,
            job,
            CHECKPOINT_KEEP_ENV,
            str(checkpoint.keep),
            "how many checkpoints the program keeps",
            follows=at / "keep",
        )
    if checkpoint.signal_file is not None:
        variables += _variable(
            context,
            job,
            SIGNAL_FILE_ENV,
            checkpoint.signal_file,
            "appears when the pod must stop; to be removed when all is saved",
            follows=at / "signalFile",
        )
    return variables


def _shutdown(context: Context, job: Job) -> list[EnvVar]:
    """How long torchrun waits for its ranks to save; the option in the command wins."""
    seconds = shutdown_seconds(job)
    parts = [*job.spec.command, *job.spec.args]
    if seconds is None or not launches_torchrun(parts):
        return []
    if f"--{SHUTDOWN_OPTION}" in flags(parts):
        return []
    follows = job.at / "torch" if job.spec.torch is not None else job.at / "image"
    return _variable(
        context,
        job,
        SHUTDOWN_TIMEOUT,
        str(seconds),
        "torchrun kills its ranks 30 seconds after the signal to stop, unless it is told otherwise",
        "torch 2.12.0, torch/distributed/launcher/api.py",
        follows=follows,
    )


def _network(context: Context, job: Job) -> list[EnvVar]:
    """Only what the plugin does not choose itself: it sets provider, protocol, tuner and topology by instance type."""
    if not job.pool.efa or job.spec.nodes == 1 or not job.pool.instance.gpus:
        return []
    return _variable(
        context,
        job,
        "NCCL_NET",
        _PLUGIN,
        "without the EFA plugin NCCL stops, rather than use TCP",
        "aws-ofi-nccl v1.21.1 nccl_ofi_interface_nvidia.cpp (this name in all versions)",
    )


_PLUGIN = "AWS Libfabric"
