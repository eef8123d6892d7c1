"""The run of a job in the plan: what its spec says of its model and batch, on the nodes of its pool."""

from __future__ import annotations

from typing import Any

import pytest
from builders import faults_of, plan_of, spec
from trainyard.core.jobs import settled
from trainyard.extensions.forecast.training.plan import TrainingRun

from tests.resolve.test_sizes import BATCH, SHAPE


def run_of(**model: Any) -> TrainingRun:
    (found,) = plan_of(spec(job={"model": {"sharding": "full", **model}})).of(TrainingRun)
    return found


def test_without_a_batch_there_is_none() -> None:
    assert plan_of(spec(job={"model": {"sharding": "full", "shape": SHAPE}})).of(TrainingRun) == ()


def test_with_a_batch_there_is_a_run() -> None:
    found = run_of(shape=SHAPE, batch={**BATCH, "microBatchSize": 2, "tokens": 1e9})
    run = found.run
    assert (run.setup.data, run.setup.micro_batch, run.setup.sequence) == (32, 2, 4096)
    assert (run.nodes, run.tokens, run.place.memory) == (4, 1e9, 40 * 1024**3)
    assert run.place.machine.network == pytest.approx(400e9 / 8 / 8)
    assert run.place.machine.link == 300e9


def test_what_fits_has_no_change() -> None:
    assert run_of(shape=SHAPE, batch=BATCH, recomputation="full", fusedLoss=True).smaller == ""


def test_what_does_not_fit_has_the_smallest_change() -> None:
    found = run_of(shape=SHAPE, batch={**BATCH, "microBatchSize": 8}, recomputation="full")
    assert found.run.verdict == "does not fit"
    assert found.smaller.startswith("`batch.microBatchSize: ")


@pytest.mark.parametrize(
    ("job", "synced"), [({}, None), ({"deepspeed": {"microBatchSize": 1}}, True)]
)
def test_deepspeed_reduces_gradients_after_each_micro_batch(
    job: dict[str, Any], synced: bool | None
) -> None:
    model = {"sharding": "full", "shape": SHAPE, "batch": BATCH}
    (found,) = plan_of(spec(job={"model": model, **job})).of(TrainingRun)
    assert found.run.setup.sync_each_pass is synced


def test_without_the_extension_a_batch_is_not_lost_without_a_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(settled, "members_of_extensions", lambda folder, name: [])
    data = spec(job={"model": {"sharding": "full", "shape": SHAPE, "batch": BATCH}})
    (found,) = [each for each in faults_of(data) if each.code == "RES510"]
    assert (
        found.help
        == "put the extension `forecast` and those that it needs back into `extensions/` of Trainyard"
    )
