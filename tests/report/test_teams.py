"""The cost of a month by team, and the same numbers as JSON, each counted by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import Command

from report.test_report import part, rows, write

pytestmark = pytest.mark.slow

# us-east-1, by the catalog: p4d.24xlarge 21.957642 USD an hour; its root volume of 100 GiB 8 USD a month.
NODE = 21.957642 * 730 + 8
QUEUES = [
    {"name": "a", "namespaces": ["team-a"], "quota": [{"pool": "gpu", "nodes": 2}]},
    {"name": "b", "namespaces": ["team-b", "team-a"], "quota": [{"pool": "gpu", "nodes": 1}]},
]


def job(name: str, queue: str, namespace: str, *storages: str) -> dict[str, object]:
    """A job of one node."""
    mounts = [{"storage": storage, "path": f"/{storage}"} for storage in storages]
    return {
        "name": name,
        "queue": queue,
        "namespace": namespace,
        "nodes": 1,
        "image": "registry.test/train:1.0",
        "command": ["python", "train.py"],
        "mounts": mounts,
    }


def test_each_team_and_what_teams_have_together(trainyard: Command, tmp_path: Path) -> None:
    """1200 GiB of the slowest SSD are 174 USD a month, a gp3 volume of 500 GiB is 40."""
    lustre = {"create": {"size": "1200Gi", "throughputPerTiB": 125, "zone": "us-east-1b"}}
    storage = [
        {"name": "own", "fsxLustre": lustre},
        {"name": "both", "fsxLustre": lustre},
        {"name": "each", "ebs": {"create": {"each": "pod", "size": "500Gi"}}},
        {"name": "objects", "s3": {"create": {}, "expectedSize": "10Ti"}},
    ]
    jobs = [job("one", "a", "team-a", "own", "both", "each"), job("two", "b", "team-b", "both")]
    pool = {"zones": ["us-east-1b"]}
    write(
        tmp_path, region="us-east-1", pool=pool, queues=QUEUES, storage=storage, job=None, jobs=jobs
    )
    done = trainyard("report", "lab.yaml", cwd=tmp_path)
    title = "Cost by team and month"
    team_a, both, cluster = rows(done.out, title)
    assert team_a[:4] == ["team-a", "2 of gpu, own, each", money(2 * NODE), "214.00"]
    assert both[:4] == ["team-a, team-b", "1 of gpu, both", money(NODE), "174.00"]
    # Nobody mounts the bucket, which holds 10,240 GiB at 0.023 USD.
    assert cluster[:4] == ["the cluster", "1 of gpu, objects", money(NODE), "235.52"]
    assert cluster[5] == money(NODE + 235.52 + services(cluster))
    assert "no price known" not in part(done.out, title)


def money(usd: float) -> str:
    return f"{usd:,.2f}"


def services(row: list[str]) -> float:
    return float(row[4].removeprefix("≈ ").replace(",", ""))


def test_what_has_no_price_is_named_first_and_never_zero(
    trainyard: Command, tmp_path: Path
) -> None:
    pool = {"instanceTypes": ["hpc6a.48xlarge"], "zones": ["us-east-2b"]}
    write(tmp_path, region="us-east-2", pool=pool, queues=QUEUES[:1])
    text = trainyard("report", "lab.yaml", cwd=tmp_path).out
    title = "Cost by team and month"
    assert part(text, title).startswith("Without `2 of gpu`: no price known.\n")
    team_a, cluster = rows(text, title)
    assert team_a[2] == team_a[5] == "?"
    assert cluster[2] == "?"
    assert services(cluster) > 0


def test_a_capacity_block_counts_for_as_long_as_it_lasts(
    trainyard: Command, tmp_path: Path
) -> None:
    """p5.48xlarge: 47.76 USD an hour in a block; two days are 48 hours, as are those of the root volume."""
    reservation = {"id": "cr-0a1b2c3d4e5f60713"}
    block = {
        "reservations": [reservation],
        "starts": "2026-12-01T11:30:00Z",
        "ends": "2026-12-03T11:30:00Z",
    }
    pool = {"instanceTypes": ["p5.48xlarge"], "zones": ["us-east-1b"], "capacity": {"block": block}}
    write(tmp_path, region="us-east-1", pool=pool, queues=QUEUES[:1])
    team_a = rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Cost by team and month")[0]
    assert team_a[2] == money(2 * 48 * (47.76 + 8 / 730))


def test_without_queues_all_namespaces_with_jobs_share_the_nodes(
    trainyard: Command, tmp_path: Path
) -> None:
    """The queues are derived, one for each pool, and take jobs of each namespace."""
    jobs = [{**job(name, "", namespace)} for name, namespace in (("one", "team-a"), ("two", "b"))]
    for each in jobs:
        del each["queue"]
    write(
        tmp_path,
        region="us-east-1",
        pool={"zones": ["us-east-1b"]},
        namespaces=[{"name": "team-a"}, {"name": "b"}],
        job=None,
        jobs=jobs,
    )
    text = trainyard("report", "lab.yaml", cwd=tmp_path).out
    teams, cluster = rows(text, "Cost by team and month")
    assert teams[0] == "b, team-a"
    assert "of gpu" in teams[1]
    assert cluster[0] == "the cluster"


def test_the_same_numbers_as_json(trainyard: Command, tmp_path: Path) -> None:
    write(tmp_path, region="us-east-1", pool={"zones": ["us-east-1b"]}, queues=QUEUES, jobs=[])
    done = trainyard("report", "lab.yaml", "--format", "json", cwd=tmp_path)
    assert done.code == 0
    (cluster,) = json.loads(done.out)["clusters"]
    assert cluster["usdPerHour"]["exact"] is True
    assert cluster["withoutPrice"] == []
    always = sum(each["least"] * each["usdPerHourEach"] for each in cluster["items"])
    assert cluster["usdPerHour"]["always"] == pytest.approx(always)
    by_team = {tuple(each["teams"]): each for each in cluster["teams"] if each["kind"] == "nodes"}
    assert by_team["team-a",]["usdPerMonth"] == pytest.approx(2 * NODE)
    assert by_team[()]["usdPerMonth"] == pytest.approx(NODE)
    assert [each["usdPerHour"] for each in cluster["queues"]] == pytest.approx(
        [2 * 21.957642, 21.957642]
    )


def test_a_spec_in_error_has_no_numbers(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "lab.yaml").write_text("kind: TrainingCluster\n")
    done = trainyard("report", "lab.yaml", "--format", "json", cwd=tmp_path)
    assert done.code == 1
    assert json.loads(done.out) == {"clusters": []}
    assert "error[" in done.err


PAID: dict[str, tuple[dict[str, Any], dict[str, float]]] = {
    # 10 GiB, 2 GiB and 20 GiB of gp3 at 0.08 USD.
    "monitoring": (
        {"monitoring": {}},
        {"volume of Prometheus": 0.8, "volume of Alertmanager": 0.16},
    ),
    "loki": ({"logs": {"loki": {}}}, {"volume of Loki": 1.6}),
    "grafana": (
        {"monitoring": {"managed": {"grafana": {"authenticationProviders": ["SAML"]}}}},
        {"editor of Grafana": 9.0, "volume of Prometheus": 0.8},
    ),
}


@pytest.mark.parametrize(("parts", "paid"), PAID.values(), ids=PAID)
def test_what_monitoring_and_logs_take_is_in_the_bill(
    trainyard: Command, tmp_path: Path, parts: dict[str, Any], paid: dict[str, float]
) -> None:
    write(tmp_path, region="us-east-1", pool={"zones": ["us-east-1b"]}, **parts)
    done = trainyard("report", "lab.yaml", "--format", "json", cwd=tmp_path)
    (cluster,) = json.loads(done.out)["clusters"]
    monthly = {each["name"]: each["usdPerHourEach"] * 730 for each in cluster["items"]}
    for name, usd in paid.items():
        assert monthly[name] == pytest.approx(usd)


def test_logs_of_cloudwatch_cost_what_their_section_says(
    trainyard: Command, tmp_path: Path
) -> None:
    write(
        tmp_path,
        region="us-east-1",
        pool={"zones": ["us-east-1b"]},
        logs={"cloudWatch": {"perPodDay": "30Gi"}},
    )
    text = trainyard("report", "lab.yaml", cwd=tmp_path).out
    by_name = {row[0]: row for row in rows(text, "Cost")}
    said = part(text, "Logs")
    for name in ("logs taken in", "logs kept"):
        assert by_name[name][2] == "0 to 1"
        assert f"${by_name[name][3]}" in said


def test_objects_that_move_cost_less_than_the_most(trainyard: Command, tmp_path: Path) -> None:
    lifecycle = {"transitions": [{"days": 30, "to": "DEEP_ARCHIVE"}]}
    s3 = {"create": {"lifecycle": lifecycle}, "expectedSize": "1Ti"}
    storage = [{"name": "objects", "s3": s3}]
    write(tmp_path, region="us-east-1", pool={"zones": ["us-east-1b"]}, storage=storage)
    by_name = {
        row[0]: row for row in rows(trainyard("report", "lab.yaml", cwd=tmp_path).out, "Cost")
    }
    assert by_name["objects"][2:5] == ["0 to 1", "23.55", "0.00"]
    assert by_name["objects"][6] == "at most: less of what moves to DEEP_ARCHIVE"


@pytest.mark.parametrize("wrong", [("--limit", "20000"), ("--why", "cost")])
def test_json_goes_with_no_option_of_markdown(
    trainyard: Command, tmp_path: Path, wrong: tuple[str, str]
) -> None:
    write(tmp_path)
    done = trainyard("report", "lab.yaml", "--format", "json", *wrong, cwd=tmp_path)
    assert done.code == 2
    assert done.out == ""
