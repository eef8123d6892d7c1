"""A Kubernetes API in this process: objects in lists by path, each request answered over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml
from served import served

Lists = dict[str, list[dict[str, Any]]]


class Cluster:
    """What the API serves: ``lists`` by path, ``single`` objects by path, and ``refused`` paths with their status.

    A dry run of server-side apply merges as the API server does it with mappings, and replaces lists; ``denied`` says
    of paths why it is refused. Nothing is ever stored: ``created`` is what it was asked to store.
    """

    def __init__(self) -> None:
        self.lists: Lists = {}
        self.single: dict[str, dict[str, Any]] = {}
        self.refused: dict[str, int] = {}
        self.texts: dict[str, str] = {}
        self.asked: list[str] = []
        self.denied: dict[str, tuple[int, str]] = {}
        self.applied: list[tuple[str, dict[str, Any]]] = []
        self.created: list[tuple[str, dict[str, Any]]] = []

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        for prefix, status in self.refused.items():
            if path.startswith(prefix):
                return status, {"kind": "Status", "message": f"no rights on {path}"}
        if path in self.single:
            return 200, self.single[path]
        if path not in self.lists:
            return 404, {"kind": "Status", "message": "not found"}
        wanted = dict(
            each.split("=") for each in query.get("labelSelector", [""])[0].split(",") if each
        )
        found = []
        for body in self.lists[path]:
            labels = body["metadata"].get("labels", {})
            if wanted.items() <= labels.items():
                found.append(body)
        # Pages of one object, so that every list of several is read page by page.
        start = int(query.get("continue", ["0"])[0])
        more = {"continue": str(start + 1)} if start + 1 < len(found) else {}
        return 200, {"metadata": more, "items": found[start : start + 1]}

    def dry_run(
        self, path: str, query: dict[str, list[str]], body: dict[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        """What server-side apply would make of an object."""
        assert query["dryRun"] == ["All"], "nothing may be stored"
        self.applied.append((path, body))
        if path in self.denied:
            status, message = self.denied[path]
            return status, {"kind": "Status", "message": message}
        if path not in self.single:
            return 404, {"kind": "Status", "message": "not found"}
        return 200, _merged(self.single[path], body)


def _merged(live: Any, applied: Any) -> Any:
    if not isinstance(live, dict) or not isinstance(applied, dict):
        return applied
    return {**live, **{key: _merged(live.get(key), value) for key, value in applied.items()}}


@contextmanager
def serving(cluster: Cluster, folder: Path, context: str = "local") -> Iterator[Path]:
    """A kubeconfig of the cluster, as long as it is served."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            status, body = cluster.answer(parts.path, parse_qs(parts.query))
            data = json.dumps(body).encode()
            cluster.asked.append(self.path)
            if parts.path in cluster.texts:
                status, data = 200, cluster.texts[parts.path].encode()
            self.send(status, data)

        def do_PATCH(self) -> None:
            parts = urlsplit(self.path)
            assert self.headers["Content-Type"] == "application/apply-patch+yaml"
            status, body = cluster.dry_run(parts.path, parse_qs(parts.query), self.body())
            self.send(status, json.dumps(body).encode())

        def do_POST(self) -> None:
            body = self.body()
            present = [each["metadata"]["name"] for each in cluster.lists.get(self.path, ())]
            status = 409 if body["metadata"]["name"] in present else 201
            if status == 201:
                cluster.created.append((self.path, body))
            self.send(status, json.dumps(body).encode())

        def body(self) -> Any:
            return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

        def send(self, status: int, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with served(server):
        yield kubeconfig(folder, f"http://127.0.0.1:{server.server_port}", context)


def kubeconfig(folder: Path, url: str, context: str = "local") -> Path:
    """A kubeconfig with one context, whose cluster has the same name."""
    file = folder / "kubeconfig"
    data = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": context, "cluster": {"server": url}}],
        "users": [{"name": "me", "user": {"token": "t"}}],
        "contexts": [{"name": context, "context": {"cluster": context, "user": "me"}}],
        "current-context": context,
    }
    file.write_text(yaml.safe_dump(data))
    return file
