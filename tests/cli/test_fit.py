"""``fit`` prints estimates as text or JSON, the same in every run, and writes nothing."""

from __future__ import annotations

import json
import re
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import spec
from running import ROOT, Command, snapshot
from trainyard.catalog import load_catalog
from trainyard.extensions.forecast import accelerators
from trainyard.extensions.forecast.sections.unestimated import unestimated
from trainyard.run.driver import check
from trainyard.run.outcome import Options

SHAPE = {
    "layers": 32,
    "hidden": 4096,
    "heads": 32,
    "kvHeads": 8,
    "ffn": 14336,
    "vocabulary": 128256,
}


def written(folder: Path, pool: dict[str, Any] | None = None, **model: Any) -> Path:
    given = {"sharding": "full", "recomputation": "full", "shape": SHAPE}
    batch = {"sequenceLength": 4096, "globalBatchSize": 256, "tokens": 1e10, "syncEachBatch": True}
    data = spec(pool=pool, job={"model": {**given, "batch": batch, **model}})
    (folder / "lab.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    return folder


def test_what_fits_is_clean_and_every_part_is_shown(tmp_path: Path, trainyard: Command) -> None:
    folder = written(tmp_path)
    before = snapshot(folder)
    done = trainyard("fit", "lab.yaml", cwd=folder)
    assert done.code == 0, done.err
    for part in (
        "weights",
        "activations",
        "logits",
        "products with weights",
        "days",
        "USD",
        "MFU",
        ": fits",
    ):
        assert part in done.out
    assert snapshot(folder) == before
    assert trainyard("fit", "lab.yaml", cwd=folder) == done


def test_what_does_not_fit_is_a_finding_with_the_smallest_change(
    tmp_path: Path, trainyard: Command
) -> None:
    folder = written(tmp_path, batch={"sequenceLength": 4096, "microBatchSize": 8})
    done = trainyard("fit", "lab.yaml", cwd=folder)
    assert done.code == 1
    assert "does not fit" in done.out
    assert "the smallest change that fits: `batch.microBatchSize: " in done.out


def test_a_part_is_explained_by_name_and_by_number(tmp_path: Path, trainyard: Command) -> None:
    folder = written(tmp_path)
    by_name = trainyard("fit", "lab.yaml", "--why", "activations", cwd=folder)
    assert by_name.code == 0
    assert "arXiv:2205.05198" in by_name.out
    shown = trainyard("fit", "lab.yaml", cwd=folder).out.splitlines()
    numbers = [line.split()[0] for line in shown if re.match(r" +\d+ ", line)]
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    (line,) = (line for line in shown if " activations " in line)
    number = line.split()[0]
    assert trainyard("fit", "lab.yaml", "--why", number, cwd=folder).out == by_name.out
    wrong = trainyard("fit", "lab.yaml", "--why", "activation", cwd=folder)
    assert wrong.code == 2
    assert "activations" in wrong.err


def test_json_has_the_sums_of_its_parts(tmp_path: Path, trainyard: Command) -> None:
    done = trainyard("fit", "lab.yaml", "--format", "json", cwd=written(tmp_path))
    (cluster,) = json.loads(done.out)["clusters"]
    (job,) = cluster["jobs"]
    parts = job["memory"]["parts"]
    assert job["memory"]["least"] == pytest.approx(sum(part["least"] for part in parts), abs=10)
    assert job["step"]["most"] == pytest.approx(
        sum(part["most"] for part in job["step"]["parts"]), abs=1e-4
    )
    days, usd = job["days"], job["usd"]
    assert days[0] < days[1]
    assert usd[0] < usd[1]
    assert all(part["source"] and part["formula"] for part in (*parts, *job["step"]["parts"]))


@pytest.mark.parametrize(
    ("part", "first"),
    [
        ("logits", "logits of train: 5.87 to 6.85 GiB"),
        ("products with weights", "products with weights of train: 7.74 to 10.5 s"),
    ],
)
def test_a_part_has_its_unit(part: str, first: str, tmp_path: Path, trainyard: Command) -> None:
    done = trainyard("fit", "lab.yaml", "--why", part, cwd=written(tmp_path))
    assert done.out.splitlines()[0] == first


def test_experts_are_named_where_there_are_some(tmp_path: Path, trainyard: Command) -> None:
    experts = {"experts": 8, "expertsPerToken": 2}
    done = trainyard("fit", "lab.yaml", cwd=written(tmp_path, shape={**SHAPE, **experts}))
    assert ", 8 of keys and values, 8 experts of which 2 for a token\n" in done.out
    assert "experts" not in trainyard("fit", "lab.yaml", cwd=written(tmp_path)).out


def test_without_a_speed_there_is_no_time(
    tmp_path: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(accelerators._data()["accelerators"], "A10G", raising=False)
    folder = written(tmp_path, pool={"instanceTypes": ["g5.48xlarge"]})
    why = "the speed of A10G in bf16 is not in the catalog"
    assert f"  time of a step: not computed, since {why}\n" in (
        trainyard("fit", "lab.yaml", cwd=folder).out
    )
    done = trainyard("fit", "lab.yaml", "--format", "json", cwd=folder)
    (job,) = json.loads(done.out)["clusters"][0]["jobs"]
    assert job["untimed"] == why
    assert {"step", "days", "usd"}.isdisjoint(job)


def test_without_a_price_there_is_no_cost(
    tmp_path: Path, trainyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody lists p5e.48xlarge on demand: where there were no price of its Capacity Blocks either, none is known."""
    monkeypatch.setattr("trainyard.catalog.prices.block", lambda name, region: None)
    reserved = {"reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}]}
    pool = {"instanceTypes": ["p5e.48xlarge"], "zones": ["us-west-2a"], "nodes": 4}
    folder = written(tmp_path, pool={**pool, "capacity": {"reserved": reserved}})
    done = trainyard("fit", "lab.yaml", cwd=folder)
    assert (
        "1e+10 tokens: 0.3 to 0.5 days without failures and saves; the price of pool `gpu` is not known"
        in done.out
    )
    done = trainyard("report", "lab.yaml", "--why", "train USD", cwd=folder)
    assert "  Models: train, USD: ?: the price of pool gpu is not known\n" in done.out


def test_a_spec_without_a_model_says_so(tmp_path: Path, trainyard: Command) -> None:
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec()), encoding="utf-8")
    done = trainyard("fit", "lab.yaml", cwd=tmp_path)
    assert (done.code, done.out) == (0, "no job has a `model`\n")


BATCH = {"sequenceLength": 4096, "globalBatchSize": 256}
WHOLE = {"sharding": "full", "shape": SHAPE, "batch": BATCH}
CPUS = {"instanceTypes": ["c7i.16xlarge"], "zones": ["us-west-2a"], "nodes": 4}
GPUS = {"instanceTypes": ["p5.48xlarge"], "zones": ["us-west-2a"], "nodes": 4}
UNANSWERED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "neither sizes nor a batch": (
        {"model": {"parameters": 8e9, "sharding": "full"}},
        GPUS,
        "train in lab: not estimated: its `model` has no `batch`, and `shape` or `config`: weights",
    ),
    "no batch": (
        {"model": {"sharding": "full", "shape": SHAPE}},
        GPUS,
        "train in lab: not estimated: its `model` has no `batch`: weights, gradients and optimizer take",
    ),
    "no accelerators": (
        {"model": WHOLE},
        CPUS,
        "train in lab: not estimated: nodes of pool `gpu` (`c7i.16xlarge`) have no accelerator",
    ),
    "none asked for": (
        {"model": WHOLE, "resources": {"accelerators": 0}},
        GPUS,
        "train in lab: not estimated: it asks for no accelerator of pool `gpu`",
    ),
    "completed": (
        {"model": WHOLE, "completed": True},
        GPUS,
        "train in lab: not estimated: it is completed, and asks for no node",
    ),
    "no tokens": (
        {"model": WHOLE},
        GPUS,
        "days and cost of the whole run: not computed without `batch.tokens`",
    ),
    "offloaded": (
        {"model": {**WHOLE, "offload": "optimizer"}},
        GPUS,
        "time of a step: not computed, since transfers of what is offloaded are not in the model",
    ),
    "no speed": (
        {"model": WHOLE},
        {**GPUS, "instanceTypes": ["g5.48xlarge"]},
        "time of a step: not computed, since the speed of A10G in bf16 is not in the catalog",
    ),
}


@pytest.mark.parametrize("name", UNANSWERED)
def test_what_is_not_answered_has_its_reason(name: str, tmp_path: Path, trainyard: Command) -> None:
    job, pool, said = UNANSWERED[name]
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(spec(pool=pool, job=job)), encoding="utf-8")
    done = trainyard("fit", "lab.yaml", cwd=tmp_path)
    assert said in done.out, done
    assert "no job has a `model`" not in done.out
    (cluster,) = json.loads(trainyard("fit", "lab.yaml", "--format", "json", cwd=tmp_path).out)[
        "clusters"
    ]
    reasons = [each["why"] for each in cluster["unknown"]]
    assert all(reason in done.out for reason in reasons)
    assert len(cluster["jobs"]) + len(reasons) == 1


def test_what_the_catalog_or_the_passes_lack_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A type whose accelerators' memory nobody says, and a job in error: neither has a state in the plan."""
    (tmp_path / "lab.yaml").write_text(
        yaml.safe_dump(spec(pool=GPUS, job={"model": WHOLE})), encoding="utf-8"
    )
    (done,) = check([tmp_path / "lab.yaml"], Options()).compilations
    assert done.plan is not None
    assert done.spec is not None
    monkeypatch.setattr(
        "trainyard.extensions.forecast.sections.unestimated.states_of", lambda plan: []
    )
    catalog = load_catalog()
    unsaid = replace(catalog.instance_types["p5.48xlarge"], accelerator_memory_mib=0)
    lacking = copy(catalog)
    monkeypatch.setattr(lacking, "instance", {"p5.48xlarge": unsaid}.get)
    (found,) = unestimated(done.spec, done.plan, lacking)
    assert found.why == "the memory of an accelerator of `p5.48xlarge` is not in the catalog"
    (found,) = unestimated(done.spec, done.plan, catalog)
    assert found.why == "the spec has an error at it"


@pytest.mark.parametrize("given", [("--job", "trian"), ("--format", "sarif"), ("--why", "99")])
def test_wrong_usage_is_refused(given: tuple[str, str], tmp_path: Path, trainyard: Command) -> None:
    done = trainyard("fit", "lab.yaml", *given, cwd=written(tmp_path))
    assert done.code == 2
    assert done.out == ""


def test_a_spec_in_error_says_so(tmp_path: Path, trainyard: Command) -> None:
    folder = written(tmp_path, shape={"layers": 32})
    done = trainyard("fit", "lab.yaml", cwd=folder)
    assert done.code == 1
    assert "RES372" in done.err


@pytest.mark.slow
def test_models_of_the_specs_are_estimated(trainyard: Command) -> None:
    done = trainyard("fit", "specs/llama3-8b.yaml", "specs/workshop", cwd=ROOT)
    assert done.code == 0
    assert done.out.count(": fits") == 8


def test_what_a_spec_does_not_say_of_its_program_widens_the_range(
    tmp_path: Path, trainyard: Command
) -> None:
    """The upper end is that of a plain program; keys that say otherwise make the range smaller again."""
    plain = {"sequenceLength": 4096, "globalBatchSize": 256}
    folder = written(tmp_path, batch=plain, parallel={"tensor": 2})
    done = trainyard("fit", "lab.yaml", cwd=folder)
    keys = "`batch.syncEachBatch`, `parallel.sequenceParallel`, `parallel.lossParallel`"
    assert f"not said: {keys}; the lower end is with them" in done.out
    (job,) = json.loads(trainyard("fit", "lab.yaml", "--format", "json", cwd=folder).out)[
        "clusters"
    ][0]["jobs"]
    assert job["memory"]["unsaid"] == keys.replace("`", "").split(", ")
    said = {"tensor": 2, "sequenceParallel": True, "lossParallel": True}
    written(tmp_path, batch={**plain, "syncEachBatch": True}, parallel=said)
    done = trainyard("fit", "lab.yaml", cwd=folder)
    assert "not said" not in done.out
    (known,) = json.loads(trainyard("fit", "lab.yaml", "--format", "json", cwd=folder).out)[
        "clusters"
    ][0]["jobs"]
    assert known["memory"]["least"] == job["memory"]["least"]
    assert known["memory"]["most"] < job["memory"]["most"]


def test_what_may_not_fit_is_a_warning_and_no_failure(tmp_path: Path, trainyard: Command) -> None:
    folder = written(tmp_path, batch={"sequenceLength": 4096, "globalBatchSize": 256})
    done = trainyard("fit", "lab.yaml", cwd=folder)
    assert done.code == 0
    assert "may not fit" in done.out
    assert "the smallest change that fits: `batch.syncEachBatch: true`" in done.out
    checked = trainyard("check", "lab.yaml", cwd=folder)
    assert checked.code == 0
    assert "warning[LIM020]" in checked.out + checked.err
    assert "write `batch.syncEachBatch: true` if the program does so" in checked.out + checked.err


def test_the_report_has_a_table_of_models(tmp_path: Path, trainyard: Command) -> None:
    done = trainyard("report", "lab.yaml", cwd=written(tmp_path))
    assert "## Models" in done.out
    (row,) = (line for line in done.out.splitlines() if line.startswith("| train | 8.03e9"))
    assert "| fits |" in row
