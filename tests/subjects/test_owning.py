"""Storage that a job's image may write to, whatever its user."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from builders import FSX, body_of, objects_of, plan_of, spec
from running import stand_ins
from trainyard.core.pods.plan import Pod
from trainyard.eks.jobs.plan import Runtime
from trainyard.lift import lift
from trainyard.plan import Plan

from subjects.test_images import IMAGES, built, codes, compiled, recipe_of, repository, with_images
from subjects.test_images import plan_of as plan_of_compilation

EXISTING: dict[str, Any] = {"name": "data", "fsxLustre": {"existing": {**FSX, "version": "2.15"}}}
NEW: dict[str, Any] = {
    "name": "data",
    "fsxLustre": {"create": {"size": "1200Gi", "deployment": "SCRATCH_2", "zone": "us-west-2b"}},
}
DISK: dict[str, Any] = {"name": "data", "ebs": {"create": {"each": "pod", "size": "500Gi"}}}


def plan_with(folder: Path, storage: dict[str, Any], **job: Any) -> Plan:
    data = with_images(
        storage=[storage],
        job={"image": "train", "mounts": [{"storage": "data", "path": "/data"}], **job},
    )
    fleet = repository(folder / "fleet", data)
    built(fleet, "train", recipe_of(compiled(fleet), "train"))
    compilation = compiled(fleet)
    assert [code for code, _ in codes(compilation) if code.startswith("RES")] == []
    return plan_of_compilation(compilation)


def pod_of(plan: Plan) -> Pod:
    return plan.of(Runtime)[0].jobs[0].pod


@pytest.mark.slow
@pytest.mark.parametrize(
    ("storage", "checkpoint", "commands"),
    [
        (NEW, None, ["chmod 1777 /data"]),
        (
            NEW,
            "/data/run",
            ["chmod 1777 /data", "mkdir -p /data/run", "chown 10001:10001 /data/run"],
        ),
        (NEW, "/data", ["chmod 1777 /data", "mkdir -p /data"]),
        (EXISTING, "/data/run", ["mkdir -p /data/run", "chown 10001:10001 /data/run"]),
    ],
)
def test_an_init_container_gives_the_folders_to_the_user_of_the_image(
    storage: dict[str, Any], checkpoint: str | None, commands: list[str], tmp_path: Path
) -> None:
    saves = {"path": checkpoint} if checkpoint else None
    plan = plan_with(tmp_path, storage, checkpoint=saves)
    (owner,) = pod_of(plan).init_containers
    assert owner.run_as_user == 0
    script = owner.command[-1]
    # The commands themselves: each folder belongs to root, as `stat` says it here.
    said = tmp_path / "said"
    log = f'#!/bin/sh\necho $(basename $0) "$@" >> {said}\n'
    programs = dict.fromkeys(("chmod", "chown", "mkdir"), log)
    path = stand_ins(tmp_path / "bin", {**programs, "stat": "#!/bin/sh\necho 0\n"})
    subprocess.run(["sh", "-c", script], env={"PATH": path}, check=True)
    assert said.read_text().splitlines() == commands


def test_what_belongs_to_another_user_stays_as_it_is(tmp_path: Path) -> None:
    plan = plan_with(tmp_path, EXISTING, checkpoint={"path": "/data/run"})
    (owner,) = pod_of(plan).init_containers
    folder = tmp_path / "data" / "run"
    script = owner.command[-1].replace("/data/run", str(folder))
    said = tmp_path / "said"
    programs = {"chown": f'#!/bin/sh\necho "$@" >> {said}\n', "stat": "#!/bin/sh\necho 1000\n"}
    path = stand_ins(tmp_path / "bin", programs)
    subprocess.run(["sh", "-c", script], env={**os.environ, "PATH": path}, check=True)
    assert folder.is_dir()
    assert not said.exists()


@pytest.mark.slow
def test_nothing_is_given_away_where_root_writes_or_nobody(tmp_path: Path) -> None:
    root = [{**image, "user": 0} for image in IMAGES]
    data = with_images(images=root, storage=[NEW])
    data["spec"]["jobs"][0]["mounts"] = [{"storage": "data", "path": "/data"}]
    fleet = repository(tmp_path / "fleet", data)
    built(fleet, "train", recipe_of(compiled(fleet), "train"))
    assert pod_of(plan_of_compilation(compiled(fleet))).init_containers == ()
    reading = [{"storage": "data", "path": "/data", "readOnly": True}]
    plan = plan_with(tmp_path / "b", EXISTING, mounts=reading)
    assert pod_of(plan).init_containers == ()
    elsewhere = spec(storage=[NEW], job={"mounts": [{"storage": "data", "path": "/data"}]})
    assert pod_of(plan_of(elsewhere)).init_containers == ()


def test_a_volume_of_ebs_is_given_to_the_group_of_the_image(tmp_path: Path) -> None:
    plan = plan_with(tmp_path, DISK, nodes=1)
    pod = pod_of(plan)
    assert (pod.fs_group, pod.init_containers) == (10001, ())
    manifests = objects_of(plan)
    body = body_of(manifests, "ClusterTrainingRuntime", plan.of(Runtime)[0].name)
    text = str(body)
    assert "'fsGroup': 10001" in text
    assert "'fsGroupChangePolicy': 'OnRootMismatch'" in text
    assert pod_of(lift(manifests, closed=True)).fs_group == 10001


def test_a_bucket_is_mounted_for_every_user() -> None:
    storage = [{"name": "data", "s3": {"existing": {"bucket": "lab-data"}}}]
    mounts = [{"storage": "data", "path": "/data"}]
    manifests = objects_of(plan_of(spec(storage=storage, job={"mounts": mounts})))
    body = body_of(manifests, "PersistentVolume", "training-data")
    assert {"dir-mode 0777", "file-mode 0666"} <= set(body["spec"]["mountOptions"])


def test_a_released_runtime_has_no_place_for_it(tmp_path: Path) -> None:
    data = with_images(
        storage=[EXISTING],
        job={
            "image": "train",
            "runtime": "torch-distributed",
            "nodes": 1,
            "command": ["torchrun", "t.py"],
            "mounts": [{"storage": "data", "path": "/data"}],
            "checkpoint": {"path": "/data/run"},
        },
    )
    fleet = repository(tmp_path / "fleet", data)
    built(fleet, "train", recipe_of(compiled(fleet), "train"))
    found = compiled(fleet).diagnostics
    (warning,) = [each for each in found if each.code == "RES221"]
    assert "runs as user 10001" in warning.message
    assert "install -d -o 10001 -g 10001" in warning.help
