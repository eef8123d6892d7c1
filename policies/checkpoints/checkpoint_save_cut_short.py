from __future__ import annotations

from collections.abc import Iterator

from trainyard.catalog.torch import (
    SHUTDOWN_OPTION,
    SHUTDOWN_SECONDS,
    SHUTDOWN_SINCE,
    SHUTDOWN_TIMEOUT,
    torch_of,
)
from trainyard.judge.model.command import launches, named_options, starts
from trainyard.judge.model.images import runs
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.language.units import Duration


@rule(
    "RUN031",
    gangs=True,
    roles=True,
    aliases=("saving-cut-short",),
    severity=Severity.WARNING,
    params={"seconds": 60},
)
def checkpoint_save_cut_short(work: Work, world: World) -> Iterator[Finding]:
    """A job has a long grace period to save, and its launcher kills the ranks sooner.

    On SIGTERM torchrun passes the signal on, and kills what still runs 30 seconds later, whatever the pod's
    `terminationGracePeriodSeconds` or `--signal` of a batch script (torch/distributed/elastic/agent/server/api.py).
    PyTorch 2.12 reads another time from `TORCH_ELASTIC_SHUTDOWN_TIMEOUT` or `--shutdown-timeout`; 2.11 and before
    have neither (the wheels torch 2.11.0 and 2.12.0; pytorch/pytorch#172596). mpirun gives its ranks a second (Open
    MPI 4.1.6, odls_base_sigkill_timeout).

    What works with every version is a `preStop` hook: SIGTERM comes only when it has ended. `checkpoint.signalFile` in
    a spec writes one that creates a file and waits until the program, which looks for it every few steps, has saved and
    removed it. A grace period of up to `seconds` is taken for the time to end, not to save.

    ## Fails

        jobs: [{name: llama, terminationGracePeriod: 10m}]

        jobs: [{name: llama, terminationGracePeriod: 10m, torchVersion: "2.11"}]

        jobs: [{name: llama, terminationGracePeriod: 10m,
          image: "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2",
          env: {TORCH_ELASTIC_SHUTDOWN_TIMEOUT: "585"}}]

        # params: {seconds: 30}
        jobs: [{name: llama, terminationGracePeriod: 45s}]

        jobs: [{name: llama, terminationGracePeriod: 10m, launcher: {mpi: {}}, command: [mpirun, python, train.py]}]

    ## Passes

        jobs: [{name: llama, terminationGracePeriod: 10m, torchVersion: "2.12"}]

        jobs: [{name: llama, terminationGracePeriod: 45s}]

        # params: {seconds: 600}
        jobs: [{name: llama, terminationGracePeriod: 10m}]

        jobs: [{name: llama, terminationGracePeriod: 10m, image: "pytorch/pytorch:2.12.0-cuda13.0-cudnn9-runtime"}]

        storage: [{name: data, fsxLustre: {existing: {id: fs-0a1b2c3d4e5f60718, mountName: abcdefgh, size: 4800Gi,
          version: "2.15"}}}]
        jobs: [{name: llama, mounts: [{storage: data, path: /data}],
          checkpoint: {path: /data/llama, signalFile: /tmp/save-now}}]
    """
    main = work.main
    by_mpi = work.framework == "mpi" and starts(work.words, "mpirun")
    if work.has_pods and main is None:
        return
    if not by_mpi and not launches(work.words):
        return
    grace, at = work.grace
    if grace is None or grace <= world.param("seconds"):
        return
    if main is not None and (main.pre_stop or "pre_stop" in main.unread):
        return
    patched = [patch.pod.grace_seconds for patch in work.patches]
    if work.queued and any(seconds is not None for seconds in patched):
        return  # RUN004 reports that it never starts
    if by_mpi:
        yield from _by_mpi(work, grace, at)
        return
    version, given = torch_of(runs(work)[1]), _given(work)
    if given is not None and (version is None or version >= SHUTDOWN_SINCE):
        return
    known = ""
    if version and given:
        number = f"{version[0]}.{version[1]}"
        known = f", and PyTorch {number} has no `{SHUTDOWN_TIMEOUT}`"
    yield Finding(
        f"{work.title} has {Duration(grace)} to save, and torchrun kills its ranks after {SHUTDOWN_SECONDS} "
        f"seconds{known}",
        at,
        label="a longer save is lost",
        help=_help(version, grace, _hook(work)),
        spec_help=_spec_help(version, _hook_of_spec(work)),
    )


def _by_mpi(work: Work, grace: int, at: Route) -> Iterator[Finding]:
    option, variable = "odls_base_sigkill_timeout", "OMPI_MCA_odls_base_sigkill_timeout"
    if variable in work.env:
        return
    if any(option in word for word in work.words):
        return
    yield Finding(
        f"{work.title} has {Duration(grace)} to save, and mpirun kills its ranks a second after "
        "the signal to stop",
        at,
        label="a longer save is lost",
        help="save in a `preStop` hook",
        spec_help="give `checkpoint.signalFile`",
    )


def _given(work: Work) -> str | None:
    """How long torchrun waits after SIGTERM, by its option or a variable."""
    option = named_options(work.words).get(SHUTDOWN_OPTION)
    variable = work.env.get("PET_SHUTDOWN_TIMEOUT")
    return option or variable or work.env.get(SHUTDOWN_TIMEOUT)


def _hook(work: Work) -> str:
    """What works with every PyTorch."""
    if work.has_pods:
        return "save in a `preStop` hook"
    return f"save within {SHUTDOWN_SECONDS} seconds"


def _hook_of_spec(work: Work) -> str:
    """The key for it; a job of Slurm has no hook before the signal, and no key for one."""
    return "give `checkpoint.signalFile`" if work.has_pods else _hook(work)


def _help(version: tuple[int, int] | None, grace: int, hook: str) -> str:
    """What works with the PyTorch of the image."""
    if version is not None and version < SHUTDOWN_SINCE:
        return f"take an image of PyTorch 2.12, or {hook}"
    longer = f'set `{SHUTDOWN_TIMEOUT}: "{grace - 15}"`'
    return f"{longer} where the image has PyTorch 2.12 or newer; else {hook}"


def _spec_help(version: tuple[int, int] | None, hook: str) -> str:
    if version is not None and version < SHUTDOWN_SINCE:
        return f"take an image of PyTorch 2.12, or {hook}"
    return f'write `torchVersion: "2.12"` where the image has PyTorch 2.12 or newer; else {hook}'
