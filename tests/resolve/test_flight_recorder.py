"""PyTorch's flight recorder: where its files go, and what keeps none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FSX, job_of, resolved, spec

from tests.platforms.parallelcluster import clusters
from tests.platforms.passes import compiled

STORAGE = [
    {"name": "data", "fsxLustre": {"existing": FSX}},
    {"name": "bucket", "s3": {"existing": {"bucket": "example-results"}}},
]
DATA = {"storage": "data", "path": "/data"}
BUCKET = {"storage": "bucket", "path": "/bucket"}
SAVES = {"mounts": [DATA], "checkpoint": {"path": "/data/run"}}


def recorded(**job: Any) -> dict[str, str]:
    """The variables of the recorder."""
    data = spec(storage=STORAGE, job={"flightRecorder": {}, **job})
    return {
        each.name: each.value or ""
        for each in job_of(data).env
        if each.name.startswith("TORCH_NCCL")
    }


def summaries(**job: Any) -> list[tuple[str, str]]:
    data = spec(storage=STORAGE, job={"flightRecorder": {}, **job})
    return [(found.code, str(found.at)) for found in resolved(data)[1]]


@pytest.mark.parametrize(
    ("job", "prefix"),
    [
        (SAVES, "/data/run/"),
        ({"mounts": [DATA]}, "/data/"),
        ({"mounts": [DATA, {**BUCKET, "readOnly": True}]}, "/data/"),
        ({**SAVES, "flightRecorder": {"path": "/data/traces/"}}, "/data/traces/"),
    ],
)
def test_each_rank_writes_a_file_on_the_storage(job: dict[str, Any], prefix: str) -> None:
    assert recorded(**job) == {
        "TORCH_NCCL_TRACE_BUFFER_SIZE": "2000",
        "TORCH_NCCL_DUMP_ON_TIMEOUT": "1",
        "TORCH_NCCL_DEBUG_INFO_TEMP_FILE": f"{prefix}flight-train-rank_",
    }


def test_a_variable_of_the_job_stays() -> None:
    own = {"TORCH_NCCL_TRACE_BUFFER_SIZE": "50"}
    assert recorded(**SAVES, env=own)["TORCH_NCCL_TRACE_BUFFER_SIZE"] == "50"
    many = recorded(**SAVES | {"flightRecorder": {"entries": 20000}})
    assert many["TORCH_NCCL_TRACE_BUFFER_SIZE"] == "20000"


def test_without_the_key_nothing_is_set() -> None:
    data = spec(storage=STORAGE, job=SAVES)
    assert not [each for each in job_of(data).env if each.name.startswith("TORCH_NCCL")]


@pytest.mark.parametrize(
    ("job", "code", "place"),
    [
        ({}, "RES341", "flightRecorder"),
        ({"mounts": [DATA, BUCKET]}, "RES341", "flightRecorder"),
        ({**SAVES, "flightRecorder": {"path": "/tmp/traces"}}, "RES341", "flightRecorder.path"),
        (
            {"mounts": [{**DATA, "readOnly": True}], "flightRecorder": {"path": "/data/traces"}},
            "RES341",
            "flightRecorder.path",
        ),
        ({"mounts": [BUCKET]}, "RES342", "flightRecorder"),
        (
            {"mounts": [DATA, BUCKET], "flightRecorder": {"path": "/bucket/traces"}},
            "RES342",
            "flightRecorder.path",
        ),
    ],
)
def test_what_keeps_no_file_is_an_error(job: dict[str, Any], code: str, place: str) -> None:
    assert (code, f"spec.jobs[0].{place}") in summaries(**job)


def test_without_gpus_there_is_nothing_to_record() -> None:
    pool = {"instanceTypes": ["c7i.48xlarge"]}
    data = spec(storage=STORAGE, pool=pool, job={**SAVES, "flightRecorder": {}})
    found = [(each.code, str(each.at)) for each in resolved(data)[1]]
    assert ("RES343", "spec.jobs[0].flightRecorder") in found


def test_jobs_of_slurm_have_it_too(tmp_path: Path) -> None:
    data = clusters.spec(job={"flightRecorder": {}})
    texts = clusters.files(compiled(data, tmp_path))
    scripts = [text for path, text in texts.items() if path.endswith(".sbatch")]
    assert scripts
    assert all("TORCH_NCCL_DEBUG_INFO_TEMP_FILE=" in text for text in scripts)
