"""Refreshing from EC2: against moto's server, and against answers that moto does not give."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError
from moto.server import ThreadedMotoServer
from trainyard.catalog import load_catalog
from trainyard.extensions.facts.refresh import CatalogPatch, boto3_clients, refresh
from trainyard.language.diagnostics import Diagnostic

pytestmark = pytest.mark.slow

TODAY = date(2026, 11, 21)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    host, port = running.get_host_and_port()
    yield f"http://{host}:{port}"
    running.stop()


class Remembered:
    """A client that asks once, and then gives the same answers: moto takes seconds for those of a Region."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._answers: dict[str, Any] = {}

    def describe_availability_zones(self) -> Any:
        return self._once("zones", self._client.describe_availability_zones)

    def get_paginator(self, operation: str) -> Any:
        pages = self._client.get_paginator(operation)

        def paginate(**query: str) -> Any:
            return self._once(f"{operation} {query}", lambda: list(pages.paginate(**query)))

        return SimpleNamespace(paginate=paginate)

    def _once(self, question: str, ask: Callable[[], Any]) -> Any:
        if question not in self._answers:
            self._answers[question] = ask()
        return self._answers[question]


@pytest.fixture(scope="module")
def clients(server: str) -> Iterator[Callable[[str], Any]]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", server)
        environment.setenv("AWS_ACCESS_KEY_ID", "test")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "test")
        found = boto3_clients()
        assert not isinstance(found, Diagnostic)
        yield cache(lambda region: Remembered(found(region)))


@pytest.fixture(scope="module")
def patch(clients: Callable[[str], Any]) -> CatalogPatch:
    return refresh(clients, ["us-east-1", "ap-northeast-2"], TODAY)


def test_a_refresh_is_an_overlay_that_changes_nothing_but_its_source(
    patch: CatalogPatch, tmp_path: Path
) -> None:
    path = tmp_path / "facts.json"
    assert patch.write(path) is None
    catalog, builtin = load_catalog(path), load_catalog()
    assert catalog.faults == ()
    assert patch.faults == ()
    assert patch.regions == ("us-east-1", "ap-northeast-2")
    assert patch.types > 200
    differ = {
        name for name, each in catalog.instance_types.items() if each != builtin.instance(name)
    }
    assert differ == set()
    assert any(
        source.version == "live" and source.date == "2026-11-21" for source in catalog.sources
    )


def test_the_same_answer_gives_the_same_bytes(
    patch: CatalogPatch, clients: Callable[[str], Any]
) -> None:
    again = refresh(clients, ["us-east-1", "ap-northeast-2"], TODAY)
    assert again.text == patch.text


class Pages:
    """An EC2 client that answers in pages of one."""

    def __init__(self, region: str, usage: str) -> None:
        self.region = region
        self.usage = usage

    def get_paginator(self, operation: str) -> Paginator:
        types = [info(name, self.usage) for name in ("p9.48xlarge", "m7i.large", "x9.large")]
        offerings = [
            {"InstanceType": "p9.48xlarge", "Location": f"{self.region}{letter}"}
            for letter in "cab"
        ]
        offerings.append({"InstanceType": "p9.48xlarge", "Location": f"{self.region}-lax-1a"})
        answers = {
            "describe_instance_types": ("InstanceTypes", types),
            "describe_instance_type_offerings": ("InstanceTypeOfferings", offerings),
        }
        return Paginator(*answers[operation])

    def describe_availability_zones(self) -> dict[str, Any]:
        zones = [(f"{self.region}{letter}", "availability-zone") for letter in "ba"]
        zones.append((f"{self.region}-lax-1a", "local-zone"))
        return {
            "AvailabilityZones": [
                {"ZoneName": name, "ZoneType": kind, "ZoneId": f"x-az{number}"}
                for number, (name, kind) in enumerate(zones)
            ]
        }


class Paginator:
    def __init__(self, key: str, items: list[Any]) -> None:
        self.key = key
        self.items = items

    def paginate(self, **query: str) -> Iterator[dict[str, Any]]:
        assert query in ({}, {"LocationType": "availability-zone"})
        return ({self.key: [item]} for item in self.items)


