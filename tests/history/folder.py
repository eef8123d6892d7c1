"""A folder with a spec that was compiled, and so submitted; and what tests of its changes ask of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from builders import dumped
from running import Command, Run, contents

QUEUES = [
    {"name": "research", "namespaces": ["team-a"], "quota": [{"pool": "gpu", "nodes": 4}]},
    {"name": "other", "namespaces": ["team-b"], "quota": [{"pool": "cpu", "nodes": 1}]},
]
SECOND_POOL = {
    "name": "cpu",
    "instanceTypes": ["p5.48xlarge"],
    "zones": ["us-west-2b"],
    "nodes": {"max": 1},
}


def write(folder: Path, data: Any) -> None:
    (folder / "spec.yaml").write_text(dumped(data))


def compiled(folder: Path, trainyard: Command, data: Any) -> Run:
    """Write the spec and compile it."""
    write(folder, data)
    return trainyard("compile", "spec.yaml", cwd=folder)


def train_jobs(folder: Path) -> dict[str, bytes]:
    """Jobs and runtimes of the output."""
    found = contents(folder / "generated" / "lab")
    return {
        path: data for path, data in found.items() if path.startswith(("jobs/", "queues/runtimes/"))
    }


def runs(folder: Path) -> dict[str, dict[str, Any]]:
    """What is remembered of runs, by the name of their object."""
    found = {}
    for path, data in contents(folder / "generated" / "lab" / "runs").items():
        found[Path(path).stem.partition(".")[2]] = json.loads(data)
    return found


def only_object(folder: Path, job: str) -> str:
    """The name of a job's only run."""
    (name,) = [name for name, run in runs(folder).items() if run["job"] == job]
    return name


def codes(done: Run) -> set[str]:
    """The codes that a command reported."""
    return set(re.findall(r"^\w+\[(\w+)\]: ", done.out, re.MULTILINE))
