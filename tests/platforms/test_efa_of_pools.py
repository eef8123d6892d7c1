"""A gang has all EFA devices of its nodes, however they are bought; where it has none, the reason is true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from trainyard.catalog import load_catalog
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.run.outcome import Compilation
from trainyard.run.platforms import PLATFORMS

from tests.platforms.passes import compiled
from tests.platforms.small import small

RESERVED = {"reserved": {"reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}]}}
BLOCK = {
    "block": {
        "reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}],
        "ends": "2026-12-15T11:30:00Z",
    }
}
SPOT: dict[str, Any] = {"spot": {}}
ON_DEMAND: dict[str, Any] = {"onDemand": {}}
WAYS: dict[str, list[dict[str, Any]]] = {
    "on demand": [ON_DEMAND],
    "spot": [SPOT],
    "reserved": [RESERVED],
    "block": [BLOCK],
    "reserved, on demand": [RESERVED, ON_DEMAND],
    "reserved, spot": [RESERVED, SPOT],
    "spot, on demand": [SPOT, ON_DEMAND],
    "reserved, spot, on demand": [RESERVED, SPOT, ON_DEMAND],
}
ONE_WAY = {"hyperPod", "parallelCluster"}
"""Platforms whose groups of nodes are bought in one way (SageMaker CreateCluster, CapacityRequirements; ParallelCluster
3.15, CapacityType of a queue)."""
REFUSED = {"SPC006"}
"""What says that a platform has no such way."""
TYPES = ("p5.48xlarge", "p4d.24xlarge", "g6e.48xlarge")


def _cluster(platform: str, pool: dict[str, Any]) -> dict[str, Any]:
    """The small cluster of a platform with one pool and one gang on it."""
    data = small(PLATFORMS[platform])
    body = data["spec"]
    namespaces = {"namespaces": ["hyperpod-ns-research"]}
    body["queues"] = [{"name": "research", **namespaces, "quota": [{"pool": "gpu", "nodes": 4}]}]
    body["nodePools"] = [{"name": "gpu", "zones": ["us-west-2b"], "nodes": 4, **pool}]
    gang = {"name": "train", "nodes": 4, "command": ["torchrun", "t.py"]}
    body["jobs"] = [{**body["jobs"][0], **gang}]
    return data


def _errors(done: Compilation) -> list[Diagnostic]:
    return [each for each in done.diagnostics if each.severity is Severity.ERROR]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_gang_has_all_efa_however_its_nodes_are_bought(
    platform: str, way: str, tmp_path: Path
) -> None:
    for name in TYPES:
        pool = {"instanceTypes": [name], "capacity": WAYS[way]}
        done = compiled(_cluster(platform, pool), tmp_path)
        if len(WAYS[way]) > 1 and platform in ONE_WAY:
            assert _errors(done), f"{platform} takes {way}"
            continue
        if done.plan is None:
            assert {each.code for each in _errors(done)} <= REFUSED, _errors(done)
            continue
        instance = load_catalog().instance(name)
        assert instance is not None
        assert _efa_findings(done) == []
        assert _explained(done) == str(instance.efa_interfaces), (name, _errors(done))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_gang_that_loses_efa_is_told_why(platform: str, tmp_path: Path) -> None:
    types = {"instanceTypes": ["g6.8xlarge", "g6.16xlarge"]}
    done = compiled(_cluster(platform, types), tmp_path)
    assert _efa_findings(done) == ["RES392"] or _errors(done)
    done = compiled(_cluster(platform, {**types, "efa": False}), tmp_path)
    assert _efa_findings(done) == []


def _efa_findings(done: Compilation) -> list[str]:
    return [each.code for each in done.diagnostics if each.code in ("EFA001", "EFA007", "RES392")]


def _explained(done: Compilation) -> str | None:
    """What `explain pool/gpu efa` says; its reason names the same number."""
    assert done.plan is not None, done.diagnostics
    for each in done.plan.derived:
        if (each.object, each.field) == ("pool/gpu", "efa"):
            assert each.value in each.reason
            return each.value
    return None
