"""hyperpodrun: torchrun whose agent asks HyperPod's training operator for rank and master (PyPI hyperpod-elastic-agent
1.1.3). Jobs of ``kind: HyperPodPyTorchJob`` alone.

It is no key of ``launcher``: such a job has no other one, and no other kind has it.
"""

from __future__ import annotations

import re

from trainyard.catalog import hyperpod
from trainyard.catalog.torch import torch_of
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.launcher import Launcher
from trainyard.core.jobs.launchers.torchrun.resolve import check_torch
from trainyard.core.jobs.starters import first_named, launches_torchrun
from trainyard.plan.context import Context

PROGRAM = "hyperpodrun"
_AGENT = "PyPI hyperpod-elastic-agent 1.1.3"
_RANGE = re.compile(r"--nnodes[= ](\d+):(\d+)")


class HyperPodRun(Launcher):
    """All options of torchrun, and others for the operator; the operator starts, stops and ranks its processes."""

    framework = "hyperpod"

    def check(self, context: Context, job: Job) -> None:
        check_torch(context, job)
        _check_version(context, job)
        _check_program(context, job)
        _check_nodes(context, job)


def _check_program(context: Context, job: Job) -> None:
    """The operator waits for the agent in each pod: without it the job never starts."""
    words = [*job.spec.command, *job.spec.args]
    if first_named(words, (PROGRAM,)) is not None:
        return
    name = job.spec.name
    if launches_torchrun(words):
        context.fault(
            "RES332",
            f"the command of job `{name}` starts torchrun, and HyperPod's training operator starts jobs by the agent "
            f"of {PROGRAM}",
            job.at / "command",
            f"write `{PROGRAM}` instead, which has all options of torchrun; the image needs `hyperpod-elastic-agent`",
            source=_AGENT,
        )
        return
    context.doubt(
        "RES333",
        f"nothing in the command of job `{name}` starts {PROGRAM}, without which HyperPod's training operator never "
        "starts the job",
        job.at / "command",
        f"start the program by `{PROGRAM}`, unless a script in the image does",
        source=_AGENT,
    )


def _check_nodes(context: Context, job: Job) -> None:
    """Its number of nodes is one number, even of a job that grows: the operator says how many there are."""
    line = " ".join([*job.spec.command, *job.spec.args])
    bounds = _RANGE.search(line)
    if bounds is None or bounds[1] == bounds[2] or first_named([line], (PROGRAM,)) is None:
        return
    context.fault(
        "RES336",
        f"the command of job `{job.spec.name}` gives {PROGRAM} {bounds[1]} to {bounds[2]} nodes, and it takes one "
        "number",
        job.at / "command",
        "remove `--nnodes`, which is derived; `minNodes` makes the job elastic",
        source=f"{_AGENT}, run.py",
    )


def refused_torch(job: Job) -> tuple[int, int] | None:
    """The PyTorch of a job, where it is known to be one that the operator does not take."""
    version = torch_of(job.spec.image)
    said = job.spec.torch_version or job.image_torch
    if said is not None:
        major, minor, *_ = (int(part) for part in said.split("."))
        version = (major, minor)
    oldest, newest = hyperpod.operated_torch()
    if version is None or _number(oldest) <= version <= _number(newest):
        return None
    return version


def _check_version(context: Context, job: Job) -> None:
    """The PyTorch of the job, where it is known, is one that the operator takes."""
    version = refused_torch(job)
    if version is None:
        return
    at = job.at / ("image" if job.spec.torch_version is None else "torchVersion")
    oldest, newest = hyperpod.operated_torch()
    context.doubt(
        "RES334",
        f"job `{job.spec.name}` has PyTorch {version[0]}.{version[1]}, and HyperPod's training operator takes {oldest} "
        f"to {newest}",
        at,
        "take an image with one of these, or another kind of job",
        source=hyperpod.operator_source(),
    )


def _number(version: str) -> tuple[int, int]:
    major, minor = version.split(".")
    return int(major), int(minor)


LAUNCHER = HyperPodRun()
