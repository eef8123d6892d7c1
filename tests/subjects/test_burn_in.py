"""Nodes that are tested before any job lands on them: the taint, the test, and what takes the taint away."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from builders import body_of, faults_of, objects_of, plan_of, spec
from running import stand_ins
from served import served
from trainyard.eks.health.plan import BurnIn
from trainyard.eks.kueue.plan import Flavor, QueueManager
from trainyard.eks.nodes.plan import NodePool
from trainyard.lift import lift
from trainyard.plan.scheduling import Taint

SCRIPT = (
    Path(__file__).parents[2]
    / "compiler"
    / "trainyard"
    / "eks"
    / "health"
    / "scripts"
    / "burn_in.py"
)
TAINT = {"key": "trainyard.dev/burn-in", "effect": "NoSchedule"}
OTHER = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def with_test(**pool: Any) -> dict[str, Any]:
    return spec(pool={"burnIn": {}, **pool})


def pods(plan: Any) -> dict[str, Any]:
    body = body_of(objects_of(plan), "DaemonSet", "burn-in-gpu")
    template: dict[str, Any] = body["spec"]["template"]["spec"]
    return template


def test_new_nodes_have_a_taint_that_no_flavor_has() -> None:
    plan = plan_of(with_test())
    startup = (Taint("trainyard.dev/burn-in", "", "NoSchedule"),)
    (pool,) = plan.of(NodePool)
    assert pool.startup_taints == startup
    (read,) = lift(objects_of(plan), closed=True).of(NodePool)
    assert read.startup_taints == startup
    (flavor,) = plan.of(Flavor)
    assert startup[0] not in flavor.node_taints


def test_the_test_knows_the_devices_of_the_pool_and_takes_none_of_jobs() -> None:
    plan = plan_of(with_test(instanceTypes=["p5.48xlarge"]))
    template = pods(plan)
    assert template["nodeSelector"] == {"karpenter.sh/nodepool": "gpu"}
    needed, test = template["initContainers"]
    assert [needed["name"], test["name"]] == ["needed", "test"]
    values = {variable["name"]: variable["value"] for variable in test["env"]}
    assert (values["GPUS"], values["EFA"]) == ("8", "32")
    for container in (needed, test, *template["containers"]):
        assert "resources" not in container
    script = test["command"][-1]
    done = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
    assert done.returncode == 0
    (node,) = plan.of(BurnIn)
    assert (node.gpus, node.efa) == (8, 32)


def test_jobs_ask_for_the_same_with_and_without() -> None:
    from builders import job_of

    assert job_of(with_test()).requests == job_of(spec()).requests


def test_diagnostics_of_dcgm_run_before_all_gpus_together() -> None:
    plan = plan_of(with_test(burnIn={"diagnostics": {"level": 3}}))
    steps = pods(plan)["initContainers"]
    assert [step["name"] for step in steps] == ["needed", "diagnose", "test"]
    diagnose = steps[1]
    assert diagnose["image"].startswith("nvcr.io/nvidia/cloud-native/dcgm:4.")
    assert {"name": "LEVEL", "value": "3"} in diagnose["env"]
    assert "resources" not in diagnose
    assert diagnose["securityContext"] == {"privileged": True}


def test_diagnostics_use_the_image_that_a_pool_names() -> None:
    image = "registry.test/dcgm:4.6.0"
    plan = plan_of(with_test(burnIn={"diagnostics": {"image": image}}))
    diagnose = pods(plan)["initContainers"][1]
    assert diagnose["image"] == image
    assert {"name": "LEVEL", "value": "2"} in diagnose["env"]


@pytest.mark.parametrize(
    ("dcgmi", "needed", "code"),
    [("exit 0", True, 0), ("exit 226", True, 226), ("exit 226", False, 0)],
)
def test_a_node_passes_by_the_result_of_dcgmi(
    dcgmi: str, needed: bool, code: int, tmp_path: Path
) -> None:
    """The script itself, with stand-ins for the programs of the image; 226 is DCGM_ST_NVVS_ERROR."""
    plan = plan_of(with_test(burnIn={"diagnostics": {"level": 3}}))
    work = tmp_path / "work"
    work.mkdir()
    if needed:
        (work / "needed").touch()
    programs = {
        "nv-hostengine": f"#!/bin/sh\necho $@ > {work}/engine; sleep 5\n",
        "dcgmi": f'#!/bin/sh\n[ "$1" = discovery ] && exit 0\necho $@ > {work}/said\n{dcgmi}\n',
    }
    path = stand_ins(tmp_path / "bin", programs)
    script = pods(plan)["initContainers"][1]["command"][-1]
    done = subprocess.run(
        ["bash", "-c", script.replace("/work/", f"{work}/")],
        env={"PATH": path, "LEVEL": "3"},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode == code
    said = work / "said"
    assert said.exists() == needed
    if needed:
        assert said.read_text() == "diag --run 3\n"


@pytest.mark.parametrize(
    ("burn_in", "minutes"),
    [({}, 30), ({"diagnostics": {"level": 2}}, 32), ({"diagnostics": {"level": 3}}, 45)],
)
def test_kueue_waits_for_the_diagnostics_as_well(burn_in: dict[str, Any], minutes: int) -> None:
    (manager,) = plan_of(with_test(burnIn=burn_in)).of(QueueManager)
    assert manager.pods_ready is not None
    assert manager.pods_ready.seconds == minutes * 60


def test_diagnostics_leave_the_names_of_jobs_alone() -> None:
    from builders import job_of

    asked = {"diagnostics": {"level": 3}}
    assert job_of(with_test(burnIn=asked)).name == job_of(with_test()).name


def test_a_pool_without_it_has_neither_taint_nor_pods() -> None:
    plan = plan_of(spec())
    assert plan.of(BurnIn) == ()
    (pool,) = plan.of(NodePool)
    assert pool.startup_taints == ()


def test_an_image_of_ones_own_may_be_for_arm() -> None:
    arm = {"instanceTypes": ["g5g.16xlarge"], "zones": ["us-west-2a"], "nodes": 2}
    job = {"nodes": 1}
    without = spec(pool={**arm, "burnIn": {}}, job=job)
    named = spec(pool={**arm, "burnIn": {"image": "registry.test/nccl:1.0"}}, job=job)
    assert "RES176" in {fault.code for fault in faults_of(without)}
    assert "RES176" not in {fault.code for fault in faults_of(named)}


class Api(BaseHTTPRequestHandler):
    """One node of an API server, which refuses the first patch as one that somebody was faster than."""

    node: dict[str, Any]
    patches: list[dict[str, Any]]

    def do_GET(self) -> None:
        self._answer(200, self.node)

    def do_PATCH(self) -> None:
        length = int(self.headers["Content-Length"])
        patch = json.loads(self.rfile.read(length))
        self.patches.append(patch)
        if len(self.patches) == 1:
            self.node["metadata"]["resourceVersion"] = "2"
            self._answer(409, {"message": "changed meanwhile"})
            return
        self.node["spec"]["taints"] = patch["spec"]["taints"]
        self._answer(200, self.node)

    def _answer(self, code: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@pytest.fixture
def api() -> Iterator[str]:
    Api.node = {
        "metadata": {"name": "a", "resourceVersion": "1"},
        "spec": {"taints": [OTHER, TAINT]},
    }
    Api.patches = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    with served(server):
        yield f"http://127.0.0.1:{server.server_port}"


def step(name: str, api: str, file: Path) -> None:
    subprocess.run(
        [
            sys.executable,
            SCRIPT,
            name,
            "--taint=trainyard.dev/burn-in",
            "--node=a",
            f"--file={file}",
            f"--server={api}",
            "--once",
        ],
        check=True,
        timeout=60,
    )


@pytest.mark.slow
def test_a_node_that_passed_loses_the_taint_and_no_other(api: str, tmp_path: Path) -> None:
    file = tmp_path / "needed"
    step("needed", api, file)
    assert file.exists()
    step("passed", api, file)
    assert Api.node["spec"]["taints"] == [OTHER]
    versions = [patch["metadata"]["resourceVersion"] for patch in Api.patches]
    assert versions == ["1", "2"]


@pytest.mark.slow
def test_a_node_that_restarts_is_not_tested_again(api: str, tmp_path: Path) -> None:
    Api.node["spec"]["taints"] = [OTHER]
    file = tmp_path / "needed"
    step("needed", api, file)
    assert not file.exists()
    step("passed", api, file)
    assert Api.patches == []


@pytest.mark.slow
def test_a_node_that_restarts_after_its_test_is_not_tested_again(api: str, tmp_path: Path) -> None:
    """The pod is the same one, with the file that its first start left; a job may be back on the node."""
    file = tmp_path / "needed"
    step("needed", api, file)
    step("passed", api, file)
    step("needed", api, file)
    assert not file.exists()
