"""Words that people bring from Kubernetes, Slurm, SkyPilot and SageMaker lead to the key that they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import shape_faults, spec
from history.folder import write
from running import Command

from compiler.cli.keys import key_rows
from compiler.spec.elsewhere import sections


def _known() -> set[str]:
    return {path.removeprefix("spec.") for path, _ in key_rows()}


def _here(section: str, key: str) -> str:
    """A key of a section's own mapping, or of one in it, from ``spec``; those of defaults are those of jobs."""
    of_jobs = section.replace("jobDefaults", "jobs[]")
    return f"{of_jobs}.{key}" if of_jobs else key


TARGETS = [(section, key) for section, words in sections().items() for key in words]


@pytest.mark.parametrize(("section", "key"), TARGETS, ids=".".join)
def test_every_target_is_a_key_of_the_spec(section: str, key: str) -> None:
    assert _known() & {_here(section, key), key}


@pytest.mark.parametrize("section", sections())
def test_no_word_is_a_key_of_its_mapping_or_stands_twice(section: str) -> None:
    words = [word for words in sections()[section].values() for word in words.split()]
    assert len(words) == len(set(words))
    assert not {_here(section, word) for word in words} & _known()


@pytest.mark.parametrize(
    ("job", "help"),
    [
        ("node", "here it is `nodes`, like `nodes: 4`"),
        ("gpu", "here it is `accelerators` under `resources`, like `accelerators: 8`"),
        ("num_nodes", "here it is `nodes`, like `nodes: 4`"),
        ("ntasks-per-node", "here it is `processesPerNode`, like"),
        ("cmd", "here it is `command`, like `command: [torchrun, train.py]`"),
        ("jobType", "here it is `kind`, like"),
        ("schedule", "a commit that raises `rerun`"),
        (
            "spot",
            "its pool says how nodes are bought, like `capacity: [{spot: {}}, {onDemand: {}}]`",
        ),
        ("instances", "here it is `nodes`"),
        ("file_mounts", "here it is `mounts`, like"),
        ("partition", "here it is `queue`, like"),
        ("backoffLimit", "here it is `retries`, like"),
        ("max_run", "here it is `timeout`, like"),
        ("InstanceType", "here it is `instanceTypes` under `nodePools[]`, like"),
        ("nodeSelector", "here it is `pool`, like"),
    ],
)
def test_a_word_of_a_job(job: str, help: str, tmp_path: Path, trainyard: Command) -> None:
    write(tmp_path, spec(job={job: "8"}))
    done = trainyard("check", "spec.yaml", "--format", "json", cwd=tmp_path)
    (found,) = json.loads(done.out)["diagnostics"]
    assert found["code"] == "SPC002"
    assert help in found["help"]


@pytest.mark.parametrize(
    ("key", "value", "help"),
    [
        ("gpus", 8, "here it is `accelerators` under `resources`, like `accelerators: 8`"),
        ("instanceType", "p5", "here it is `instanceTypes` under `nodePools[]`"),
        ("apiGroup", "batch", "it is called `kind` now: `trainyard fmt --fix` renames it"),
        (
            "retries",
            {"job": 3, "process": [1, "a"]},
            "write `retries: 3`, `maxRestarts: [1, a]`: `trainyard fmt --fix` does it",
        ),
        ("retries", {"often": True}, "write a whole number"),
    ],
)
def test_a_word_of_the_defaults_is_one_of_a_job(key: str, value: object, help: str) -> None:
    (found,) = shape_faults(spec(jobDefaults={key: value}))
    assert str(found.at) == f"spec.jobDefaults.{key}"
    assert found.help == help


GPUS = {"nvidia.com/gpu": "8", "memory": "900Gi"}


@pytest.mark.parametrize(
    ("job", "help"),
    [
        (
            {"resources": {"limits": {"nvidia.com/gpu": 8}}},
            "here its entries are keys of `resources`: `accelerators: 8`",
        ),
        (
            {"resources": {"requests": {**GPUS, "vpc.amazonaws.com/efa": "32", "a.com/b": 1}}},
            "here its entries are keys of `resources`: `accelerators: 8`, `memory: 900Gi`, `efa: 32`",
        ),
        (
            {"resourcesPerNode": {"limits": GPUS, "requests": {"cpu": 90}}},
            "here it is `resources`, like `resources: {accelerators: 8, memory: 900Gi, cpu: 90}`",
        ),
        ({"limits": 8}, "here it is `resources`, like `resources: {memory: 900Gi}`"),
        (
            {"resources": {"limits": {"a.com/b": 1}}},
            "`resources` has: `cpu`, `memory`, `accelerators`, `efa`, `hugePages`, `ephemeralStorage`",
        ),
    ],
)
def test_resources_of_kubernetes_are_keys_of_a_job(job: dict[str, Any], help: str) -> None:
    (found,) = shape_faults(spec(job=job))
    assert (found.code, found.help) == ("SPC002", help)


def test_a_key_that_is_called_otherwise_is_not_missing_too(
    tmp_path: Path, trainyard: Command
) -> None:
    data = spec(job={"cmd": ["torchrun", "train.py"]})
    del data["spec"]["jobs"][0]["command"]
    write(tmp_path, data)
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert done.out.count("error[") == 1
    assert "unknown key `cmd`" in done.out


@pytest.mark.parametrize(
    ("section", "word", "help"),
    [
        ("nodePools", "gpus", "here it is `instanceTypes`"),
        ("nodePools", "replicas", "here it is `nodes`"),
        ("nodePools", "spot", "here it is `capacity`"),
        ("queues", "gpus", "here it is `quota`"),
    ],
)
def test_a_word_of_another_section(
    section: str, word: str, help: str, tmp_path: Path, trainyard: Command
) -> None:
    data = spec()
    if section == "queues":
        quota = [{"pool": "gpu", "nodes": 1}]
        data["spec"]["queues"] = [{"name": "q", "namespaces": ["team-a"], "quota": quota}]
    data["spec"][section][0][word] = 3
    write(tmp_path, data)
    done = trainyard("check", "spec.yaml", cwd=tmp_path)
    assert f"unknown key `{word}`" in done.out
    assert help in done.out
