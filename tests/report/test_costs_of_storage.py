"""What storage costs that is no file system: disks of pods and of namespaces, and those of which no price is known."""

from __future__ import annotations

from typing import Any

import pytest
from builders import spec
from failures.walking import read
from trainyard.core.storage.spec import StorageSection
from trainyard.extensions.forecast.costs import storage_items

NAMESPACES = ["training", "other", "training"]


def disks(
    ebs: dict[str, Any], namespaces: list[str]
) -> list[tuple[str, int, int, float | None, str]]:
    """What is said of a disk that a job of each of some namespaces mounts: what it is, how many, USD of each."""
    data = spec(storage=[{"name": "disk", "ebs": ebs}])
    (job,) = data["spec"]["jobs"]
    mounts = [{"storage": "disk", "path": "/disk"}]
    data["spec"]["jobs"] = [
        {**job, "name": f"job-{number}", "nodes": 1, "namespace": namespace, "mounts": mounts}
        for number, namespace in enumerate(namespaces)
    ]
    data["spec"]["namespaces"] = [{"name": name} for name in ("training", "other")]
    _, planned = read(data)
    (storage,) = StorageSection.of(planned.spec).storage
    return [
        (item.what, item.least, item.most, item.usd, item.how)
        for item in storage_items(planned, storage)
    ]


@pytest.mark.parametrize(
    ("each", "least", "most", "how"),
    [("pod", 0, 3, "while its jobs run"), ("namespace", 2, 2, "always")],
)
def test_disks_are_as_many_as_pods_or_as_namespaces(
    each: str, least: int, most: int, how: str
) -> None:
    ((what, *numbers, usd, paid),) = disks({"create": {"each": each, "size": "500Gi"}}, NAMESPACES)
    assert (what, numbers, paid) == ("EBS gp3, 500 GiB", [least, most], how)
    assert usd == pytest.approx(500 * 0.08 / 730, rel=0.01)


def test_a_volume_that_exists_has_no_known_price() -> None:
    existing = {"id": "vol-0a1b2c3d4e5f60718", "zone": "us-west-2b", "size": "500Gi"}
    ((what, *numbers, usd, _),) = disks({"existing": existing}, ["training"])
    assert what == "EBS volume vol-0a1b2c3d4e5f60718, whose type is not said"
    assert (numbers, usd) == ([1, 1], None)
