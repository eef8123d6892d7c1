"""The Kubernetes API of one cluster: JSON by path.

Sources: kubernetes.io, API concepts (``limit`` and ``continue``, ``dryRun``, server-side apply); kubernetes 37.0.1, the
client for Python, which keeps the connections.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urlencode

from trainyard.extensions.operate.faults import ClusterError, RefusedError
from trainyard.output.manifest import Body

CONNECT_SECONDS, READ_SECONDS = 5.0, 30.0
_PAGE = 500
_JSON = "application/json"
_APPLY = "application/apply-patch+yaml"  # any JSON is YAML
_ANONYMOUS = "system:anonymous"
_LOGIN = "log in again, and try `kubectl auth whoami`; `aws eks update-kubeconfig --name CLUSTER` writes the context"

Query = Mapping[str, str]


class Context(NamedTuple):
    """A context of the kubeconfig: its name, the name of its cluster there, and the server's address."""

    name: str
    cluster: str
    server: str


def path_of(version: str, plural: str, namespace: str) -> str:
    """The path of all objects of a kind in a namespace."""
    return f"{version_path(version)}/namespaces/{namespace}/{plural}"


def version_path(version: str) -> str:
    """The path of what an ``apiVersion`` serves."""
    prefix = "apis" if "/" in version else "api"
    return f"/{prefix}/{version}"


class Api:
    """Asks one cluster. Every method raises ``ClusterError`` where the cluster cannot be asked."""

    def __init__(self, client: Any, context: Context) -> None:
        self._client = client
        self.context = context

    def get(self, path: str, query: Query | None = None) -> Body:
        """The object at a path."""
        return self._parsed(self._answer(path, query or {}))

    def dry_run(self, path: str, body: Body, manager: str) -> Body:
        """The object at a path as it would be if ``manager`` applied a body and took every field of it; nothing is
        stored (``dryRun=All``)."""
        query = {"dryRun": "All", "fieldManager": manager, "force": "true"}
        return self._parsed(self._answer(path, query, method="PATCH", type=_APPLY, body=body))

    def create(self, path: str, body: Body) -> None:
        """Store an object in a list."""
        self._parsed(self._answer(path, {}, method="POST", body=body))

    def find(self, path: str, query: Query | None = None) -> Body | None:
        """The object at a path, or ``None`` where there is none, or its kind is not served."""
        try:
            return self.get(path, query)
        except RefusedError as fault:
            if fault.status == HTTPStatus.NOT_FOUND:
                return None
            raise

    def items(self, path: str, labels: Mapping[str, str] | None = None) -> list[Body]:
        """All objects of a list, page by page; none where the kind is not served."""
        found: list[Body] = []
        query = {"limit": str(_PAGE)}
        if labels:
            query["labelSelector"] = ",".join(f"{key}={value}" for key, value in labels.items())
        while True:
            page = self.find(path, query)
            if page is None:
                return found
            found += page.get("items") or []
            more = (page.get("metadata") or {}).get("continue")
            if not more:
                return found
            query["continue"] = more

    @cached_property
    def preferred(self) -> Mapping[str, str]:
        """The preferred ``apiVersion`` of each API group that is served."""
        groups = self.get("/apis").get("groups") or []
        found = {"": "v1"}
        for group in groups:
            found[group["name"]] = group["preferredVersion"]["groupVersion"]
        return found

    def lines(self, path: str, query: Query, *, endless: bool) -> Iterator[str]:
        """The lines of a text as they come; ``endless``: however long the next one takes."""
        response = self._answer(path, query, endless=endless)
        rest = b""
        with _reported(self.context):
            for part in response.stream(decode_content=True):
                *whole, rest = (rest + part).split(b"\n")
                for line in whole:
                    yield line.decode(errors="replace")
        if rest:
            yield rest.decode(errors="replace")

    def _parsed(self, response: Any) -> Body:
        with _reported(self.context):
            data = response.read()
        try:
            found = json.loads(data)
        except ValueError:
            found = None
        if isinstance(found, dict):
            return found
        raise ClusterError(
            "CLU008",
            f"the server of context `{self.context.name}` ({self.context.server}) answers no object in JSON",
            "check that it is the address of a Kubernetes API, and not of a proxy",
        )

    def _answer(
        self,
        path: str,
        query: Query,
        *,
        endless: bool = False,
        method: str = "GET",
        type: str = _JSON,
        body: Body | None = None,
    ) -> Any:
        """The response to a request, whose body is not read yet; ``body`` is sent as JSON, with its ``type``."""
        url = f"{self._client.configuration.host.rstrip('/')}{path}"
        if query:
            url += f"?{urlencode(query)}"
        headers = {"Accept": f"{_JSON}, */*"}
        for setting in self._client.configuration.auth_settings().values():
            headers[setting["key"]] = setting["value"]
        sent = None
        if body is not None:
            headers["Content-Type"] = type
            sent = json.dumps(body).encode()
        with _reported(self.context):
            response = self._client.rest_client.pool_manager.request(
                method,
                url,
                body=sent,
                headers=headers,
                timeout=_timeout(endless=endless),
                preload_content=False,
                retries=False,
            )
            if response.status < 300:
                return response
            said = response.read()
        raise self._refusal(f"{method} {path}", response.status, said)

    def _refusal(self, request: str, status: int, said: bytes) -> RefusedError:
        """What the server says against a request."""
        reason = _message(said) or f"HTTP {status}"
        name = self.context.name
        if status == HTTPStatus.UNAUTHORIZED or (
            status == HTTPStatus.FORBIDDEN and _ANONYMOUS in reason
        ):
            return RefusedError(
                "CLU004",
                f"the cluster of context `{name}` does not know who asks: {reason}",
                _LOGIN,
                status=status,
                reason=reason,
            )
        if status == HTTPStatus.FORBIDDEN:
            return RefusedError(
                "CLU005",
                f"the user of context `{name}` may not do this: {reason}",
                "ask the platform team; docs/operate.md lists the rights",
                status=status,
                reason=reason,
            )
        return RefusedError(
            "CLU008",
            f"{request} fails with HTTP {status}: {reason}",
            "",
            status=status,
            reason=reason,
        )


