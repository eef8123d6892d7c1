"""A command that divides a model otherwise than its spec: both places are shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import ROOT, Command

SPEC = (ROOT / "tests/scenarios/gpt-70b-for-three-days.yaml").read_text("utf-8")
SAID = "--tensor-model-parallel-size=4, --pipeline-model-parallel-size=4"


def judged(command: str, folder: Path, trainyard: Command) -> list[dict[str, Any]]:
    """What is reported of the scenario with other options in its command."""
    (folder / "spec.yaml").write_text(SPEC.replace(SAID, command), "utf-8")
    done = trainyard("check", "spec.yaml", "--format=json", cwd=folder)
    return [item for item in json.loads(done.out)["diagnostics"] if item["code"] == "RUN096"]


def test_command_and_model_are_both_shown(tmp_path: Path, trainyard: Command) -> None:
    (found,) = judged(
        "--tensor_model_parallel_size, '8', --pipeline-model-parallel-size=4", tmp_path, trainyard
    )
    lines = (tmp_path / "spec.yaml").read_text("utf-8").splitlines()
    place, (related,) = found["place"], found["related"]
    assert "--tensor_model_parallel_size" in lines[place["line"] - 1]
    assert "parallel: {tensor: 4" in lines[related["place"]["line"] - 1]
    assert related["label"] == "tensor 4"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "names"),
    [
        (SAID, []),
        ("--tensor-model-parallel-size=4", ["pipeline"]),
        ("--tensor-model-parallel-size=4, --yaml-cfg=gpt.yaml", []),
        ("--parallelism.tensor_parallel_degree=8", ["tensor"]),
        ("--parallelism.tensor_parallel_degree, '4'", []),
        ("--training.tensor_parallel_degree=2", ["tensor"]),
        ("--tensor-parallel-degree=2, --pipeline-parallel-degree=8", ["tensor", "pipeline"]),
        ("--parallelism.context_parallel_degree=2", ["context"]),
        ("--parallelism.expert_tensor_parallel_degree=8", []),
        ("--parallelism.tensor_parallel_degree=$TP", []),
        ("'$OPTIONS'", []),
    ],
)  # fmt: skip
def test_what_the_options_of_each_program_say(
    command: str, names: list[str], tmp_path: Path, trainyard: Command
) -> None:
    found = judged(command, tmp_path, trainyard)
    said = {name for item in found for name in names if name in str(item["message"])}
    assert len(found) == len(names)
    assert said == set(names)
