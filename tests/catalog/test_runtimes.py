"""The runtimes of Trainer's releases: each with its source, and as the schema of its kind has it."""

from __future__ import annotations

import pytest
from trainyard.catalog import load_catalog
from trainyard.catalog.runtimes import ReleasedRuntime, released_runtimes
from trainyard.judge.model.runtimes import released_runtime
from trainyard.language.places import Route
from trainyard.verify import validate_body

EVERY = sorted(released_runtimes().values(), key=lambda each: each.name)


def test_every_trainer_has_torch() -> None:
    torch = released_runtimes()["torch-distributed"]
    minors = load_catalog().newest_release.components["trainer"].supported
    assert {f"{minor}.0" for minor in minors} <= set(torch.releases)
    assert any(
        each.name == "training runtimes"
        and each.version == load_catalog().newest_release.version("trainer")
        for each in load_catalog().sources
    )


@pytest.mark.parametrize("each", EVERY, ids=lambda each: each.name)
def test_a_released_runtime_is_one(each: ReleasedRuntime) -> None:
    """Upstream's own manifest has no fault, and is lifted whole."""
    assert each.file.startswith("manifests/base/runtimes/")
    assert each.version in each.releases
    assert [fault.message for fault in validate_body(dict(each.body))] == []
    runtime = released_runtime(each.name, Route(("here",)))
    assert runtime is not None
    assert runtime.framework in ("torch", "mpi", "jax", "xgboost")
    main = runtime.trainer()
    assert main is not None
    assert main.pod.container("node") is not None
    assert {runtime.at, main.at, main.pod.at, main.pod.where("tolerations")} == {Route(("here",))}
