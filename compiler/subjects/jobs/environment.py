"""What the program of a job is told: its own variables, where it saves, the network, the rendezvous."""

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
PORT = 29500
DOMAIN = "cluster.local"  # what nodeadm tells the kubelet (awslabs/amazon-eks-ami, internal/kubelet/config.go)
RENDEZVOUS_SECONDS = RECOVERY.seconds  # so long Kueue waits too
_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch")


def launches_torchrun(parts: Iterable[str]) -> bool:
    """Whether a command starts its processes with torchrun, directly or in a shell line."""
    return any(launcher in part for part in parts for launcher in _LAUNCHERS)


def flags(parts: Iterable[str]) -> set[str]:
    """The long options of a command and of the shell lines in it, with ``-`` for ``_``."""
    found: set[str] = set()
    for part in parts:
        try:
            words = shlex.split(part) if " " in part else [part]
        except ValueError:
            words = part.split()
        found.update(
            word.split("=")[0].replace("_", "-")
            for word in words
            if word.startswith("--")
        )
    return found


def rendezvous(context: Context, job: Job, name: str) -> list[EnvVar]:
    """torchrun reads each option from PET_*; Trainer injects nodes, rank and master, the rest is said here.

    The endpoint is the whole name, as the kubelet writes it into rank 0's own /etc/hosts: torchrun opens the store
    where the endpoint is its own machine (`_matches_machine_hostname`), and a shorter name is known there only once
    the service's record has spread. Before that rank 0 takes itself for a guest, and nobody opens the store.
    """
    parts = [*job.spec.command, *job.spec.args]
    if not launches_torchrun(parts):
        return []
    said = flags(parts)
    if "--standalone" in said:
        return []
    wanted = {
        "--rdzv-backend": ("PET_RDZV_BACKEND", "c10d"),
        "--rdzv-endpoint": (
            "PET_RDZV_ENDPOINT",
            f"{name}-node-0-0.{name}.{job.namespace}.svc.{DOMAIN}:{PORT}",
        ),
        "--rdzv-id": ("PET_RDZV_ID", name),
        "--rdzv-conf": ("PET_RDZV_CONF", _waits(RENDEZVOUS_SECONDS)),
        "--max-restarts": ("PET_MAX_RESTARTS", str(job.spec.retries.process)),
    }
    return [
        each
        for flag, (variable, value) in wanted.items()
        if flag not in said
        for each in _variable(
            context,
            job,
            variable,
            value,
            _WHY[variable],
            "torchrun reads every option from PET_*",
        )
    ]


def _waits(seconds: int) -> str:
    """How long a rank waits for the others, whichever backend the job takes.

    c10d reads `read_timeout` (60 s unless said: also how long it tries to reach rank 0) and `join_timeout` (600 s), the
    static backend `timeout` (PyTorch 2.8, torch/distributed/elastic/rendezvous; pytorch/pytorch#79388).
    """
    return ",".join(
        f"{each}={seconds}" for each in ("timeout", "join_timeout", "read_timeout")
    )


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
    for index, each in enumerate(job.spec.secrets):
        if each.env == name:
            at = job.at / "secrets" / index
            context.settle(
                job.target,
                f"env.{name}",
                f"from Secret {each.secret}",
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
    found = [EnvVar(key, value) for key, value in spec.env.items()]
    found += [
        EnvVar(each.env, secret=each.secret, key=each.key) for each in spec.secrets
    ]
    if spec.checkpoint is not None:
        at = job.at / "checkpoint"
        found += _variable(
            context,
            job,
            CHECKPOINT_ENV,
            spec.checkpoint.path,
            "where the program saves and resumes",
            follows=at / "path",
        )
        if spec.checkpoint.every is not None:
            found += _variable(
                context,
                job,
                CHECKPOINT_EVERY_ENV,
                str(spec.checkpoint.every.seconds),
                "how often the program saves, in seconds",
                follows=at / "every",
            )
        if spec.checkpoint.signal_file is not None:
            found += _variable(
                context,
                job,
                SIGNAL_FILE_ENV,
                spec.checkpoint.signal_file,
                "appears when the pod must stop; to be removed when all is saved",
                follows=at / "signalFile",
            )
    return tuple(found + _shutdown(context, job) + _network(context, job))


def _shutdown(context: Context, job: Job) -> list[EnvVar]:
    """How long torchrun waits for its ranks to save; the option in the command wins."""
    parts, seconds = [*job.spec.command, *job.spec.args], shutdown_seconds(job)
    if (
        seconds is None
        or not launches_torchrun(parts)
        or f"--{SHUTDOWN_OPTION}" in flags(parts)
    ):
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
