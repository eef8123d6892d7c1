"""The kubeconfig of who asks: one context of it, checked, with the credentials that its plugin gives.

The client for Python reads whatever a kubeconfig names, a device without end too, runs a plugin however long it takes,
and goes on without credentials where it fails. So files are looked at here before it opens them, and plugins are run
here, for ``PLUGIN_SECONDS`` at most, until they have printed 1 MiB.

Sources: kubernetes.io, Organizing Cluster Access Using kubeconfig Files, and Authenticating, client-go credential
plugins (client.authentication.k8s.io/v1 ExecCredential); kubernetes 37.0.1, config/kube_config.py.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple

from trainyard.extensions.operate.api import Api, Context
from trainyard.extensions.operate.faults import ClusterError
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.source.libyaml import yaml

PLUGIN_SECONDS = 60.0
"""How long a credential plugin may take: a person may have to confirm in a browser."""
_LOOK_SECONDS = 0.02
_MOST = 1 << 20
_WRITE = "`aws eks update-kubeconfig --name CLUSTER` writes one; KUBECONFIG names another file"
_FILES = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}
_LISTS = {"cluster": "clusters", "user": "users", "context": "contexts"}


def connect(wanted: str | None) -> Api:
    """The cluster of a context of the kubeconfig; of the current one where none is named."""
    from kubernetes import client, config

    name, alone = chosen(config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION, wanted)
    configuration = client.Configuration()
    try:
        config.load_kube_config_from_dict(alone, client_configuration=configuration)  # type: ignore[no-untyped-call]
        made = client.ApiClient(configuration=configuration)
    except (
        Exception
    ) as fault:  # the client lets through whatever certificates and keys make its parsers raise
        raise ClusterError(
            "CLU001",
            f"context `{name}` of the kubeconfig cannot be used: {' '.join(str(fault).split())}",
            _WRITE,
        ) from None
    cluster = alone["contexts"][0]["context"]["cluster"]
    return Api(made, Context(name, cluster, configuration.host))


class Entry(NamedTuple):
    """An entry of a list of the kubeconfig: what it says, and the folder from which its paths start."""

    said: Mapping[str, Any]
    folder: Path


class Kubeconfig:
    """The files that KUBECONFIG names, as one. Raises ``ClusterError`` where they cannot be used."""

    def __init__(self, location: str) -> None:
        self.current = ""
        self._entries: dict[str, dict[str, Entry]] = {what: {} for what in _LISTS}
        files = [Path(name).expanduser() for name in location.split(os.pathsep) if name]
        found = [file for file in files if file.exists()]
        if not found:
            raise _unusable(f"there is no kubeconfig at `{location}`")
        for file in found:
            self._add(file)

    def _add(self, file: Path) -> None:
        data = _parsed(file)
        self.current = self.current or str(data.get("current-context") or "")
        for what, name in _LISTS.items():
            listed = data.get(name) or []
            if not isinstance(listed, list):
                raise _unusable(f"`{name}` of `{file}` is no list")
            for item in listed:
                said = item.get(what) if isinstance(item, dict) else None
                if not isinstance(said, dict) or "name" not in item:
                    raise _unusable(
                        f"an entry of `{name}` of `{file}` has no `name`, or no `{what}`"
                    )
                entry = Entry(said, file.absolute().parent)
                self._entries[what].setdefault(str(item["name"]), entry)

    def context(self, wanted: str | None) -> tuple[str, Entry]:
        """The context of a name, or the current one."""
        name = self.current if wanted is None else wanted
        contexts = self._entries["context"]
        if name in contexts:
            return name, contexts[name]
        if not name:
            hint = "`kubectl config use-context NAME`, or `--context NAME`"
            raise ClusterError("CLU001", "the kubeconfig has no current context", hint)
        names = list(contexts)
        hint = name_meant(name, names) or f"it has {', '.join(names) or 'none'}"
        raise ClusterError("CLU001", f"the kubeconfig has no context `{name}`", hint)

    def part(self, what: str, context: str, entry: Entry) -> dict[str, Any]:
        """The cluster or the user of a context, with the paths of its files as they are from everywhere."""
        name = str(entry.said.get(what) or "")
        found = self._entries[what].get(name)
        if found is None:
            raise _unusable(
                f"context `{context}` names {what} `{name}`, which the kubeconfig does not have"
            )
        said = dict(found.said)
        for key in _FILES[what]:
            if said.get(key):
                file = found.folder / Path(str(said[key])).expanduser()
                said[key] = _regular(file, f"`{key}` of {what} `{name}`")
        return said

    def user(self, context: str, entry: Entry) -> dict[str, Any]:
        """The credentials of the user of a context, those of its plugin among them."""
        said = self.part("user", context, entry)
        name = entry.said.get("user")
        if "auth-provider" in said:
            raise ClusterError(
                "CLU001",
                f"user `{name}` logs in by `auth-provider`, which is not run here",
                "use a credential plugin (`exec`), as `aws eks update-kubeconfig` and kubelogin write it",
            )
        plugin = said.pop("exec", None)
        if plugin is None:
            return said
        folder = self._entries["user"][str(name)].folder
        return {**said, **_credentials(plugin, f"the credential plugin of user `{name}`", folder)}


def chosen(location: str, wanted: str | None) -> tuple[str, dict[str, Any]]:
    """The name of a context, and a kubeconfig of it alone, as the client takes it."""
    whole = Kubeconfig(location)
    name, entry = whole.context(wanted)
    cluster = whole.part("cluster", name, entry)
    server = cluster.get("server")
    if not isinstance(server, str) or not server.startswith(("https://", "http://")):
        raise _unusable(f"the cluster of context `{name}` has no `server` with `https://`")
    user = whole.user(name, entry)
    context = {"cluster": str(entry.said["cluster"]), "user": str(entry.said["user"])}
    alone = {
        "current-context": name,
        "contexts": [{"name": name, "context": context}],
        "clusters": [{"name": context["cluster"], "cluster": cluster}],
        "users": [{"name": context["user"], "user": user}],
    }
    return name, alone


def _parsed(file: Path) -> Mapping[str, Any]:
    _regular(file, "the kubeconfig")
    try:
        data = yaml.safe_load(file.read_bytes())
    except (OSError, ValueError, yaml.YAMLError) as fault:
        reason = " ".join(str(fault).split())
        raise _unusable(f"the kubeconfig `{file}` cannot be read: {reason}") from None
    if not isinstance(data, dict):
        raise _unusable(f"the kubeconfig `{file}` is no mapping")
    return data


def _regular(file: Path, what: str) -> str:
    """The path of a file of at most 1 MiB; to open a pipe or a device could last for ever."""
    try:
        status = file.stat()
    except OSError as fault:
        raise _unusable(f"{what} cannot be read: {fault.strerror}: `{file}`") from None
    if not stat.S_ISREG(status.st_mode):
        raise _unusable(f"{what} is no file: `{file}`")
    if status.st_size > _MOST:
        raise _unusable(f"{what} has more than 1 MiB: `{file}`")
    return str(file)


def _credentials(plugin: Any, what: str, folder: Path) -> dict[str, Any]:
    """What a plugin says: a token, or a certificate with its key."""
    if not isinstance(plugin, dict) or not plugin.get("command") or not plugin.get("apiVersion"):
        raise _unusable(f"{what} has no `command`, or no `apiVersion`")
    said = _run(plugin, what, folder)
    try:
        status = json.loads(said)["status"]
        token = status.get("token")
        pair = (status.get("clientCertificateData"), status.get("clientKeyData"))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _failed(f"{what} prints no ExecCredential with a `status`") from None
    if token:
        return {"token": str(token)}
    if not all(pair):
        raise _failed(f"{what} gives neither a token nor a certificate with its key")
    certificate, key = (base64.b64encode(str(text).encode()).decode() for text in pair)
    return {"client-certificate-data": certificate, "client-key-data": key}


def _run(plugin: Mapping[str, Any], what: str, folder: Path) -> bytes:
    """What a plugin prints. Where there is a terminal it may ask a person there."""
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    asked = {
        "apiVersion": plugin["apiVersion"],
        "kind": "ExecCredential",
        "spec": {"interactive": has_terminal},
    }
    try:
        words = [str(plugin["command"]), *map(str, plugin.get("args") or ())]
        own = {str(each["name"]): str(each["value"]) for each in plugin.get("env") or ()}
    except (TypeError, KeyError):
        raise _unusable(
            f"`args` or `env` of {what} is no list that a plugin can be given"
        ) from None
    # Files, and not pipes: what a plugin starts and leaves behind holds a pipe open, and nothing bounds what is in one.
    with TemporaryFile() as out, TemporaryFile() as err:
        try:
            process = subprocess.Popen(  # noqa: S603 - what the kubeconfig of the user names, as kubectl does
                words,
                stdin=None if has_terminal else subprocess.DEVNULL,
                stdout=out,
                stderr=None if has_terminal else err,
                cwd=folder if os.sep in words[0] else None,
                env={**os.environ, **own, "KUBERNETES_EXEC_INFO": json.dumps(asked)},
            )
        except (OSError, ValueError) as fault:
            reason = getattr(fault, "strerror", None) or fault
            raise _failed(f"{what} cannot be run: {reason}: `{words[0]}`") from None
        try:
            _wait(process, (out, err), f"{what}, `{words[0]}`,")
        finally:
            process.kill()
            process.wait()
        out.seek(0)
        err.seek(0)
        said, errors = out.read(_MOST), err.read(_MOST)
    if process.returncode:
        lines = errors.decode(errors="replace").split("\n")
        notes = tuple(f"{words[0]}: {line.strip()}" for line in lines if line.strip())[-3:]
        raise _failed(f"{what}, `{words[0]}`, fails with exit code {process.returncode}", notes)
    return said


def _wait(process: subprocess.Popen[bytes], files: Sequence[IO[bytes]], what: str) -> None:
    """Wait for the end of a plugin, as long as it says little and takes no longer than it may."""
    end = time.monotonic() + PLUGIN_SECONDS
    while process.poll() is None:
        if any(os.fstat(file.fileno()).st_size > _MOST for file in files):
            raise _failed(f"{what} prints more than 1 MiB")
        left = end - time.monotonic()
        if left <= 0:
            raise _failed(f"{what} does not answer in {PLUGIN_SECONDS:g} seconds")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(left, _LOOK_SECONDS))


def _unusable(message: str) -> ClusterError:
    return ClusterError("CLU001", message, _WRITE)


def _failed(message: str, notes: tuple[str, ...] = ()) -> ClusterError:
    help = "log in again (`aws sso login`), and try `kubectl auth whoami`"
    return ClusterError("CLU004", message, help, notes=notes)
