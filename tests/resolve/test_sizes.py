"""The sizes of a job's model: from its `config.json`, from the spec, and what is reported where both do not do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import plan_of, spec
from running import Command
from trainyard.core.jobs.plan import TrainingState

SHAPE = {
    "layers": 32,
    "hidden": 4096,
    "heads": 32,
    "kvHeads": 8,
    "ffn": 14336,
    "vocabulary": 128256,
}
BATCH = {"sequenceLength": 4096}
CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
}


def state(**model: Any) -> TrainingState:
    (found,) = plan_of(spec(job={"model": {"sharding": "full", **model}})).of(TrainingState)
    return found


def check(folder: Path, text: str, trainyard: Command, **model: Any) -> list[dict[str, Any]]:
    """What is found in a spec with a job whose model has a file."""
    (folder / "model.json").write_text(text, encoding="utf-8")
    data = spec(job={"model": {"sharding": "full", "config": "model.json", **model}})
    (folder / "lab.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    done = trainyard("check", "--format", "json", "lab.yaml", cwd=folder)
    found: list[dict[str, Any]] = json.loads(done.out)["diagnostics"]
    return found


def test_parameters_follow_from_the_shape() -> None:
    found = state(shape=SHAPE)
    assert found.held == pytest.approx(16 * 8.03e9 / 32, rel=0.001)


def test_optimizers_keep_what_they_are_known_for() -> None:
    for optimizer, each in (("adamw", 16), ("adamw8bit", 10), ("sgd", 12)):
        found = state(shape=SHAPE, optimizer=optimizer)
        assert found.held == pytest.approx(each * 8.03e9 / 32, rel=0.001)


@pytest.mark.needs("forecast")
def test_a_config_gives_what_a_shape_does(tmp_path: Path, trainyard: Command) -> None:
    assert check(tmp_path, json.dumps(CONFIG), trainyard, batch=BATCH, recomputation="full") == []


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ('{\n  "model_type": "llama",\n  "hidden_size": 4096,,\n}\n', "RES370", 3),
        ("", "RES370", None),
        ("[1, 2]\n", "RES370", None),
        ('{\n  "hidden_size": 4096,\n  "model_type": "mamba"\n}\n', "RES371", 3),
        (json.dumps({**CONFIG, "num_hidden_layers": -1}, indent=1), "RES371", 6),
        ('{"hidden_size": 1' + "0" * 5000 + "}", "RES371", None),
        ("[" * 100_000, "RES370", None),
    ],
)
def test_faults_of_a_file_are_reported_at_their_line(
    text: str, code: str, line: int | None, tmp_path: Path, trainyard: Command
) -> None:
    found = check(tmp_path, text, trainyard)
    assert [each["code"] for each in found] == [code]
    if line is not None:
        place = found[0]["place"]
        assert (Path(place["file"]).name, place["line"]) == ("model.json", line)


def test_a_file_outside_of_the_repository_is_refused(tmp_path: Path, trainyard: Command) -> None:
    found = check(tmp_path, json.dumps(CONFIG), trainyard, config="../model.json")
    assert [each["code"] for each in found] == ["YML047"]
