"""``report --against PLATFORM``: what a spec of one platform would be on another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import spec as eks_spec
from running import Command

from tests.platforms.parallelcluster.clusters import NETWORK, spec

pytestmark = pytest.mark.slow


def _against(trainyard: Command, folder: Path, body: dict[str, Any], platform: str) -> str:
    (folder / "lab.yaml").write_text(yaml.safe_dump(body, sort_keys=False))
    done = trainyard("report", "lab.yaml", "--against", platform, cwd=folder)
    assert done.code == 0, done.err
    assert not (folder / "generated").exists()
    return done.out


def test_a_spec_that_says_nothing_of_a_platform_compiles_for_both(
    trainyard: Command, tmp_path: Path
) -> None:
    body = spec(job={"torchVersion": "2.12"})
    text = _against(trainyard, tmp_path, body, "eks")
    assert text.startswith(
        "# lab on eks\n\nIt compiles as it is. `platform: {eks: {}}` is assumed."
    )
    assert "| train | BatchJob, 4 nodes of a100; " in text
    assert " | TrainJob, 4 nodes of a100; " in text
    assert "Before and after, an hour: " in text
    # the other way round, with the same keys
    body["spec"]["platform"] = {"eks": {}}
    text = _against(trainyard, tmp_path, body, "parallelCluster")
    assert "\nIt compiles as it is." in text
    assert "| train | TrainJob, 4 nodes of a100; " in text


def test_keys_that_have_to_go_are_named_with_their_lines(
    trainyard: Command, tmp_path: Path
) -> None:
    job = {"labels": {"team": "a"}}
    body = eks_spec(network=NETWORK, health={"nodeRepair": True}, job=job)
    text = _against(trainyard, tmp_path, body, "parallelCluster")
    lines = (tmp_path / "lab.yaml").read_text().splitlines()
    for key, path in (("health:", "health"), ("labels:", "jobs[0].labels")):
        (line,) = [number for number, line in enumerate(lines, 1) if line.strip("- ") == key]
        assert f"| `lab.yaml:{line}` | `{path}` | " in text
    assert "SPC006" not in text


def test_jobs_that_inherit_a_key_name_it_once(trainyard: Command, tmp_path: Path) -> None:
    body = spec()
    jobs = body["spec"]["jobs"]
    jobs.append({**jobs[0], "name": "other", "checkpoint": {"path": "/work/other"}})
    body["spec"]["jobDefaults"] = {"labels": {"team": "a"}}
    body["spec"]["platform"] = {"eks": {}}
    text = _against(trainyard, tmp_path, body, "parallelCluster")
    assert text.count(".labels` |") == 1
    assert "1 key to change" in text
    assert "| other | TrainJob, " in text


def test_what_the_other_platform_then_finds(trainyard: Command, tmp_path: Path) -> None:
    body = spec(network=None)
    body["spec"]["platform"] = {"eks": {}}
    text = _against(trainyard, tmp_path, body, "parallelCluster")
    assert "No key to change, 1 finding then." in text
    assert "| error | RES312 | " in text
    assert "## Jobs" not in text


@pytest.mark.parametrize(
    ("text", "title", "code"),
    [
        (yaml.safe_dump(spec(pool={"instanceTypes": ["p4d.none"]})), "# lab\n", "RES005"),
        ("spec: [", "# Specs\n", "YML002"),
    ],
)
def test_a_spec_in_error_has_its_findings_alone(
    trainyard: Command, tmp_path: Path, text: str, title: str, code: str
) -> None:
    (tmp_path / "lab.yaml").write_text(text)
    done = trainyard("report", "lab.yaml", "--against", "eks", cwd=tmp_path)
    assert done.code == 1
    assert done.out.startswith(title)
    assert f"| error | {code} | `lab.yaml:" in done.out
    assert "It compiles" not in done.out


def test_an_unknown_platform_is_wrong_usage(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec()))
    done = trainyard("report", "lab.yaml", "--against", "slurm", cwd=tmp_path)
    assert done.code == 2
    assert "or a platform: eks, hyperPod, parallelCluster" in done.err
    assert "platform" not in trainyard("check", "lab.yaml", "--against", "slurm", cwd=tmp_path).err
