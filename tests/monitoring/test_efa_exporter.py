"""The program that answers with the counters of EFA: on a folder like /sys/class/infiniband, over HTTP."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import ROOT
from served import free_port
from trainyard.extensions.observability.monitoring.scripts import efa_exporter

PROGRAM = ROOT / "compiler/trainyard/extensions/observability/monitoring/scripts/efa_exporter.py"


@pytest.fixture
def sys_folder(tmp_path: Path) -> Path:
    """Two interfaces: one whose link is up, one that is down and whose driver has fewer counters."""
    for device, state, counters in (
        ("rdmap79s0", "4: ACTIVE", {"rx_bytes": "12", "retrans_pkts": "3", "rx_drops": "0"}),
        ("rdmap80s0", "1: DOWN", {"rx_bytes": "7"}),
    ):
        port = tmp_path / device / "ports" / "1"
        (port / "hw_counters").mkdir(parents=True)
        (port / "state").write_text(f"{state}\n")
        for name, value in counters.items():
            (port / "hw_counters" / name).write_text(f"{value}\n")
    return tmp_path


def test_each_counter_of_each_port_is_a_sample(sys_folder: Path) -> None:
    text = efa_exporter.metrics(str(sys_folder))
    lines = text.splitlines()
    assert 'node_amazonefa_rx_bytes{device="rdmap79s0",port="1"} 12' in lines
    assert 'node_amazonefa_rx_bytes{device="rdmap80s0",port="1"} 7' in lines
    assert 'node_amazonefa_retrans_pkts{device="rdmap79s0",port="1"} 3' in lines
    assert 'node_amazonefa_link_up{device="rdmap79s0",port="1"} 1' in lines
    assert 'node_amazonefa_link_up{device="rdmap80s0",port="1"} 0' in lines
    assert "# TYPE node_amazonefa_rx_bytes counter" in lines
    assert "# TYPE node_amazonefa_link_up gauge" in lines
    # Each metric has its head once, before its samples, as the text format of Prometheus asks.
    heads = [line for line in lines if line.startswith("# TYPE")]
    assert len(heads) == len(set(heads)) == 4


def test_what_the_driver_does_not_have_is_left_out(tmp_path: Path) -> None:
    assert efa_exporter.metrics(str(tmp_path)) == ""
    assert efa_exporter.metrics(str(tmp_path / "absent")) == ""
    (tmp_path / "rdmap0" / "ports" / "1" / "hw_counters").mkdir(parents=True)
    (tmp_path / "rdmap0" / "ports" / "1" / "hw_counters" / "rx_bytes").write_text("no number\n")
    assert efa_exporter.metrics(str(tmp_path)) == ""


@pytest.fixture
def served(sys_folder: Path) -> Iterator[str]:
    port = free_port()
    command = [sys.executable, str(PROGRAM), f"--root={sys_folder}", f"--port={port}"]
    with subprocess.Popen(command) as process:
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.mark.slow
def test_it_answers_as_prometheus_asks(served: str) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(f"{served}/metrics", timeout=5) as answer:
                text = answer.read().decode()
                assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
                break
        except urllib.error.URLError:
            assert time.monotonic() < deadline
            time.sleep(0.1)
    assert 'node_amazonefa_link_up{device="rdmap79s0",port="1"} 1' in text
