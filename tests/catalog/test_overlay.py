"""Overlays: newer facts of the user's own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from trainyard.catalog import load_catalog
from trainyard.catalog.overlay import SCHEMA, read_overlay

ROW = {
    "vcpus": 192,
    "memory_mib": 2097152,
    "gpus": 8,
    "accelerator": "A100",
    "zones": "us-east-1:b",
}


def overlay(folder: Path, **changed: Any) -> Path:
    facts = {
        "schema": SCHEMA,
        "sources": [["mine", "EC2", "live", "2026-11-21"]],
        "regions": {"us-east-1": "abg"},
        "instances": {"p4d.24xlarge": ROW, "p9.48xlarge": ROW},
    } | changed
    path = folder / "facts.json"
    path.write_text(json.dumps(facts), "utf-8")
    return path


def test_newer_facts_lie_over_the_built_in_ones(tmp_path: Path) -> None:
    catalog = load_catalog(overlay(tmp_path))
    assert catalog.faults == ()
    p4d, p9 = catalog.instance("p4d.24xlarge"), catalog.instance("p9.48xlarge")
    assert p4d is not None
    assert p9 is not None
    assert p4d.vcpus == 192
    assert p4d.nvlink_gb_s == 600
    assert p4d.price_usd_hour["us-east-1"] > 0
    assert p4d.zones["us-east-1"] == ("us-east-1b",)
    assert p4d.zones["us-west-2"]  # a region that was not asked
    assert p9.zones == {"us-east-1": ("us-east-1b",)}
    assert catalog.regions["us-east-1"] == ("us-east-1a", "us-east-1b", "us-east-1g")
    assert any(source.name == "mine" for source in catalog.sources)


def test_a_type_that_an_overlay_does_not_name_is_not_offered_in_its_regions(tmp_path: Path) -> None:
    p5 = load_catalog(overlay(tmp_path)).instance("p5.48xlarge")
    assert p5 is not None
    assert "us-east-1" not in p5.zones
    assert "us-west-2" in p5.zones


def test_unknown_facts_become_known(tmp_path: Path) -> None:
    row = {
        "vcpus": 144,
        "memory_mib": 983040,
        "efa": 4,
        "ipv4": 50,
        "cards": [[0, 0, 4, "interface"], [1, 4, 4, "interface efa-only"]],
    }
    gb200 = load_catalog(overlay(tmp_path, instances={"p6e-gb200.36xlarge": row})).instance(
        "p6e-gb200.36xlarge"
    )
    assert gb200 is not None
    assert gb200.efa_cards == (1, 2, 3, 4)
    assert gb200.unknown == {"accelerator_memory_mib", "nvme_gb", "nvme_disks", "zones"}


def test_the_built_in_catalog_is_untouched(tmp_path: Path) -> None:
    load_catalog(overlay(tmp_path))
    assert load_catalog().instance("p9.48xlarge") is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"schema": "other/1"}, "`schema` is not `trainyard-catalog/1`"),
        ({"instances": []}, "`instances` is not a mapping"),
        (
            {"regions": {"us-east-1": 3}},
            "`regions` does not map regions to the letters of their zones",
        ),
        *(
            ({"zone_ids": ids}, "`zone_ids` does not map regions to the ids of their zones")
            for ids in (["use1-az1"], {"us-east-1": "use1-az1"}, {"us-east-1": {"a": 1}})
        ),
        ({"account": 111122223333}, "`account` is not the id of an account"),
        ({"sources": ["x"]}, "`sources` is not a list of name, address, version and date"),
        ({"instances": {"p9.48xlarge": {"vcpus": 1}}}, "instance type `p9.48xlarge` is malformed"),
        ({"instances": {"p9.48xlarge": None}}, "instance type `p9.48xlarge` is malformed"),
        (
            {"instances": {"p9.48xlarge": ROW | {"cards": [1]}}},
            "instance type `p9.48xlarge` is malformed",
        ),
        (
            {"instances": {"p9.48xlarge": ROW | {"cards": [[0, 10**8, 1, "efa"]]}}},
            "is malformed (`cards` cannot be [[0",
        ),
        (
            {"instances": {"p9.48xlarge": ROW | {"vcpus": 10**4000}}},
            "is malformed (`vcpus` cannot be so large)",
        ),
        (
            {"instances": {"p9.48xlarge": ROW | {"vcpus": "8"}}},
            "is malformed (`vcpus` cannot be '8')",
        ),
        (
            {"instances": {"p9.48xlarge": ROW | {"gbps": float("inf")}}},
            "is malformed (`gbps` cannot be inf)",
        ),
        ({"instances": {"p9.48xlarge": ROW | {"usd": [1]}}}, "is malformed (`usd` cannot be [1])"),
        (
            {"instances": {"p9.48xlarge": ROW | {"unknown": [[]]}}},
            "is malformed (`unknown` cannot be [[]])",
        ),
        ({"instances": {"p9.48xlarge": ROW | {"usage": 3}}}, "is malformed (`usage` cannot be 3)"),
    ],
)
def test_a_malformed_file_is_reported_and_left_out(
    tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    catalog = load_catalog(overlay(tmp_path, **changed))
    assert [fault.code for fault in catalog.faults] == ["CAT002"]
    assert message in catalog.faults[0].message
    assert len(catalog.instance_types) == len(load_catalog().instance_types)


def test_all_malformed_types_are_reported_at_once(tmp_path: Path) -> None:
    _, faults = read_overlay(overlay(tmp_path, instances={"a.b": {}, "c.d": {}, "e.f": ROW}))
    assert len(faults) == 2


@pytest.mark.parametrize(
    ("content", "code"),
    [(None, "CAT001"), (b"{", "CAT002"), (b"\xff\xfe", "CAT002"), (b"[]", "CAT002")],
)
def test_what_is_no_catalog_file(tmp_path: Path, content: bytes | None, code: str) -> None:
    path = tmp_path / "facts.json"
    if content is not None:
        path.write_bytes(content)
    facts, faults = read_overlay(path)
    assert facts is None
    assert [fault.code for fault in faults] == [code]
    assert faults[0].help
    assert not faults[0].message.endswith(".")


def test_a_directory_is_no_catalog_file(tmp_path: Path) -> None:
    assert [fault.code for fault in read_overlay(tmp_path)[1]] == ["CAT001"]


@pytest.mark.parametrize("text", ["[" * 100_000, '{"instances": ' * 100_000])
def test_a_file_that_is_nested_without_end(tmp_path: Path, text: str) -> None:
    (tmp_path / "facts.json").write_text(text)
    (fault,) = load_catalog(tmp_path / "facts.json").faults
    assert (fault.code, fault.message) == (
        "CAT002",
        f"catalog file `{tmp_path}/facts.json` is nested too deeply",
    )


def test_a_pipe_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "facts.json")
    (fault,) = load_catalog(tmp_path / "facts.json").faults
    assert fault.code == "CAT001"
    assert "it is a pipe, and only regular files are read" in fault.message
