"""How long the log of the control plane is kept."""

from __future__ import annotations

from typing import Any

import pytest
from builders import body_of, manifests_of, shape_faults, spec


def logging(**eks: Any) -> dict[str, Any]:
    made = manifests_of(spec(platform={"eks": eks}))
    config = body_of(made, "ClusterConfig", "lab")
    found: dict[str, Any] = config["cloudWatch"]["clusterLogging"]
    return found


@pytest.mark.parametrize("eks", [{}, {"autoMode": {}}])
def test_it_ends_some_day_in_each_kind_of_cluster(eks: dict[str, Any]) -> None:
    assert logging(**eks)["enableTypes"]
    assert logging(**eks)["logRetentionInDays"] == 90
    assert logging(**eks, controlPlaneLogDays=365)["logRetentionInDays"] == 365


@pytest.mark.parametrize("days", [0, 2, 1096, True, "90"])
def test_eksctl_takes_some_numbers_of_days(days: object) -> None:
    """CloudWatch takes 1096, and eksctl does not (v0.230.0, schema.json)."""
    faults = shape_faults(spec(platform={"eks": {"controlPlaneLogDays": days}}))
    assert ["controlPlaneLogDays" in each.message for each in faults] == [True]
