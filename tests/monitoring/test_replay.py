"""A real Prometheus on this machine scrapes a GPU that breaks, by the rules of a cluster, and its alert fires."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from served import served

from monitoring.observed import write

PROMETHEUS = shutil.which("prometheus")
HEALTHY = """\
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="3",UUID="GPU-1",namespace="team-a",pod="llama-1a2b3-node-0-0"} 98
# TYPE DCGM_EXP_XID_ERRORS_COUNT gauge
DCGM_EXP_XID_ERRORS_COUNT{gpu="3",UUID="GPU-1",window_size_in_ms="300000"} 0
"""
BROKEN = (
    HEALTHY
    + 'DCGM_EXP_XID_ERRORS_COUNT{gpu="3",UUID="GPU-1",xid="79",window_size_in_ms="300000"} 1\n'
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        PROMETHEUS is None, reason="prometheus is missing: apt-get install prometheus"
    ),
]


class Exporter(ThreadingHTTPServer):
    """An exporter whose text can be replaced."""

    text = HEALTHY


class Handler(BaseHTTPRequestHandler):
    server: Exporter

    def do_GET(self) -> None:
        body = self.server.text.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def exporter() -> Iterator[Exporter]:
    server = Exporter(("127.0.0.1", 0), Handler)
    with served(server):
        yield server


@pytest.fixture
def prometheus(exporter: Exporter, tmp_path: Path) -> Iterator[str]:
    """Prometheus with the cluster's rules, which scrapes and evaluates each half second."""
    write(tmp_path / "rules.yaml")
    target = {"targets": [f"127.0.0.1:{exporter.server_port}"], "labels": {"node": "n1"}}
    config = {
        "global": {
            "scrape_interval": "500ms",
            "scrape_timeout": "500ms",
            "evaluation_interval": "500ms",
        },
        "rule_files": ["rules.yaml"],
        "scrape_configs": [{"job_name": "dcgm-exporter", "static_configs": [target]}],
    }
    (tmp_path / "prometheus.yaml").write_text(yaml.safe_dump(config))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [
        str(PROMETHEUS),
        "--config.file=prometheus.yaml",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address={address}",
        "--log.level=error",
    ]
    with subprocess.Popen(command, cwd=tmp_path) as process:
        yield f"http://{address}"
        process.terminate()


def ask(url: str, path: str) -> Any:
    try:
        with urllib.request.urlopen(f"{url}/api/v1/{path}", timeout=5) as answer:
            return json.load(answer)["data"]
    except urllib.error.URLError:
        return None


def wait_for(url: str, path: str, found: Any, seconds: float = 60) -> Any:
    """The answer, once it has what is looked for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = ask(url, path)
        if answer is not None and found(answer):
            return answer
        time.sleep(0.2)
    raise AssertionError(f"{path}: {ask(url, path)}")


def firing(answer: Any) -> set[str]:
    return {
        alert["labels"]["alertname"] for alert in answer["alerts"] if alert["state"] == "firing"
    }


def test_a_gpu_that_breaks_fires_its_alert(prometheus: str, exporter: Exporter) -> None:
    wait_for(prometheus, "query?query=DCGM_FI_DEV_GPU_UTIL", lambda data: data["result"])
    before = wait_for(prometheus, "alerts", lambda data: "Watchdog" in firing(data))
    assert "GpuXidFatal" not in firing(before)

    exporter.text = BROKEN
    after = wait_for(prometheus, "alerts", lambda data: "GpuXidFatal" in firing(data))
    (alert,) = [each for each in after["alerts"] if each["labels"]["alertname"] == "GpuXidFatal"]
    assert alert["labels"] == {
        "alertname": "GpuXidFatal",
        "node": "n1",
        "gpu": "3",
        "xid": "79",
        "severity": "critical",
        "owner": "platform",
    }
    assert alert["annotations"] == {
        "summary": "GPU 3 of n1 reported Xid 79: the hardware is broken",
        "runbook": "docs/runbooks.md#gpuxidfatal",
    }
    rules = ask(prometheus, "rules")
    assert [
        rule["name"]
        for group in rules["groups"]
        for rule in group["rules"]
        if rule["health"] == "err"
    ] == []

    exporter.text = HEALTHY
    wait_for(prometheus, "alerts", lambda data: "GpuXidFatal" not in firing(data))
