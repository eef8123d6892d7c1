"""Two branches that edit different things of a Slurm cluster merge, in the spec and in what is written."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from merging import git
from running import Command

from tests.platforms.parallelcluster.clusters import FSX, spec

pytestmark = pytest.mark.slow

POOL = {"instanceTypes": ["m7i.2xlarge"], "zones": ["us-west-2b"], "nodes": 1}
JOB = {"nodes": 1, "image": "registry.test/train:1.0", "command": ["python3", "t.py"], "pool": "b"}
Parts = dict[str, dict[str, dict[str, Any]]]


def _base() -> Parts:
    """By key of the spec and by name; between two names there is always a line that nobody edits."""
    return {
        "nodePools": {"b": POOL, "d": POOL},
        "storage": {"b": {"fsxLustre": {"existing": FSX}}},
        "jobs": {"b": JOB, "d": {**JOB, "pool": "d"}},
    }


def _text(parts: Parts) -> str:
    body = spec(nodePools=None, storage=None, jobs=None, pool={}, job={})
    lines = [yaml.safe_dump(body, sort_keys=False)]
    for key, items in parts.items():
        lines.append(f"  {key}:\n")
        for name in "abcde":
            lines.append(f"  # {name}\n")
            if name in items:
                item = yaml.safe_dump({"name": name, **items[name]}, default_flow_style=True)
                lines.append(f"  - {' '.join(item.split())}\n")
    return "".join(lines)


def _new_job(parts: Parts) -> None:
    parts["jobs"]["a"] = JOB


def _changed_job(parts: Parts) -> None:
    parts["jobs"]["d"] = {**parts["jobs"]["d"], "command": ["python3", "u.py"], "rerun": 1}


def _new_pool(parts: Parts) -> None:
    parts["nodePools"]["c"] = POOL


def _larger_pool(parts: Parts) -> None:
    parts["nodePools"]["d"] = {**POOL, "nodes": 2}


def _new_storage(parts: Parts) -> None:
    other = {**FSX, "id": "fs-0a1b2c3d4e5f60799"}
    parts["storage"]["e"] = {"fsxLustre": {"existing": other}}


EDITS = (_new_job, _changed_job, _new_pool, _larger_pool, _new_storage)


@pytest.mark.parametrize(
    ("first", "second"), list(combinations(EDITS, 2)), ids=lambda edit: edit.__name__.strip("_")
)
def test_what_two_branches_wrote_is_what_the_merged_spec_compiles_to(
    first: Callable[[Parts], None],
    second: Callable[[Parts], None],
    trainyard: Command,
    tmp_path: Path,
) -> None:
    def commit(parts: Parts) -> None:
        (tmp_path / "lab.yaml").write_text(_text(parts))
        done = trainyard("compile", "lab.yaml", cwd=tmp_path)
        assert done.code == 0, done.err
        git(tmp_path, "add", "lab.yaml", "generated")
        git(tmp_path, "commit", "--quiet", "--message", "edit")

    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(_base())
    for name, edit in (("one", first), ("two", second)):
        git(tmp_path, "checkout", "--quiet", "-b", name, "main")
        parts = _base()
        edit(parts)
        commit(parts)
    git(tmp_path, "merge", "--quiet", "one")
    done = trainyard("compile", "--check", "lab.yaml", cwd=tmp_path)
    assert done.code == 0, done.out
