"""Numbers of `report`, `fit` and `failures` agree with each other: a share lies between 0 and 100 %, no more is lost
than there is, a sum is that of its parts, and a reason is made of what its value is computed from.

Walked are the shipped specs, those of the scenarios, the clusters of all platforms' sections, and drawn ones with
sizes, intervals and rates as far from each other as a spec may have them.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from drawn import at_least, drawn
from running import SPECS
from trainyard.extensions.forecast import failures_shown as failures
from trainyard.extensions.forecast import fit_shown as fit
from trainyard.extensions.forecast.subjects import subject
from trainyard.extensions.review.report import FIRST, rest
from trainyard.extensions.review.report.figures import figures
from trainyard.extensions.review.report.why import Reason, reasons
from trainyard.run.driver import check
from trainyard.run.outcome import Options, Outcome
from trainyard.run.platforms import PLATFORMS

from tests.platforms.wide import TEXTS, wide

pytestmark = pytest.mark.slow

OPTIONS = Options(today=date(2026, 11, 1), hold=False)
MONTH, WEEK = 730, 168
SAVERS = 30


class Numbers(NamedTuple):
    """What is computed of a cluster: costs, estimates of models, failures, reasons in the report, and what is said."""

    name: str
    costs: dict[str, Any]
    fits: list[dict[str, Any]]
    failures: list[dict[str, Any]]
    reasons: list[Reason]
    said: list[str]


def numbers_of(outcome: Outcome) -> Iterator[Numbers]:
    by_fit = json.loads(fit.printed(fit.fits(outcome, OPTIONS, None), "json"))["clusters"]
    fits = {each["cluster"]: each["jobs"] for each in by_fit}
    found = json.loads(failures.printed(failures.clusters(outcome, OPTIONS, None), "json"))
    lost = {each["cluster"]: each["jobs"] for each in found["clusters"]}
    for compilation in outcome.compilations:
        if compilation.plan is None:
            continue
        about = subject(compilation, OPTIONS)
        blocks = [block for module in (*FIRST, *rest(about)) for block in module.section(about)]
        name = compilation.name
        costs = json.loads(json.dumps(figures(about)))
        said = [
            " ".join((each.message, each.label, *each.notes)) for each in compilation.diagnostics
        ]
        yield Numbers(name, costs, fits[name], lost[name], list(reasons(about, blocks)), said)


SAVING = yaml.safe_load((SPECS / "llama3-8b.yaml").read_text())


def saving(seed: int) -> dict[str, Any]:
    """A cluster with a job that saves, whose numbers are far from the usual ones."""
    draw = random.Random(seed)
    spec: dict[str, Any] = copy.deepcopy(SAVING)
    (pool,), (job,), (queue,) = (spec["spec"][key] for key in ("nodePools", "jobs", "queues"))
    nodes = draw.choice([1, 2, 4, 64, 1000])
    most = draw.choice([nodes, 2 * nodes])
    del pool["placement"]
    pool["nodes"] = draw.choice([most, {"max": most}])
    ends = draw.choice(["2026-12-02T11:30:00Z", "2026-12-29T11:30:00Z"])
    ids = [{"id": "cr-0a1b2c3d4e5f60718", "nodes": most}]
    some = [{"id": "cr-0a1b2c3d4e5f60718", "nodes": max(1, most // 2)}]
    pool["capacity"] = draw.choice(
        [
            {"onDemand": {}},
            [{"spot": {}}, {"onDemand": {}}],
            {"reserved": {"reservations": ids}},
            [{"reserved": {"reservations": some}}, {"onDemand": {}}],
            {"block": {"reservations": ids, "starts": "2026-12-01T11:30:00Z", "ends": ends}},
            {"block": {"reservations": ids, "ends": ends}},
        ]
    )
    pool["meanTimeBetweenFailures"] = draw.choice(["1h", "30h", "400h", "50000h"])
    queue["quota"][0]["nodes"] = nodes
    job["nodes"] = draw.choice([nodes, max(1, nodes // 2)])
    every = draw.choice(["1m", "30m", "10h"])
    job["checkpoint"]["every"] = every
    job["model"]["parameters"] = 1e8 if every == "1m" else draw.choice([1e8, 8.03e9])
    tokens = draw.choice([1e6, 10e9, 1e15])
    job["model"]["batch"] |= {"globalBatchSize": 256 * nodes, "tokens": tokens}
    job["retries"] = draw.choice([0, 10])
    return spec


def outcomes(folder: Path) -> Iterator[Outcome]:
    scenarios = sorted((Path(__file__).parent.parent / "scenarios").glob("*.yaml"))
    for path in drawn([*sorted(SPECS.iterdir()), *scenarios], 11):
        yield check([path], OPTIONS)
    for name, text in TEXTS.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    specs = [each for platform in PLATFORMS.values() for each in wide(platform).values()]
    for spec in drawn([*specs, *map(saving, range(SAVERS))], 18):
        (folder / "spec.yaml").write_text(yaml.safe_dump(spec))
        yield check([folder / "spec.yaml"], OPTIONS)


def test_numbers_agree(tmp_path: Path) -> None:
    """One test, since clusters take longer to compile than their numbers to compare."""
    clusters = [each for outcome in outcomes(tmp_path) for each in numbers_of(outcome)]
    many_are_walked(clusters)
    sums_of_costs_are_those_of_their_parts(clusters)
    nobody_pays_more_than_all(clusters)
    what_a_model_takes_is_the_sum_of_its_parts(clusters)
    a_failure_takes_what_its_parts_take(clusters)
    no_more_is_lost_than_there_is(clusters)
    shares_lie_between_nothing_and_all(clusters)
    a_reason_is_made_of_what_its_value_is_computed_from(clusters)


def near(one: float, other: float, within: float = 0.0) -> bool:
    """Whether two numbers are the same but for rounding."""
    return one == pytest.approx(other, rel=1e-3, abs=within)


def many_are_walked(clusters: list[Numbers]) -> None:
    assert len(clusters) >= at_least(70)
    assert sum(len(each.fits) for each in clusters) >= at_least(30)
    assert sum(len(each.failures) for each in clusters) >= at_least(70)


def sums_of_costs_are_those_of_their_parts(clusters: list[Numbers]) -> None:
    """What is bought beforehand is paid then, and by no hour."""
    for each in clusters:
        sums = each.costs["usdPerHour"]
        items = [item for item in each.costs["items"] if item["usdPerHourEach"] is not None]
        hourly = [item for item in items if "when it is bought" not in item["paid"]]
        assert all(0 <= item["least"] <= item["most"] for item in each.costs["items"])
        always = sum(item["least"] * item["usdPerHourEach"] for item in hourly)
        most = sum(item["most"] * item["usdPerHourEach"] for item in items)
        assert near(sums["always"], always, 1e-6), each.name
        assert near(sums["atMost"], most, 1e-6), each.name
        assert sums["always"] <= sums["atMost"]
        kept = [item for item in hourly if item["paid"] == "reserved: paid whether used or not"]
        assert sums["always"] >= sum(item["most"] * item["usdPerHourEach"] for item in kept)


def nobody_pays_more_than_all(clusters: list[Numbers]) -> None:
    for each in clusters:
        most = each.costs["usdPerHour"]["atMost"] + 1e-6
        shares = [*each.costs["jobs"], *each.costs["queues"]]
        assert all(0 <= (share["usdPerHour"] or 0) <= most for share in shares), each.name
        teams = [team["usdPerMonth"] or 0 for team in each.costs["teams"]]
        assert all(amount >= 0 for amount in teams)
        assert sum(teams) <= most * MONTH + 0.01, each.name


def what_a_model_takes_is_the_sum_of_its_parts(clusters: list[Numbers]) -> None:
    for each in clusters:
        for job in each.fits:
            for whole in filter(None, (job["memory"], job.get("step"))):
                assert 0 < whole["least"] <= whole["most"]
                for end in ("least", "most"):
                    parts = sum(part[end] for part in whole["parts"])
                    assert near(parts, whole[end], 1e-3), (each.name, job["job"])
                    assert all(0 <= part["least"] <= part["most"] for part in whole["parts"])
            step = job.get("step")
            if step is not None:
                assert 0 <= step["utilization"][0] <= step["utilization"][1] <= 1
                assert step["tokensPerSecond"][0] <= step["tokensPerSecond"][1]
                for ends in (job["days"], job["usd"]):
                    assert ends[0] is None or 0 <= ends[0] <= ends[1]


def a_failure_takes_what_its_parts_take(clusters: list[Numbers]) -> None:
    """Of an unknown part the least is counted, and the work that is repeated as a rule."""
    for each in clusters:
        for job in each.failures:
            for failure in job["failures"]:
                span, hours = failure["firstNewStepAfter"], failure["nodeHours"]
                parts = failure["parts"]
                if span is not None:
                    assert span["least"] <= span["most"]
                    least = sum(part["least"] for part in parts)
                    ends = [
                        part["least"] if part["most"] is None else part["most"] for part in parts
                    ]
                    assert near(span["least"], least, 3), (each.name, failure["failure"])
                    assert near(span["most"], sum(ends), 3), (each.name, failure["failure"])
                if hours is not None and job["usdAnHourOfANode"] is not None:
                    price = job["usdAnHourOfANode"]
                    assert 0 <= hours[0] <= hours[1]
                    assert all(
                        near(usd, one * price, 0.1)
                        for usd, one in zip(failure["usd"], hours, strict=True)
                    )


def no_more_is_lost_than_there_is(clusters: list[Numbers]) -> None:
    for each in clusters:
        for job in each.failures:
            week = job["week"] or {}
            for key in ("nodeHours", "nodeHoursAtBest"):
                lost = week.get(key)
                if lost is not None:
                    assert 0 <= lost[0] <= lost[1] <= job["nodes"] * WEEK, (each.name, job["job"])


PERCENT = re.compile(r"(-?\d[\d.,]*) ?%")
PRODUCT = re.compile(r"([\d,]+) × \$([\d.,]+) an hour each( × 730 hours)?")
ADDEND = re.compile(r": \$([\d,]+\.\d\d)(?=, |$)")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def number(text: str) -> float:
    found = NUMBER.search(text)
    assert found is not None, text
    return float(found[0].replace(",", ""))


def shares_lie_between_nothing_and_all(clusters: list[Numbers]) -> None:
    found = [
        number(share)
        for each in clusters
        for reason in each.reasons
        for share in PERCENT.findall(reason.value)
    ]
    found += [
        number(share) for each in clusters for text in each.said for share in PERCENT.findall(text)
    ]
    assert len(found) > 40
    assert all(0 <= share <= 100 for share in found)


def a_reason_is_made_of_what_its_value_is_computed_from(clusters: list[Numbers]) -> None:
    """Products of a price, whose last digit is rounded, and sums of what a team pays for."""
    products = sums = 0
    for each in clusters:
        for reason in each.reasons:
            product = PRODUCT.fullmatch(reason.why)
            if product is not None:
                products += 1
                hours = MONTH if product[3] else 1
                count = number(product[1])
                wrong = abs(number(reason.value) - count * number(product[2]) * hours)
                assert wrong <= 0.006 + count * hours * 0.00006, reason
            addends = ADDEND.findall(reason.why)
            if addends and reason.section == "Cost by team and month":
                sums += 1
                whole = sum(map(number, addends))
                assert abs(number(reason.value) - whole) <= 0.01 * len(addends), reason
    assert products >= at_least(400)
    assert sums > 50
