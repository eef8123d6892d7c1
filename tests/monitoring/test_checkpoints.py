"""Which jobs have an exporter of their checkpoints beside them, what it may do, and what it takes."""

from __future__ import annotations

from typing import Any

import pytest
from builders import FSX, faults_of, plan_of, spec
from trainyard.eks.flux.plan import Stage
from trainyard.extensions.observability.checkpoints.plan import (
    CheckpointExporter,
    CheckpointProgram,
)
from trainyard.extensions.observability.dashboards.plan import Dashboard
from trainyard.extensions.observability.monitoring.plan import Monitor, MonitoringSize, RuleGroups
from trainyard.plan import Plan
from trainyard.run.lower import lower
from trainyard.verify.formats import lifted

from monitoring.observed import plan

LUSTRE = {"name": "data", "fsxLustre": {"existing": FSX}}
BUCKET = {"name": "data", "s3": {"create": {}}}
VOLUME = {"name": "data", "ebs": {"create": {"each": "namespace", "size": "500Gi"}}}
SAVES = {"path": "/data/run", "every": "30m"}
AUTO = {"eks": {"autoMode": {}}}


def of(storage: dict[str, Any] = LUSTRE, saves: Any = SAVES, **parts: Any) -> Plan:
    job = {"nodes": 1, "mounts": [{"storage": "data", "path": "/data"}], "checkpoint": saves}
    whole = {"monitoring": {}, "storage": [storage], "job": job, **parts}
    return plan_of(spec(**whole))


def test_it_looks_at_the_folder_of_its_job_and_may_only_read() -> None:
    (exporter,) = plan().of(CheckpointExporter)
    assert (exporter.name, exporter.namespace) == ("checkpoint-exporter-llama", "team-a")
    assert (exporter.claim, exporter.folder, exporter.every) == ("checkpoints", "llama", 1800)
    (body,) = [
        artifact.body
        for artifact in lower(plan())
        if artifact.path.endswith("deployment-checkpoint-exporter-llama.yaml")
    ]
    pod = body["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert "--folder=/storage/llama" in container["args"]
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert all(mount["readOnly"] for mount in container["volumeMounts"])
    assert pod["volumes"][1]["persistentVolumeClaim"]["readOnly"] is True
    assert pod["nodeSelector"] == {"eks.amazonaws.com/nodegroup": "system"}


def test_it_runs_anywhere_where_no_node_is_the_systems() -> None:
    """EKS Auto Mode has no group of them."""
    found = of(BUCKET, platform=AUTO)
    bodies = [each.body for each in lower(found) if "deployment-checkpoint-exporter" in each.path]
    assert bodies
    assert all("nodeSelector" not in body["spec"]["template"]["spec"] for body in bodies)


def test_it_is_read_back_as_it_was_written() -> None:
    read = lifted(lower(plan()), closed=True)
    assert list(read.of(CheckpointExporter)) == list(plan().of(CheckpointExporter))
    assert list(read.of(CheckpointProgram)) == list(plan().of(CheckpointProgram))


@pytest.mark.parametrize("storage", [LUSTRE, BUCKET], ids=["lustre", "bucket"])
def test_what_other_nodes_can_mount_is_watched(storage: dict[str, Any]) -> None:
    found = of(storage)
    (exporter,) = found.of(CheckpointExporter)
    assert exporter.sized is (storage is LUSTRE)
    names = {groups.name for groups in found.of(RuleGroups)}
    assert "trainyard-checkpoints" in names
    (monitor,) = [each for each in found.of(Monitor) if "checkpoint" in each.name]
    assert monitor.namespaces == ("training",)
    (stage,) = [each for each in found.of(Stage) if each.name == "trainyard-checkpoints"]
    assert stage.wait is False


UNWATCHED: dict[str, dict[str, Any]] = {
    "a volume of one node": {"storage": VOLUME},
    "no interval": {"saves": {"path": "/data/run"}},
    "no monitoring": {"monitoring": None},
    "Lustre on nodes of EKS Auto Mode": {"platform": AUTO},
}


@pytest.mark.parametrize("parts", UNWATCHED.values(), ids=UNWATCHED)
def test_nothing_is_made_for_what_cannot_be_watched(parts: dict[str, Any]) -> None:
    found = of(**parts)
    assert not [*found.of(CheckpointExporter), *found.of(CheckpointProgram)]
    assert "trainyard-checkpoints" not in {
        each.name for each in (*found.of(RuleGroups), *found.of(Stage))
    }


def test_a_ceiling_of_a_namespace_is_left_to_its_jobs() -> None:
    ceiling = {"name": "training", "quota": {"pods": 4}}
    assert not list(of(namespaces=[ceiling]).of(CheckpointExporter))
    gpus = {"name": "training", "quota": {"accelerators": 32}}
    assert list(of(namespaces=[gpus]).of(CheckpointExporter))


@pytest.mark.parametrize(
    ("parts", "value"),
    [
        ({}, "checkpoint-exporter-train"),
        ({"storage": VOLUME}, "none"),
        ({"namespaces": [{"name": "training", "quota": {"pods": 4}}]}, "none"),
    ],
    ids=["watched", "a volume of one node", "a ceiling"],
)
def test_explain_says_what_watches_a_job_or_why_nothing_does(
    parts: dict[str, Any], value: str
) -> None:
    found = of(**parts)
    (derived,) = [each for each in found.derived if each.field == "checkpoint.exporter"]
    assert (derived.object, derived.value) == ("job/train", value)
    assert derived.reason


def test_it_counts_on_the_nodes_of_the_system_and_among_the_series() -> None:
    size, without = (found.one(MonitoringSize) for found in (of(), of(saves={"path": "/data/run"})))
    assert size is not None
    assert without is not None
    assert size.series["checkpoint-exporter"] == 5
    assert without.series["checkpoint-exporter"] == 0


def test_a_bucket_is_looked_at_seldom_where_saves_are_seldom() -> None:
    looks = {"5m": 60, "30m": 180, "6h": 600}
    for every, look in looks.items():
        (exporter,) = of(BUCKET, {"path": "/data/run", "every": every}).of(CheckpointExporter)
        assert exporter.look == look


def test_the_dashboard_shows_saves_where_they_are_seen() -> None:
    def titles(found: Plan) -> set[str]:
        (page,) = [each for each in found.of(Dashboard) if each.name == "dashboard-checkpoints"]
        return {panel.title for panel in page.panels}

    assert "Since the last save" in titles(of())
    assert "Since the last save" not in titles(of(saves={"path": "/data/run"}))


def test_the_spec_of_it_has_no_faults() -> None:
    job = {"nodes": 1, "mounts": [{"storage": "data", "path": "/data"}], "checkpoint": SAVES}
    assert not faults_of(spec(monitoring={}, storage=[LUSTRE], job=job))
