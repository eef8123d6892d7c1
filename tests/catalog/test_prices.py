"""Prices: each has a source and a date, and says of which Region it is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from running import Command
from trainyard.catalog import load_catalog
from trainyard.catalog.catalog import DATA
from trainyard.catalog.overlay import SCHEMA
from trainyard.catalog.prices import (
    Price,
    auto_mode_fee,
    block,
    lustre,
    on_demand,
    on_demand_or_like,
    price_sources,
    sagemaker,
    service,
)

CATALOG = load_catalog()
FILES = ("regional_prices.json", "block_prices.json", "service_prices.json")


@pytest.mark.parametrize("file", FILES)
def test_every_set_is_sound(file: str) -> None:
    """A name, a project's file, a version and a date; amounts above nothing, of Regions and types that are known."""
    sets = json.loads((DATA / file).read_bytes())["sets"]
    assert sets
    seen: set[tuple[str, str]] = set()
    for each in sets:
        name, address, version, date = each["source"]
        assert name
        assert version
        assert "/" in address, "which file of which project"
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", date)
        for priced, by_region in each["usd"].items():
            assert file == "service_prices.json" or priced in CATALOG.instance_types
            assert by_region
            for region, usd in by_region.items():
                assert region in CATALOG.regions
                assert 0 < usd < 1000
                assert (priced, region) not in seen, "two sets have a price"
                seen.add((priced, region))


def test_of_the_region_before_any_other() -> None:
    """By EC2's list of 2026-07-06 in us-east-1, of 2026-09-14 in Jakarta; where none is known, that of us-east-1."""
    own = on_demand(CATALOG, "p5.48xlarge", "us-east-1")
    jakarta = on_demand(CATALOG, "p5.48xlarge", "ap-southeast-3")
    foreign = on_demand(CATALOG, "p5.48xlarge", "eu-west-3")
    assert own is not None
    assert jakarta is not None
    assert foreign is not None
    assert (own.usd, own.region) == (55.04, "us-east-1")
    assert (jakarta.usd, jakarta.region) == (75.96, "ap-southeast-3")
    assert (foreign.usd, foreign.region) == (55.04, "us-east-1")
    assert jakarta.source.date == "2026-09-14"


def test_an_older_list_has_no_type_whose_price_changed_since() -> None:
    """P4 and P5 became cheaper in June 2025; the list of May is used only for what costs the same in us-east-1."""
    sets = json.loads((DATA / "regional_prices.json").read_bytes())["sets"]
    newer = json.loads((DATA / "prices.json").read_bytes())["usd_hour"]["us-east-1"]
    older = {name for each in sets if each["source"][3] < "2025-06" for name in each["usd"]}
    assert older
    assert older <= newer.keys()
    assert [name for name in older if name.startswith(("p4", "p5", "p6"))] == []
    p4 = on_demand(CATALOG, "p4d.24xlarge", "eu-west-1")
    assert p4 is not None
    assert p4.usd == pytest.approx(21.957642 * 35.39655 / 32.7726, rel=1e-4)


def test_capacity_blocks_cost_the_rate_of_an_accelerator_times_their_number() -> None:
    price = block("p5e.48xlarge", "ap-southeast-3")
    assert price is not None
    assert price.usd == pytest.approx(8 * 6.866)
    assert price.source.date == "2026-10-07"
    assert block("p5.4xlarge", "us-east-1").usd == 5.97  # type: ignore[union-attr]
    assert block("g6e.48xlarge", "us-east-1") is None


def test_what_nobody_knows_has_no_price() -> None:
    assert on_demand(CATALOG, "p5e.48xlarge", "us-east-1") is None
    assert on_demand(CATALOG, "p9.huge", "us-east-1") is None
    assert service("PERSISTENT_1/50 GiB month", "us-east-1") is None
    tier = service("PERSISTENT_2/500 GiB month", "us-west-2")
    assert tier is not None
    assert tier.region == "ap-northeast-1"


def test_a_price_of_an_overlay_is_taken(tmp_path: Path) -> None:
    rows = json.loads((DATA / "instances.json").read_bytes())["instances"]
    row = {**rows["p5.48xlarge"], "usd": {"ap-southeast-3": 40.0}}
    overlay = tmp_path / "catalog.json"
    overlay.write_text(
        json.dumps(
            {
                "schema": SCHEMA,
                "sources": [["our prices", "our contract", "7", "2026-11-01"]],
                "regions": {},
                "instances": {"p5.48xlarge": row},
            }
        )
    )
    catalog = load_catalog(overlay)
    assert not catalog.faults
    price = on_demand(catalog, "p5.48xlarge", "ap-southeast-3")
    assert price is not None
    assert price.usd == 40.0
    assert price.source.name == "our prices"


@pytest.mark.needs("facts")
def test_sources_of_prices_are_listed(trainyard: Command) -> None:
    listed = trainyard("catalog", "sources").out
    for source in price_sources():
        assert source.name in listed


@pytest.mark.parametrize(
    ("name", "share"),
    [
        ("m7i.2xlarge", 0.12),
        ("g6e.48xlarge", 0.078),
        ("p5.48xlarge", 0.048),
        ("trn1.32xlarge", 0.048),
    ],
)
def test_the_fee_of_auto_mode_is_a_share_of_the_price_on_demand(name: str, share: float) -> None:
    hour = on_demand(CATALOG, name, "us-east-1")
    fee = auto_mode_fee(CATALOG, name, "us-east-1")
    assert hour is not None
    assert fee is not None
    assert fee.usd == pytest.approx(hour.usd * share)


def test_no_fee_is_guessed() -> None:
    """What AWS announced in July 2026 names G, P and Trn; whether Inf still pays 12 % it does not say."""
    assert auto_mode_fee(CATALOG, "inf2.48xlarge", "us-east-1") is None
    assert auto_mode_fee(CATALOG, "p9.48xlarge", "us-east-1") is None
    assert on_demand(CATALOG, "p6e-gb200.36xlarge", "us-east-1") is None
    assert auto_mode_fee(CATALOG, "p6e-gb200.36xlarge", "us-east-1") is None


@pytest.mark.parametrize(
    "price",
    [
        on_demand_or_like(CATALOG, "p5e.48xlarge", "us-east-2"),
        sagemaker(CATALOG, "p5.48xlarge", "us-west-2"),
        lustre("PERSISTENT_1", 100, "us-west-2"),
    ],
)
def test_an_estimate_says_how_far_it_may_be_off(price: Price | None) -> None:
    assert price is not None
    assert re.search(r"\d+ %|nor how far it is off", price.estimate)
