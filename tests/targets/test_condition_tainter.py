"""The program that runs in the cluster, against an API server of our own: taints, lifts, conflicts, pages, errors."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import compiler.targets

SCRIPT = Path(compiler.targets.__file__).parent / "scripts" / "condition_tainter.py"
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

    def add(self, name: str, *, taints: list[dict[str, str]] | None = None, **conditions: str) -> None:
        self.nodes.append({
            "metadata": {"name": name, "resourceVersion": f"7{len(self.nodes)}"},
            "spec": {"taints": taints} if taints is not None else {},
            "status": {"conditions": [{"type": type_, "status": status} for type_, status in conditions.items()]},
        })  # fmt: skip

    def listed(self, query: dict[str, list[str]]) -> dict[str, Any]:
        self.lists.append(query)
        start = int(query.get("continue", ["0"])[0])
        end = start + self.page
        return {"items": self.nodes[start:end], "metadata": {"continue": str(end)} if end < len(self.nodes) else {}}


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
                state.patches[name] = body
            self._send(code, {})

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the tests read what the program says."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield state, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def sweep(address: str) -> subprocess.CompletedProcess[str]:
    """One sweep, on Python alone: no site-packages, nothing of this project."""
    return subprocess.run(
        [sys.executable, "-I", "-S", "-W", "error", str(SCRIPT), "--once", f"--server={address}",
         "--condition=GpuXidFatal", "--condition=Other", f"--taint={KEY}"],
        capture_output=True, text=True, timeout=60, check=False, env={"NO_PROXY": "*"},
    )  # fmt: skip


def test_a_sick_node_is_tainted_and_keeps_its_other_taints(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("sick", taints=[THEIRS], Ready="True", GpuXidFatal="True")
    state.add("bare", Other="True")
    state.add("well", taints=[THEIRS], GpuXidFatal="False")
    state.add("unknown", GpuXidFatal="Unknown")
    done = sweep(address)
    assert (done.returncode, done.stderr) == (0, "")
    assert state.patches == {
        "sick": {"metadata": {"resourceVersion": "70"}, "spec": {"taints": [THEIRS, OURS]}},
        "bare": {"metadata": {"resourceVersion": "71"}, "spec": {"taints": [{**OURS, "value": "Other"}]}},
    }  # fmt: skip
    assert state.types == {"application/merge-patch+json"}
    assert "sick: taints" in done.stdout


def test_a_node_that_is_well_again_loses_just_our_taint(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("healed", taints=[OURS, THEIRS], GpuXidFatal="False")
    state.add("forgotten", taints=[OURS])
    sweep(address)
    assert {name: each["spec"]["taints"] for name, each in state.patches.items()} == {"healed": [THEIRS],
        "forgotten": []}


def test_a_node_that_is_as_it_should_be_is_left_alone(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("tainted", taints=[OURS], GpuXidFatal="True")
    state.add("clean", taints=[THEIRS])
    sweep(address)
    assert state.patches == {}


@pytest.mark.parametrize("code", [404, 409])
def test_a_conflict_or_a_vanished_node_does_not_stop_the_sweep(api: tuple[Api, str], code: int) -> None:
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


def test_a_forbidden_patch_is_told(api: tuple[Api, str]) -> None:
    state, address = api
    state.add("sick", GpuXidFatal="True")
    state.answer["sick"] = 403
    done = sweep(address)
    assert done.returncode == 1
    assert "HTTPError 403" in done.stderr


@pytest.mark.parametrize("answer", [b"not json", b"{}", b"[]", b'{"items": [{}], "metadata": {}}', b"\xff"])
def test_an_answer_that_is_no_list_of_nodes_is_told(api: tuple[Api, str], answer: bytes) -> None:
    state, address = api
    state.broken = answer
    done = sweep(address)
    assert done.returncode == 1
    assert "sweep failed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_that_is_not_there_is_told() -> None:
    done = sweep("http://127.0.0.1:9")
    assert done.returncode == 1
    assert "sweep failed" in done.stderr


def test_it_imports_the_standard_library_alone() -> None:
    tree = ast.parse(SCRIPT.read_text(), feature_version=(3, 11))
    imported = {alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import)
        for alias in node.names}
    assert imported <= sys.stdlib_module_names
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
