"""The program that runs in the cluster, against an API server of our own: taints, lifts, conflicts, pages, errors."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import trainyard.eks.health
from served import served

pytestmark = pytest.mark.slow

SCRIPT = Path(trainyard.eks.health.__file__).parent / "scripts" / "condition_tainter.py"
KEY = "trainyard.dev/gpu-xid-fatal"
OURS = {"key": KEY, "value": "GpuXidFatal", "effect": "NoSchedule"}
THEIRS = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


class Api:
    """Nodes, served in pages; keeps every patch that it took."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.page = 500
        self.answer: dict[str, int] = {}
        self.patches: dict[str, Any] = {}
        self.lists: list[dict[str, list[str]]] = []
        self.types: set[str | None] = set()
        self.broken: bytes | None = None

    def add(
        self,
        name: str,
        *,
        taints: list[dict[str, str]] | None = None,
        mark: str | None = None,
        boot: str = "b1",
        since: str = "t1",
        **conditions: str,
    ) -> None:
        self.nodes.append(
            {
                "metadata": {
                    "name": name,
                    "resourceVersion": f"7{len(self.nodes)}",
                    **({"annotations": {KEY: mark, "other": "x"}} if mark is not None else {}),
                },
                "spec": {"taints": taints} if taints is not None else {},
                "status": {
                    "nodeInfo": {"bootID": boot},
                    "conditions": [
                        {"type": type_, "status": status, "lastTransitionTime": since}
                        for type_, status in conditions.items()
                    ],
                },
            }
        )

    def take(self, name: str, patch: dict[str, Any]) -> None:
        """A merge patch, as the API server would lay it over a node."""
        self.patches[name] = patch
        node = next((each for each in self.nodes if each["metadata"]["name"] == name), None)
        if node is not None:
            notes = {**node["metadata"].get("annotations", {}), **patch["metadata"]["annotations"]}
            node["metadata"]["annotations"] = {
                key: value for key, value in notes.items() if value is not None
            }
            node["spec"]["taints"] = patch["spec"]["taints"]

    def node(self, name: str) -> dict[str, Any]:
        return next(each for each in self.nodes if each["metadata"]["name"] == name)

    def keys(self, name: str) -> list[str]:
        """The taints that a node has now."""
        return [each["key"] for each in self.node(name)["spec"].get("taints", [])]

    def listed(self, query: dict[str, list[str]]) -> dict[str, Any]:
        self.lists.append(query)
        start = int(query.get("continue", ["0"])[0])
        end = start + self.page
        return {
            "items": self.nodes[start:end],
            "metadata": {"continue": str(end)} if end < len(self.nodes) else {},
        }


@pytest.fixture
def api() -> Iterator[tuple[Api, str]]:
    state = Api()

    class Handler(BaseHTTPRequestHandler):
        def _send(self, code: int, body: Any) -> None:
            data = state.broken if state.broken is not None else json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            self._send(state.answer.get(url.path, 200), state.listed(parse_qs(url.query)))

        def do_PATCH(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.types.add(self.headers["Content-Type"])
            name = self.path.rpartition("/")[2]
            code = state.answer.get(name, 200)
            if code == 200:
                state.take(name, body)
            self._send(code, {"kind": "Status", "message": f"nodes {name} is invalid"})

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests read what the program says."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with served(server):
        yield state, f"http://127.0.0.1:{server.server_port}"


def sweep(address: str) -> subprocess.CompletedProcess[str]:
    """One sweep, on Python alone: no site-packages, nothing of this project."""
    return subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-W",
            "error",
            str(SCRIPT),
            "--once",
            f"--server={address}",
            "--condition=GpuXidFatal",
            "--condition=Other",
            f"--taint={KEY}",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={"NO_PROXY": "*"},
    )