def _timeout(*, endless: bool) -> Any:
    from urllib3 import Timeout

    return Timeout(connect=CONNECT_SECONDS, read=None if endless else READ_SECONDS)


@contextmanager
def _reported(context: Context) -> Iterator[None]:
    """Failures of the connection in our words."""
    from urllib3 import exceptions

    where = f"the server of context `{context.name}` ({context.server})"
    try:
        yield
    except exceptions.SSLError as fault:
        raise ClusterError(
            "CLU003",
            f"{where} is not trusted: {_words(fault)}",
            "check the certificate authority of the context: the cluster may have been recreated",
        ) from None
    except exceptions.HTTPError as fault:
        # The client has it among the time-outs, and nobody waited.
        is_refused = isinstance(fault, exceptions.NewConnectionError)
        if isinstance(fault, exceptions.TimeoutError) and not is_refused:
            raise ClusterError(
                "CLU002",
                f"{where} does not answer in time",
                "check the VPN, and whether the addresses of `platform.eks.apiServer.public` hold yours",
            ) from None
        raise ClusterError(
            "CLU002",
            f"{where} cannot be reached: {_words(fault)}",
            "check the context (`kubectl config current-context`), the VPN, and whether the cluster exists",
        ) from None


def _words(fault: BaseException) -> str:
    """What an error of the connection says, without the objects that it quotes."""
    text = " ".join(str(fault).split())
    return text.rpartition(">: ")[2] or type(fault).__name__


def _message(said: bytes) -> str:
    """The message of the API server's ``Status``."""
    try:
        answer = json.loads(said)
    except ValueError:
        return " ".join(said.decode(errors="replace").split())[:200]
    if isinstance(answer, dict):
        return " ".join(str(answer.get("message", "")).split())
    return ""
