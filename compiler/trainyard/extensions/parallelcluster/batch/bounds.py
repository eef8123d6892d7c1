"""What a batch script cannot say of a job, and pods can: bash reads names, and pyxis parts mounts at commas."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.jobs.job import Job
from trainyard.language.places import Route
from trainyard.plan.context import Context

OF_THE_SCRIPT = frozenset(
    {
        *("state", "tries", "retries", "left", "stopped", "program", "status"),
        *("SLURM_JOB_ID", "SLURM_RESTART_COUNT"),
    }
)
"""Variables that the script itself works with."""
_READ_ONLY = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"})
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]*")
_BASH = "GNU Bash reference manual 5.2, Definitions (name) and Bash Variables"
_PYXIS = "NVIDIA pyxis, usage: --container-mounts=SRC:DST[:FLAGS][,SRC:DST...]"


def check_script(context: Context, job: Job) -> None:
    """Refuses variables that bash or the script would not leave to the program, and paths that pyxis would part."""
    for name, at in _variables(job):
        _check_variable(context, job, name, at)
    for path, at in _paths(job):
        if "," in path:
            context.fault(
                "RES383",
                f"pyxis parts the mounts of job `{job.spec.name}` at commas, and `{path}` has one",
                at,
                "write a path without a comma",
                source=_PYXIS,
            )


def _variables(job: Job) -> Iterator[tuple[str, Route]]:
    for name in job.spec.env:
        yield name, job.at / "env" / name
    for index, secret in enumerate(job.spec.secret_env):
        yield secret.env, job.at / "secretEnv" / index / "env"


def _paths(job: Job) -> Iterator[tuple[str, Route]]:
    for path in job.spec.files:
        yield path, job.at / "files" / path
    for index, mount in enumerate(job.spec.mounts):
        yield mount.path, job.at / "mounts" / index / "path"


def _check_variable(context: Context, job: Job, name: str, at: Route) -> None:
    if _NAME.fullmatch(name) is None:
        context.fault(
            "RES381",
            f"variable `{name}` of job `{job.spec.name}` is no name for bash, which runs the batch script",
            at,
            f"write letters, digits and `_`, like `{_name_like(name)}`",
            source=_BASH,
        )
    elif name in _READ_ONLY:
        context.fault(
            "RES381",
            f"variable `{name}` of job `{job.spec.name}` is one that bash lets nobody set",
            at,
            "remove it, or give it another name",
            source=_BASH,
        )
    elif name in OF_THE_SCRIPT:
        context.fault(
            "RES382",
            f"the batch script of job `{job.spec.name}` has a variable `{name}` of its own",
            at,
            "give it another name",
        )


def _name_like(name: str) -> str:
    shaped = re.sub("[^A-Za-z0-9_]", "_", name).upper()
    return f"_{shaped}" if shaped[:1].isdigit() else shaped