def info(name: str, usage: str) -> dict[str, Any]:
    gpus = (
        {
            "GpuInfo": {
                "Gpus": [
                    {
                        "Manufacturer": "NVIDIA",
                        "Name": "R100",
                        "Count": 8,
                        "MemoryInfo": {"SizeInMiB": 294912},
                    }
                ]
            }
        }
        if name.startswith("p")
        else {}
    )
    return {
        "InstanceType": name,
        "VCpuInfo": {"DefaultVCpus": 256},
        "MemoryInfo": {"SizeInMiB": 4194304},
        "ProcessorInfo": {"SupportedArchitectures": ["arm64"]},
        "SupportedUsageClasses": [usage],
        **gpus,
        "NetworkInfo": {
            "NetworkPerformance": "Up to 2x 400 Gigabit",
            "Ipv4AddressesPerInterface": 50,
            "EfaInfo": {"MaximumEfaInterfaces": 2},
            "NetworkCards": [
                {
                    "NetworkCardIndex": 1,
                    "MaximumNetworkInterfaces": 4,
                    "InterfaceTypes": ["efa-only"],
                },
                {"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 4},
                {
                    "NetworkCardIndex": 2,
                    "MaximumNetworkInterfaces": 4,
                    "InterfaceTypes": ["efa-only"],
                },
            ],
        },
    }


def test_all_pages_are_read_and_regions_joined() -> None:
    usage = {"us-east-1": "on-demand", "us-west-2": "capacity-block"}
    facts = json.loads(
        refresh(lambda region: Pages(region, usage[region]), list(usage), TODAY).text
    )
    assert sorted(facts["instances"]) == ["m7i.large", "p9.48xlarge"]  # x9 is none of ours
    p9 = facts["instances"]["p9.48xlarge"]
    assert p9["zones"] == "us-east-1:abc us-west-2:abc"
    assert p9["usage"] == "capacity-block on-demand"
    assert p9["cards"] == [[0, 0, 4, "interface"], [1, 2, 4, "efa-only"]]
    assert (p9["gbps"], p9["burst"], p9["gpus"], p9["arch"]) == (800, True, 8, "arm64")
    assert facts["regions"] == {"us-east-1": "ab", "us-west-2": "ab"}
    assert facts["zone_ids"]["us-east-1"] == {"a": "x-az1", "b": "x-az0"}
    assert (
        json.loads(refresh(lambda region: Pages(region, ""), ["us-east-1"], TODAY, "1").text)[
            "account"
        ]
        == "1"
    )


def test_an_answer_that_is_not_ec2s_is_a_fault_of_its_region() -> None:
    """What a proxy says in EC2's place, as boto3 reports it."""

    def clients(region: str) -> Pages:
        raise ResponseParserError("Unable to parse response, invalid XML received")

    done = refresh(clients, ["us-east-1"], TODAY)
    assert [fault.code for fault in done.faults] == ["CAT004"]
    assert "invalid XML" in done.faults[0].message


def test_a_region_that_refuses_does_not_stop_the_others() -> None:
    def clients(region: str) -> Pages:
        if region == "cn-north-1":
            answer = {"Error": {"Code": "AuthFailure", "Message": "not able to validate."}}
            raise ClientError(answer, "DescribeInstanceTypes")
        return Pages(region, "on-demand")

    done = refresh(clients, ["cn-north-1", "us-east-1"], TODAY)
    assert done.regions == ("us-east-1",)
    assert [fault.code for fault in done.faults] == ["CAT004"]
    assert "`cn-north-1`" in done.faults[0].message
    assert "AuthFailure" in done.faults[0].message


def test_our_own_bugs_are_not_hidden() -> None:
    def clients(region: str) -> Pages:
        raise KeyError(region)

    with pytest.raises(KeyError):
        refresh(clients, ["us-east-1"], TODAY)


def test_without_boto3_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    answer = boto3_clients()
    assert isinstance(answer, Diagnostic)
    assert answer.code == "CAT003"
    assert "trainyard[aws]" in answer.help


def test_a_path_that_cannot_be_written(tmp_path: Path) -> None:
    fault = CatalogPatch("{}", 0, ()).write(tmp_path / "missing" / "facts.json")
    assert fault is not None
    assert fault.code == "CAT005"
