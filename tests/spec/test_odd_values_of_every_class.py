"""Odd values of a class (number, port, size, time, network, ARN, id, zone, account) at every key that has one of it:
each is told at a place, with what to write instead, or the table says why any value is right.

Walked are the clusters that have every section of the language, on each platform (``platforms/wide``).
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from drawn import at_least, drawn, reasons_of
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.source.libyaml import DUMPER, yaml
from trainyard.run.driver import check
from trainyard.run.outcome import Options
from trainyard.run.platforms import PLATFORMS

from tests.platforms.wide import TEXTS, wide

pytestmark = pytest.mark.slow

OPTIONS = Options(today=date(2026, 11, 1), hold=False)
Odd = Callable[[Any], list[Any]]
HUGE = 10**15


def _of_ids(value: str) -> list[str]:
    kind = value.partition("-")[0]
    return [value[:-1], value.upper(), f"x{value}", f"{kind}-", f"{value}0"]


def _of_arns(value: str) -> list[str]:
    """Of another account, another Region and another partition."""
    return [
        value.replace("111122223333", "999900001111"),
        value.replace("us-west-2", "eu-west-1"),
        value.replace("arn:aws:", "arn:aws-cn:"),
    ]


CLASSES: Mapping[str, tuple[str, Odd]] = {
    "size": (r"\d+(\.\d+)?[KMGTP]i", lambda _: ["0Gi", "-1Gi", "9999Pi", "5GB"]),
    "duration": (r"(\d+[smhd])+", lambda _: ["0s", "-1h", "99999999h", "5 weeks"]),
    "network": (r"[\d.]+/\d+", lambda _: ["0.0.0.0/1", "128.0.0.0/1", "0.0.0.0/0"]),
    "ARN": (r"arn:.*", _of_arns),
    "id": (r"[a-z]+-[0-9a-f]{8,17}", _of_ids),
    "time": (
        r"\d{4}-\d\d-\d\dT.*",
        lambda _: ["2020-01-01T00:00:00Z", "9998-01-01T11:30:00Z", "2026-13-01T11:30:00Z"],
    ),
    "zone": (
        r"[a-z]{2}-[a-z]+-\d[a-z]",
        lambda _: ["us-west-2z", "eu-west-1a", "us-west-2", "us-west-2B"],
    ),
    "account": (r"\d{12}", lambda _: ["11112222333", "1111222233334", 111122223333]),
}
"""The forms of texts, each with its odd values."""
NUMBERS: Mapping[str, list[int]] = {"port": [0, -1, 70000], "number": [0, -1, HUGE]}
OF_OTHERS = "another account may give it: its own policy says to whom"
NOTHING = "none is a meaning of its own"
ALL = "more than there is, is all that there is"
RIGHT: Mapping[str, tuple[str, tuple[Any, ...]]] = {
    "jobs.retries": (NOTHING, (0,)),
    "namespaces.principals": ("EKS user guide, access entries: of any account", ("999900001111",)),
    "namespaces.quota.accelerators": (ALL, (HUGE,)),
    "namespaces.quota.cpu": (ALL, (HUGE,)),
    "namespaces.quota.pods": (ALL, (HUGE,)),
    "nodePools.nodes.min": (NOTHING, (0,)),
    "notifications.receivers.sns.kmsKey": (OF_OTHERS, ("999900001111",)),
    "platform.eks.admins": ("EKS user guide, access entries: of any account", ("999900001111",)),
    "platform.parallelCluster.loginNodes.count": (NOTHING, (0,)),
    "priorities.value": ("Kueue: any 32 bits", (0, -1)),
    "queues.quota.borrowingLimit": (ALL, (0, HUGE)),
    "secrets.secretsManager.existing.kmsKey": (OF_OTHERS, ("999900001111",)),
    "sops.existing.kmsKey": (OF_OTHERS, ("999900001111",)),
    "storage.fsxLustre.create.kmsKey": (OF_OTHERS, ("999900001111",)),
    "storage.fsxLustre.existing.id": ("FSx API, FileSystemId: 8 digits or more", ("6071",)),
    "storage.s3.create.lifecycle.transitions.days": (
        "S3 API: INTELLIGENT_TIERING takes objects on the first day",
        (0,),
    ),
    "storage.s3.existing.bucket": (
        "the name of a bucket, which has the form of an id",
        ("datasets-11112222333", "xdatasets-111122223333", "datasets-1111222233330"),
    ),
}
"""By key, why values are right that look odd, and the values: of texts a part that only these have."""
Path_ = tuple[str | int, ...]


def odd_values(key: str, value: Any) -> list[Any]:
    """The odd values of what stands at a key; none for what is of no class."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return NUMBERS["port" if key.lower().endswith("port") else "number"][:]
    for form, odd in CLASSES.values():
        if isinstance(value, str) and re.fullmatch(form, value):
            return [each for each in odd(value) if each != value]
    return []


def leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for step, item in items:
        if isinstance(item, dict | list):
            yield from leaves(item, (*path, step))
        else:
            yield (*path, step), item


def key_of(path: Path_) -> str:
    return ".".join(step for step in path[1:] if isinstance(step, str))


def with_value(data: dict[str, Any], path: Path_, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(data)
    at: Any = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return changed


def said(spec: dict[str, Any], folder: Path) -> dict[str, Diagnostic]:
    """What is said of a spec, by its words."""
    (folder / "spec.yaml").write_text(yaml.dump(spec, Dumper=DUMPER))
    outcome = check([folder / "spec.yaml"], OPTIONS)
    found = [each for done in outcome.compilations for each in done.diagnostics]
    return {each.message: each for each in (*outcome.diagnostics, *found)}


def test_an_odd_value_is_told_or_is_right(tmp_path: Path) -> None:
    for name, text in TEXTS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    silent: dict[str, list[Any]] = {}
    walked: set[str] = set()
    compared = 0
    for platform in PLATFORMS.values():
        keys: set[str] = set()
        for name, spec in wide(platform).items():
            before = said(spec, tmp_path)
            if any(each.severity is Severity.ERROR for each in before.values()):
                continue  # below it nothing is judged
            odd = {}
            for path, value in leaves(spec):
                key = key_of(path)
                values = odd_values(key, value) if key not in keys and "values" not in path else []
                if values:
                    keys.add(key)
                    odd[path] = values
            for path in drawn(odd, len(odd) // 4, name):
                key = key_of(path)
                walked.add(key)
                for each in odd[path]:
                    compared += 1
                    new = said(with_value(spec, path, each), tmp_path)
                    told = [new[message] for message in new.keys() - before.keys()]
                    if not told:
                        silent.setdefault(key, []).append(each)
                    errors = [one for one in told if one.severity is Severity.ERROR]
                    assert all(one.at and one.help for one in errors), (key, each, errors)
    assert compared >= at_least(500)
    assert {key: values for key, values in silent.items() if not _is_right(key, values)} == {}
    assert reasons_of(RIGHT, walked).keys() == silent.keys(), "reasons that nothing needs"


def _is_right(key: str, values: list[Any]) -> bool:
    _, right = RIGHT.get(key, ("", ()))
    return all(
        any(part in each if isinstance(each, str) else part == each for part in right)
        for each in values
    )
