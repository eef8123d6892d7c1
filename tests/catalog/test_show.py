"""The catalog as a table."""

from __future__ import annotations

from trainyard.catalog import load_catalog
from trainyard.extensions.facts.show import HEADER, rows, source_rows

CATALOG = load_catalog()


def names(filter: str) -> list[str]:
    return [row[0] for row in rows(CATALOG, filter)]


def test_every_row_has_every_column() -> None:
    every = rows(CATALOG)
    assert len(every) == len(CATALOG.instance_types)
    assert {len(row) for row in every} == {len(HEADER)}


def test_words_narrow() -> None:
    assert names("h100 efa") == ["p5.4xlarge", "p5.48xlarge"]
    assert names("p4d ap-northeast-2b") == ["p4d.24xlarge"]
    assert names("p4d ap-northeast-2a") == []
    assert names("p4d ap-northeast-2") == ["p4d.24xlarge"]
    assert names("p4d mars-north-1") == []
    assert "p6e-gb200.36xlarge" in names("block arm64")
    assert {name.partition(".")[0] for name in names("t4g")} == {
        "t4g",
        "g5g",
    }  # the family, and the GPU T4g
    assert {name.partition(".")[0] for name in names("amx")} == {
        "c7i",
        "m7i",
        "r7i",
        "c8i",
        "m8i",
        "r8i",
    }


def test_a_word_that_is_a_property_is_of_all_types_that_have_it() -> None:
    types = CATALOG.instance_types.values()
    assert set(names("efa")) == {each.name for each in types if each.efa_interfaces}
    assert set(names("spot")) == {each.name for each in types if each.spot}
    assert set(names("block")) == {each.name for each in types if each.capacity_block}
    arm = set(names("arm64"))
    assert arm == {each.name for each in types if each.arch == "arm64"}
    assert set(names("amd64")) == {each.name for each in types} - arm


def test_one_row() -> None:
    row = dict(zip(HEADER, rows(CATALOG, "p4d.24xlarge")[0], strict=True))
    assert row["accelerators"] == "8 x A100 40960 MiB"
    assert row["allocatable"] == f"95690m {1082712 - 21122}Mi"
    assert row["USD/h"].startswith("21.9576 us-east-1")


def test_unknown_is_a_question_mark() -> None:
    row = dict(zip(HEADER, rows(CATALOG, "gb200")[0], strict=True))
    assert (row["EFA"], row["regions"], row["USD/h"], row["NVMe GB"]) == ("?", "?", "?", "?")


def test_sources_are_listed() -> None:
    assert ("5.2.5", "2026-10-27") in {(version, day) for *_, version, day in source_rows(CATALOG)}
