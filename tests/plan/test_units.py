"""Quantities and durations are exact, and print what they read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from trainyard.plan import Duration, Quantity


@pytest.mark.parametrize(
    ("text", "milli"),
    [
        ("90", 90_000),
        (90, 90_000),
        ("0", 0),
        ("500m", 500),
        ("1.5", 1500),
        (".5", 500),
        ("1.", 1000),
        ("+2", 2000),
        ("-1", -1000),
        ("1k", 10**6),
        ("1Ki", 1024 * 1000),
        ("1000Gi", 1000 * 1024**3 * 1000),
        ("1.2Ti", 1319413953331200),
        ("1e3", 10**6),
        ("1E3", 10**6),
        ("15e-1", 1500),
        ("1E", 10**21),
        ("1n", 1),
        ("1u", 1),
        ("1001u", 2),
        ("0.0001", 1),
        ("1Ei", 1024**6 * 1000),
    ],
)
def test_quantities_are_read_as_the_api_server_reads_them(text: str | int, milli: int) -> None:
    assert Quantity.parse(text).milli == milli


@pytest.mark.parametrize(
    "text",
    ["", "Gi", "1 Gi", "1GiB", "1gi", "1e", "e3", "1e99", "--1", "1.2.3", "٣", "0x10", "1_000"],
)
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a quantity|is out of range"):
        Quantity.parse(text)


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (Quantity(0), "0"),
        (Quantity(1500), "1500m"),
        (Quantity.of(8), "8"),
        (Quantity.gib(1000), "1000Gi"),
        (Quantity.gib(1024), "1Ti"),
        (Quantity.mib(5120), "5Gi"),
        (Quantity.mib(10256), "10256Mi"),
        (Quantity.of(1000), "1000"),
    ],
)
def test_quantities_are_printed_canonically(quantity: Quantity, text: str) -> None:
    assert str(quantity) == text


@pytest.mark.slow
@given(st.integers(0, 10**24))
def test_a_printed_quantity_reads_as_itself(milli: int) -> None:
    assert Quantity.parse(str(Quantity(milli))) == Quantity(milli)


def test_quantities_count_and_compare() -> None:
    assert Quantity.of(3) * 2 + Quantity(1) - Quantity.of(5) == Quantity(1001)
    assert Quantity(1001).value == 2
    assert not Quantity(0)
    assert Quantity.gib(1) < Quantity.gib(2)


@pytest.mark.parametrize(
    ("text", "seconds"), [("20m", 1200), ("1h30m", 5400), ("45s", 45), ("0s", 0), ("36h", 129600)]
)
def test_durations(text: str, seconds: int) -> None:
    assert Duration.parse(text) == Duration(seconds)
    assert str(Duration.parse(text)) == text


@pytest.mark.parametrize("text", ["", "20", "2d", "m20", "1m1h", "1.5h", "-1s", "1 h", "٣s"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        Duration.parse(text)


@pytest.mark.slow
@given(st.integers(0, 10**9))
def test_a_printed_duration_reads_as_itself(seconds: int) -> None:
    assert Duration.parse(str(Duration(seconds))) == Duration(seconds)
