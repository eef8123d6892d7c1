"""torchrun: Trainer's policy ``torch`` gives it nodes, rank and master; the rest of its options is derived here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trainyard.catalog.torch import (
    AFTER_NEWEST,
    OLDEST,
    SHUTDOWN_OPTION,
    SHUTDOWN_SINCE,
    SHUTDOWN_TIMEOUT,
    torch_of,
)
from trainyard.core.jobs.job import Job, Kind
from trainyard.core.jobs.launchers.launcher import Launcher
from trainyard.core.jobs.retrying import job_retries
from trainyard.core.jobs.starters import launches_torchrun
from trainyard.core.jobs.stopping import hook_seconds, time_to_save
from trainyard.core.jobs.variables import variable
from trainyard.core.pods.plan import DOMAIN, EnvVar
from trainyard.core.pools.waits import RECOVERY
from trainyard.language.places import Route
from trainyard.language.shellwords import split
from trainyard.plan.context import Context

RENDEZVOUS_SECONDS = RECOVERY.seconds  # so long Kueue waits too
_ENDS = 15  # seconds in which torchrun kills what still runs and ends itself


class Torchrun(Launcher):
    """torchrun, or a program without a launcher: it may ignore the variables."""

    framework = "torch"

    def launches(self, parts: Iterable[str]) -> bool:
        """Whether a command starts torchrun."""
        return launches_torchrun(parts)

    def check(self, context: Context, job: Job) -> None:
        """The version of PyTorch, by which torchrun's variables are chosen."""
        check_torch(context, job)

    def environment(self, context: Context, job: Job) -> list[EnvVar]:
        """How long torchrun waits for its ranks to save; the option in the command wins."""
        seconds = shutdown_seconds(context, job)
        spec = job.spec
        parts = [*spec.command, *spec.args]
        if seconds is None or not self.launches(parts):
            return []
        if f"--{SHUTDOWN_OPTION}" in flags(parts):
            return []
        if job.spec.torch_version is not None:
            follows = job.at / "torchVersion"
        else:
            follows = job.at / "image"
        return variable(
            context,
            job,
            SHUTDOWN_TIMEOUT,
            str(seconds),
            "torchrun kills its ranks 30 seconds after the signal to stop, unless an option sets another time",
            "torch 2.12.0, torch/distributed/launcher/api.py",
            follows=follows,
        )

    def rendezvous(self, context: Context, job: Job, name: str) -> list[EnvVar]:
        """torchrun reads each option from PET_*; Trainer injects nodes, rank and master, the rest is said here.

        The endpoint is the whole name, as the kubelet writes it into rank 0's own /etc/hosts: torchrun opens the store
        where the endpoint is its own machine (`_matches_machine_hostname`), and a shorter name is known there only once
        the service's record has spread. Before that rank 0 takes itself for a guest, and nobody opens the store.
        """
        spec = job.spec
        parts = [*spec.command, *spec.args]
        if not self.launches(parts):
            return []
        written = flags(parts)
        if "--standalone" in written:
            return []
        host = job.kind.host(job, name)
        derived = {
            "--rdzv-backend": ("PET_RDZV_BACKEND", "c10d"),
            "--rdzv-endpoint": ("PET_RDZV_ENDPOINT", f"{host}:{job.kind.port}"),
            "--rdzv-id": ("PET_RDZV_ID", name),
            "--rdzv-conf": ("PET_RDZV_CONF", _waits(RENDEZVOUS_SECONDS)),
            "--max-restarts": ("PET_MAX_RESTARTS", str(process_retries(job))),
        }
        source = "torchrun reads every option from PET_*"
        variables = []
        for flag, (option, value) in derived.items():
            if flag not in written:
                why = _WHY[option]
                variables += variable(context, job, option, value, why, source)
        return variables

    def identity(self, job: Job) -> Mapping[str, object]:
        """All of the rendezvous but the name."""
        retries = process_retries(job)
        return {"rendezvous": [DOMAIN, int(Kind.port), RENDEZVOUS_SECONDS, retries]}

    def places(self, job: Job) -> Mapping[str, Route]:
        return {
            f"env.{SHUTDOWN_TIMEOUT}": job.at / "torchVersion",
            "env.PET_MAX_RESTARTS": job.at / "maxRestarts",
            "env.PET_NPROC_PER_NODE": job.at / "processesPerNode",
        }

    def explain(self, context: Context, job: Job) -> None:
        why = "torchrun restarts lost processes in place, before the whole gang is restarted"
        source = ""
        if not _derived_retries(job):
            why = "a start on the same device is lost: the whole gang starts again, on nodes that are not sick"
            source = _HARDWARE
        context.settle(
            job.target,
            "maxRestarts",
            job.spec.max_restarts,
            _derived_retries(job),
            why,
            source,
            at=job.at / "maxRestarts",
        )


