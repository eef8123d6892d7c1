"""Prometheus on this machine, which scrapes exporters of the tests by the rules of a cluster."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml
from served import free_port

from monitoring.observed import write

PROMETHEUS = shutil.which("prometheus")
MISSING = "prometheus is missing: apt-get install prometheus"


class Exporters(ThreadingHTTPServer):
    """What is scraped: a text for each path, which may be replaced."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.texts = dict(texts)


class Handler(BaseHTTPRequestHandler):
    server: Exporters

    def do_GET(self) -> None:
        body = self.server.texts[self.path].encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def started(folder: Path, jobs: list[dict[str, Any]], often: str) -> Iterator[str]:
    """Prometheus with the cluster's rules, which scrapes and evaluates this often; its address. It looks for targets
    five seconds after it was started (discovery/manager.go)."""
    folder.mkdir()
    write(folder / "rules.yaml")
    times = {"scrape_interval": often, "scrape_timeout": often, "evaluation_interval": often}
    config = {"global": times, "rule_files": ["rules.yaml"], "scrape_configs": jobs}
    (folder / "prometheus.yaml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    command = [
        str(PROMETHEUS),
        "--config.file=prometheus.yaml",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={address}",
        "--log.level=error",
    ]
    with subprocess.Popen(command, cwd=folder) as process:
        try:
            yield f"http://{address}"
        finally:
            process.terminate()


def ask(url: str, path: str) -> Any:
    """The data of an answer; ``None`` where there is none yet."""
    try:
        with urllib.request.urlopen(f"{url}/api/v1/{path}", timeout=5) as answer:
            return json.load(answer)["data"]
    except urllib.error.URLError:
        return None


def wait_for(url: str, path: str, found: Callable[[Any], object], seconds: float = 60) -> Any:
    """The answer, once it has what is looked for."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = ask(url, path)
        if answer is not None and found(answer):
            return answer
        time.sleep(0.2)
    raise AssertionError(f"{path}: {ask(url, path)}")
