"""Edits of a pool that reach nodes of runs are said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import manifests_of, spec
from running import Command

from history.folder import compiled

pytestmark = pytest.mark.slow

POOL: dict[str, Any] = {"instanceTypes": ["p5.48xlarge"], "zones": ["us-west-2a"], "nodes": 4}


@pytest.mark.parametrize(
    ("edit", "note"),
    [
        ({"capacity": [{"spot": {}}]}, "`karpenter.sh/capacity-type`: `on-demand` → `spot`"),
        ({"labels": {"team": "a"}}, "`label team`: absent → `a`"),
        ({"rootVolume": {"size": "500Gi"}}, "`blockDeviceMappings`: "),
        ({"labels": dict.fromkeys("abcde", "x")}, "= note: and 1 more field\n"),
        ({"labels": dict.fromkeys("abcdef", "x")}, "= note: and 2 more fields\n"),
    ],
    ids=["capacity", "label", "disk", "five", "six"],
)
def test_nodes_of_a_run_drift(
    edit: dict[str, Any], note: str, tmp_path: Path, trainyard: Command
) -> None:
    job = {"retries": 3}
    assert compiled(tmp_path, trainyard, spec(pool=POOL, job=job)).code == 0
    done = compiled(tmp_path, trainyard, spec(pool={**POOL, **edit}, job=job))
    assert "note[CHG030]: nodes of pool `gpu` are drifted by this edit" in done.out
    assert note in done.out
    assert "on nodes of the pool may be: `train-" in done.out


ZONES = "/spec/template/spec/requirements"


@pytest.mark.parametrize(
    ("operator", "values", "note"),
    [
        (
            "NotIn",
            ["us-west-2a"],
            "`topology.kubernetes.io/zone`: `us-west-2a` → `NotIn us-west-2a`",
        ),
        ("Exists", [], "`topology.kubernetes.io/zone`: `us-west-2a` → `Exists`"),
        ("In", ["us-west-2a"], ""),
    ],
)
def test_another_operator_with_the_same_values_drifts(
    operator: str, values: list[str], note: str, tmp_path: Path, trainyard: Command
) -> None:
    """By a patch: no key of the spec writes one."""
    assert compiled(tmp_path, trainyard, spec(pool=POOL)).code == 0
    (pool,) = (
        manifest.body
        for manifest in manifests_of(spec(pool=POOL))
        if manifest.body["kind"] == "NodePool"
    )
    requirements = pool["spec"]["template"]["spec"]["requirements"]
    (index,) = (at for at, each in enumerate(requirements) if each["key"].endswith("/zone"))
    value = {"key": "topology.kubernetes.io/zone", "operator": operator}
    if values:
        value["values"] = values
    operation = {"op": "replace", "path": f"{ZONES}/{index}", "value": value}
    patches = [{"target": {"kind": "NodePool"}, "patch": [operation]}]
    done = compiled(tmp_path, trainyard, spec(pool=POOL, patches=patches))
    assert ("CHG030" in done.out) is bool(note), done.out
    assert note in done.out


def test_a_zone_more_drifts_none(tmp_path: Path, trainyard: Command) -> None:
    pool = {**POOL, "efa": False}
    job = {"resources": {"efa": 0}}
    assert compiled(tmp_path, trainyard, spec(pool=pool, job=job)).code == 0
    pool["zones"] = ["us-west-2a", "us-west-2b"]
    assert "CHG030" not in compiled(tmp_path, trainyard, spec(pool=pool, job=job)).out


@pytest.mark.parametrize("jobs", [0, 1])
def test_other_nodes_do_not(jobs: int, tmp_path: Path, trainyard: Command) -> None:
    """More nodes are no other nodes; and where no run is, none has anything to lose."""
    edit = {"nodes": 8} if jobs else {"labels": {"team": "a"}}
    parts: dict[str, Any] = {} if jobs else {"jobs": []}
    assert compiled(tmp_path, trainyard, spec(pool=POOL, **parts)).code == 0
    done = compiled(tmp_path, trainyard, spec(pool={**POOL, **edit}, **parts))
    assert "CHG030" not in done.out
