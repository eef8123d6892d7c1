"""What no source has a price of is estimated by what is nearest to it, and the report says by what."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import spec
from running import Command
from trainyard.catalog import load_catalog
from trainyard.catalog.prices import block, lustre, on_demand, on_demand_or_like, sagemaker
from trainyard.run.platforms import PLATFORMS

from tests.platforms.hyperpod.clusters import PLAN
from tests.platforms.small import small

CATALOG = load_catalog()
REGION = "us-west-2"


def _cost(data: dict[str, Any], folder: Path, trainyard: Command) -> str:
    (folder / "lab.yaml").write_text(yaml.safe_dump(data))
    done = trainyard("report", "lab.yaml", cwd=folder)
    assert done.code in (0, 1), done.err
    return done.out.partition("## Cost\n")[2].partition("\n## ")[0]


@pytest.mark.parametrize("name", sorted(CATALOG.instance_types))
def test_a_type_that_is_only_sold_in_blocks_has_an_estimate(name: str) -> None:
    price = on_demand_or_like(CATALOG, name, REGION)
    listed, bought = on_demand(CATALOG, name, REGION), block(name, REGION)
    assert (price is None) == (listed is None and bought is None)
    if price is not None:
        assert bool(price.estimate) == (listed is None)
    ours = sagemaker(CATALOG, name, REGION)
    if price is not None:
        assert ours is not None
        assert 1.15 * price.usd <= ours.usd <= 1.4 * price.usd
        assert "15 to 40 %" in ours.estimate


@pytest.mark.parametrize("throughput", [50, 100, 200])
@pytest.mark.parametrize("region", [REGION, "ap-southeast-3", "ap-northeast-1"])
def test_persistent_1_has_an_estimate(throughput: int, region: str) -> None:
    price = lustre("PERSISTENT_1", throughput, region)
    assert price is not None
    assert f"PERSISTENT_1/{throughput}" in price.estimate


def test_extended_support_is_in_the_sum(tmp_path: Path, trainyard: Command) -> None:
    """It ends, as standard support does: 1.33 is in it on the day of the tests."""
    eks = {"apiServer": {"public": ["203.0.113.0/24"]}}
    sums = []
    for version in ("1.33", "1.36"):
        cost = _cost(spec(platform={"eks": {**eks, "version": version}}), tmp_path, trainyard)
        assert ("| extended support |" in cost) == (version == "1.33")
        sums.append(float(cost.partition("**≈ $")[2].partition(" ")[0]))
    assert round(sums[0] - sums[1], 2) == 0.5


def test_what_is_bought_beforehand_comes_first(tmp_path: Path, trainyard: Command) -> None:
    capacity = {
        "block": {
            "reservations": [{"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}],
            "starts": "2026-12-01T11:30:00Z",
            "ends": "2026-12-15T11:30:00Z",
        }
    }
    pool = {
        "instanceTypes": ["p5.48xlarge"],
        "zones": ["us-west-2a"],
        "nodes": 4,
        "capacity": capacity,
    }
    cost = _cost(spec(pool=pool), tmp_path, trainyard)
    price = block("p5.48xlarge", REGION)
    assert price is not None
    assert cost.strip().startswith(
        f"**${price.usd * 4 * 336:,.0f} for Capacity Block `gpu` whatever runs, "
    )


RESERVATION = {"id": "cr-0a1b2c3d4e5f60718", "nodes": 4}
TIMES = {"starts": "2026-12-01T11:30:00Z", "ends": "2026-12-15T11:30:00Z"}
GONE = ("queues", "jobs", "storage")
WAYS: dict[str, list[dict[str, Any]]] = {
    "on demand": [{"onDemand": {}}],
    "spot": [{"spot": {}}],
    "reserved": [{"reserved": {"reservations": [RESERVATION]}}],
    "reserved, on demand": [{"reserved": {"reservations": [RESERVATION]}}, {"onDemand": {}}],
    "reserved, spot": [{"reserved": {"reservations": [RESERVATION]}}, {"spot": {}}],
    "spot, on demand": [{"spot": {}}, {"onDemand": {}}],
    "block": [{"block": {"reservations": [RESERVATION], **TIMES}}],
    "block without its times": [{"block": {"reservations": [RESERVATION]}}],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("least", [4, 0])
def test_the_headline_has_what_is_paid_whatever_runs(
    platform: str, way: str, least: int, tmp_path: Path, trainyard: Command
) -> None:
    """However nodes are bought: a block in its own words and first, what is reserved in what is always paid."""
    data = small(PLATFORMS[platform])
    pool = {"name": "gpu", "instanceTypes": ["p5.48xlarge"], "zones": ["us-west-2b"]}
    nodes = {"min": least, "max": 4}
    data["spec"]["nodePools"] = [{**pool, "nodes": nodes, "capacity": WAYS[way]}]
    data["spec"] = {key: data["spec"][key] for key in data["spec"] if key not in GONE}
    (tmp_path / "lab.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    if "## Cost\n" not in done.out:
        assert platform != "eks", done.out
        assert "| error |" in done.out
        return
    headline = done.out.partition("## Cost\n")[2].strip().partition("\n")[0]
    price = block("p5.48xlarge", REGION)
    listed = on_demand(CATALOG, "p5.48xlarge", REGION)
    if platform == "hyperPod":
        listed = sagemaker(CATALOG, "p5.48xlarge", REGION)
    assert price is not None
    assert listed is not None
    if way == "block":
        assert headline.startswith(
            f"**${price.usd * 4 * 336:,.0f} for Capacity Block `gpu` whatever"
        )
    elif way.startswith("block"):
        assert headline.startswith(
            f"**${price.usd * 4:,.2f} an hour for Capacity Block `gpu` whatever runs"
        )
    always = float(headline.partition(" an hour always")[0].rpartition("$")[2].replace(",", ""))
    paid = 4 if way.startswith("reserved") else least
    nodes_paid = 0 if way.startswith("block") else paid
    assert always >= listed.usd * nodes_paid
    assert always < listed.usd * nodes_paid + 5


def test_a_training_plan_of_hyperpod_is_bought_beforehand(
    tmp_path: Path, trainyard: Command
) -> None:
    data = small(PLATFORMS["hyperPod"])
    data["spec"]["platform"]["hyperPod"]["trainingPlans"] = {"a100": PLAN}
    cost = _cost(data, tmp_path, trainyard).strip()
    price = sagemaker(CATALOG, "p4d.24xlarge", REGION)
    assert price is not None
    assert cost.startswith(
        f"**${price.usd * 4:,.2f} an hour for training plan `a100` whatever runs, "
    )
    assert "| training plan: paid when it is bought |" in cost