_HARDWARE = "arXiv:2407.21783, section 3.3.4: 78% of unexpected interruptions are hardware's"
_IN_PLACE = 3


def process_retries(job: Job) -> int:
    """How often torchrun starts its processes again in place."""
    given = job.spec.max_restarts
    if given is not None:
        return given
    return _derived_retries(job)


def _derived_retries(job: Job) -> int:
    """None on accelerators, where a try in place is one more start on a device that is most likely broken, as long as
    the whole gang starts again."""
    kind = job.kind
    starts_again = job_retries(job) and (kind.restarts_gang or kind.leaves_broken_nodes)
    if job.pool.instance.accelerators and starts_again:
        return 0
    return _IN_PLACE


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
        return split(part)
    except ValueError:
        return part.split()


def _waits(seconds: int) -> str:
    """How long a rank waits for the others, whichever backend the job takes.

    c10d reads `read_timeout` (60 s unless said: also how long it tries to reach rank 0) and `join_timeout` (600 s), the
    static backend `timeout` (PyTorch 2.8, torch/distributed/elastic/rendezvous; pytorch/pytorch#79388).
    """
    names = ("timeout", "join_timeout", "read_timeout")
    return ",".join(f"{name}={seconds}" for name in names)


_WHY = {
    "PET_RDZV_BACKEND": "static rendezvous cannot restart processes",
    "PET_RDZV_ENDPOINT": "rank 0, by the whole name that its node knows itself by",
    "PET_RDZV_ID": "one rendezvous a run",
    "PET_RDZV_CONF": "as long as a node takes to be repaired, to come up and to pull its image",
    "PET_MAX_RESTARTS": "how often processes restart in place, before the whole gang does",
}


def shutdown_seconds(context: Context, job: Job) -> int | None:
    """How long torchrun is to wait for its ranks; ``None`` where the job has no torchrun that is known to listen.

    What a preStop hook has waited is over: its program has saved."""
    version = _torch(job)
    if version is None or version < SHUTDOWN_SINCE:
        return None
    seconds = time_to_save(context, job).seconds - hook_seconds(context, job)
    return max(seconds - _ENDS, seconds // 2, 1)


def check_torch(context: Context, job: Job) -> None:
    """The version of PyTorch that a job says: one that there may be, and that of its image where the tag has one."""
    said = job.spec.torch_version
    if said is None:
        return
    version = tuple(int(part) for part in said.split("."))
    known = torch_of(job.spec.image)
    if known is not None and version[:2] != known:
        context.doubt(
            "RES284",
            f"job `{job.spec.name}` says PyTorch {said}, and its image has {'.'.join(map(str, known))} by its tag",
            job.at / "torchVersion",
            "remove `torchVersion`: it is for images whose tag does not say it",
        )
    elif not OLDEST <= version[:2] < AFTER_NEWEST:
        context.doubt(
            "RES284",
            f"there is no PyTorch {said} that is known",
            job.at / "torchVersion",
            "write what `python -c 'import torch; print(torch.__version__)'` prints in the image",
            source="PyTorch releases",
        )


def _torch(job: Job) -> tuple[int, ...] | None:
    """The PyTorch of a job: what the spec says of it or of its image, or else the tag of that."""
    version = job.spec.torch_version or job.image_torch
    if version is None:
        return torch_of(job.spec.image)
    return tuple(int(part) for part in version.split("."))


LAUNCHER = Torchrun()