def test_a_sick_node_is_tainted_and_keeps_its_other_taints(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("sick", taints=[THEIRS], Ready="True", GpuXidFatal="True")
    state.add("bare", Other="True")
    state.add("well", taints=[THEIRS], GpuXidFatal="False")
    state.add("unknown", GpuXidFatal="Unknown")
    done = sweep(address)
    assert (done.returncode, done.stderr) == (0, "")
    assert state.patches == {
        "sick": {
            "metadata": {"resourceVersion": "70", "annotations": {KEY: "b1 t1"}},
            "spec": {"taints": [THEIRS, OURS]},
        },
        "bare": {
            "metadata": {"resourceVersion": "71", "annotations": {KEY: "b1 t1"}},
            "spec": {"taints": [{**OURS, "value": "Other"}]},
        },
    }
    assert state.types == {"application/merge-patch+json"}
    assert "sick: taints" in done.stdout


def condition(state: Api, name: str, status: str, since: str) -> None:
    """What a detector reports of a node from now on."""
    state.node(name)["status"]["conditions"] = [
        {"type": "GpuXidFatal", "status": status, "lastTransitionTime": since}
    ]


def test_a_detector_that_starts_anew_and_has_forgotten_lifts_nothing(api: tuple[Api, str]) -> None:
    # node-problem-detector v1.35.1, initializeStatus: every start of its pod reports False.
    state, address = api
    state.add("sick", taints=[THEIRS], GpuXidFatal="True")
    sweep(address)
    condition(state, "sick", "False", "t2")
    sweep(address)
    assert state.keys("sick") == [THEIRS["key"], KEY]
    condition(state, "sick", "Unknown", "t3")
    sweep(address)
    state.node("sick")["status"]["conditions"] = []
    sweep(address)
    assert state.keys("sick") == [THEIRS["key"], KEY]


def test_a_reboot_lifts_just_our_taint_once_the_detector_reports_no_fault(
    api: tuple[Api, str],
) -> None:
    state, address = api
    state.add("sick", taints=[THEIRS], GpuXidFatal="True")
    sweep(address)
    state.node("sick")["status"]["nodeInfo"]["bootID"] = "b2"
    sweep(address)
    assert KEY in state.keys("sick")  # the condition is still the one of the boot before
    condition(state, "sick", "False", "t2")
    sweep(address)
    assert state.keys("sick") == [THEIRS["key"]]
    assert state.node("sick")["metadata"]["annotations"] == {}
    condition(state, "sick", "True", "t3")
    sweep(address)
    assert KEY in state.keys("sick")


def test_what_a_person_takes_away_comes_back_for_the_next_fault_alone(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("sick", GpuXidFatal="True")
    sweep(address)
    state.node("sick")["spec"]["taints"] = []
    sweep(address)
    assert state.keys("sick") == []
    condition(state, "sick", "True", "t2")
    sweep(address)
    assert state.keys("sick") == [KEY]


def test_a_taint_that_is_there_without_a_mark_stays_until_a_reboot(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("tainted", taints=[OURS], GpuXidFatal="False")
    sweep(address)
    sweep(address)
    assert (state.keys("tainted"), state.node("tainted")["metadata"]["annotations"]) == (
        [KEY],
        {KEY: "b1 "},
    )
    state.node("tainted")["status"]["nodeInfo"]["bootID"] = "b2"
    sweep(address)
    assert state.keys("tainted") == []


def test_a_node_without_a_boot_id_keeps_its_taint(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("young", taints=[OURS], mark="b1 t1", GpuXidFatal="False")
    state.node("young")["status"].pop("nodeInfo")
    sweep(address)
    assert state.patches == {}


def test_a_node_that_is_as_it_should_be_is_left_alone(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("tainted", taints=[OURS], mark="b1 t1", GpuXidFatal="True")
    state.add("clean", taints=[THEIRS])
    state.add("lifted", mark="b1 t1", GpuXidFatal="False")
    sweep(address)
    assert state.patches == {}


@pytest.mark.parametrize("code", [404, 409])
def test_a_conflict_or_a_vanished_node_does_not_stop_the_sweep(
    api: tuple[Api, str], code: int
) -> None:
    state, address = api
    state.add("first", GpuXidFatal="True")
    state.add("second", GpuXidFatal="True")
    state.answer["first"] = code
    done = sweep(address)
    assert (done.returncode, done.stderr) == (0, "")
    assert list(state.patches) == ["second"]


def test_every_page_is_read(api: tuple[Api, str]) -> None:
    state, address = api
    state.page = 2
    for number in range(5):
        state.add(f"n{number}", GpuXidFatal="True")
    sweep(address)
    assert len(state.patches) == 5
    assert [each.get("continue") for each in state.lists] == [None, ["2"], ["4"]]
    assert {each["limit"][0] for each in state.lists} == {"500"}


@pytest.mark.parametrize("code", [401, 403, 410, 500])
def test_a_refusal_is_told_and_is_no_crash(api: tuple[Api, str], code: int) -> None:
    state, address = api
    state.answer["/api/v1/nodes"] = code
    done = sweep(address)
    assert done.returncode == 1
    assert f"HTTPError {code}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("code", [403, 422, 500])
def test_a_refused_patch_is_named_and_the_nodes_after_it_are_tainted(
    api: tuple[Api, str], code: int
) -> None:
    state, address = api
    for name in ("first", "second", "third"):
        state.add(name, GpuXidFatal="True")
    state.answer["second"] = code
    done = sweep(address)
    assert list(state.patches) == ["first", "third"]
    assert done.stderr == f"second: patch refused: {code} nodes second is invalid\n"
    assert done.returncode == 1


@pytest.mark.parametrize(
    "answer", [b"not json", b"{}", b"[]", b'{"items": [{}], "metadata": {}}', b"\xff"]
)
def test_an_answer_that_is_no_list_of_nodes_is_reported(
    api: tuple[Api, str], answer: bytes
) -> None:
    state, address = api
    state.broken = answer
    done = sweep(address)
    assert done.returncode == 1
    assert "sweep failed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_is_not_there_is_reported() -> None:
    done = sweep("http://127.0.0.1:9")
    assert done.returncode == 1
    assert "sweep failed" in done.stderr


def test_it_imports_the_standard_library_alone() -> None:
    tree = ast.parse(SCRIPT.read_text(), feature_version=(3, 11))
    imported = {
        alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert imported <= sys.stdlib_module_names
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
