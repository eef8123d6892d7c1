"""What is wrong with a kubeconfig is said in our words, and nothing that it names is waited for without end."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from trainyard.extensions.operate import kubeconfig
from trainyard.extensions.operate.faults import ClusterError
from trainyard.extensions.operate.kubeconfig import chosen

GIVEN = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
EXEC = {"apiVersion": GIVEN["apiVersion"], "interactiveMode": "IfAvailable"}


def _config(**user: Any) -> dict[str, Any]:
    return {
        "current-context": "prod",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
    }


def _written(folder: Path, data: Any) -> str:
    file = folder / "config"
    file.write_text(data if isinstance(data, str) else yaml.safe_dump(data))
    return str(file)


def _refused(location: str) -> tuple[str, str]:
    with pytest.raises(ClusterError) as found:
        chosen(location, None)
    diagnostic = found.value.diagnostic
    assert diagnostic.help
    return diagnostic.code, diagnostic.message


def _plugin(folder: Path, script: str) -> dict[str, Any]:
    program = folder / "plugin"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {**EXEC, "command": str(program)}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "is no mapping"),
        ("- a", "is no mapping"),
        ("{", "cannot be read"),
        ("\0", "cannot be read"),
        ({**_config(), "current-context": None}, "has no current context"),
        ({**_config(), "current-context": "prd"}, "has no context `prd`"),
        ({**_config(), "contexts": {}}, "has no context `prod`"),
        ({**_config(), "contexts": "prod"}, "`contexts` of"),
        ({**_config(), "contexts": ["prod"]}, "an entry of `contexts`"),
        ({**_config(), "clusters": []}, "names cluster `c`, which the kubeconfig does not have"),
        ({**_config(), "users": None}, "names user `u`, which the kubeconfig does not have"),
        ({**_config(), "clusters": [{"name": "c", "cluster": {}}]}, "has no `server`"),
        (
            {**_config(), "clusters": [{"name": "c", "cluster": {"server": "file:///"}}]},
            "no `server`",
        ),
        (_config(exec={"command": "aws"}), "has no `command`, or no `apiVersion`"),
        (_config(exec="aws"), "has no `command`, or no `apiVersion`"),
        (_config(**{"auth-provider": {"name": "gcp"}}), "`auth-provider`"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, data: Any, message: str) -> None:
    code, said = _refused(_written(tmp_path, data))
    assert code == "CLU001"
    assert message in said


@pytest.mark.parametrize("key", ["tokenFile", "client-certificate", "client-key"])
@pytest.mark.parametrize("kind", ["device", "pipe", "folder", "large", "missing"])
def test_only_files_are_read(tmp_path: Path, key: str, kind: str) -> None:
    named = tmp_path / "named"
    if kind == "device":
        named = Path("/dev/zero")
    elif kind == "pipe":
        os.mkfifo(named)
    elif kind == "folder":
        named.mkdir()
    elif kind == "large":
        named.write_bytes(bytes((1 << 20) + 1))
    code, said = _refused(_written(tmp_path, _config(**{key: str(named)})))
    assert code == "CLU001"
    assert f"`{key}` of user `u`" in said


def test_the_authority_and_the_kubeconfig_are_files_too(tmp_path: Path) -> None:
    data = _config()
    data["clusters"][0]["cluster"]["certificate-authority"] = "/dev/zero"
    assert (
        "`certificate-authority` of cluster `c` is no file" in _refused(_written(tmp_path, data))[1]
    )
    os.mkfifo(tmp_path / "pipe")
    assert "the kubeconfig is no file" in _refused(str(tmp_path / "pipe"))[1]
    assert "there is no kubeconfig" in _refused(str(tmp_path / "none"))[1]


def test_paths_start_from_the_file_that_names_them(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("secret")
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text(yaml.safe_dump({**_config(), "users": []}))
    other.write_text(yaml.safe_dump({"users": _config(tokenFile="token")["users"]}))
    name, alone = chosen(f"{one}{os.pathsep}{other}", None)
    assert name == "prod"
    assert alone["users"][0]["user"] == {"tokenFile": str(tmp_path / "token")}


def test_a_plugin_gives_a_token_or_a_certificate(tmp_path: Path) -> None:
    said = json.dumps({**GIVEN, "status": {"token": "t"}})
    plugin = _plugin(tmp_path, f"echo '{said}'")
    _, alone = chosen(_written(tmp_path, _config(exec=plugin)), None)
    assert alone["users"][0]["user"] == {"token": "t"}
    pair = {"clientCertificateData": "certificate", "clientKeyData": "key"}
    said = json.dumps({**GIVEN, "status": pair})
    _, alone = chosen(_written(tmp_path, _config(exec=_plugin(tmp_path, f"echo '{said}'"))), None)
    assert set(alone["users"][0]["user"]) == {"client-certificate-data", "client-key-data"}


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exec sleep 60", "does not answer in 0.2 seconds"),
        ("echo expired >&2; exit 3", "fails with exit code 3"),
        ("echo no", "prints no ExecCredential"),
        ("echo '[]'", "prints no ExecCredential"),
        ("""echo '{"status": "x"}'""", "prints no ExecCredential"),
        ("""echo '{"status": {}}'""", "neither a token nor a certificate"),
        ("exec yes", "prints more than 1 MiB"),
        ("exec yes >&2", "prints more than 1 MiB"),
        ("sleep 60 & echo no", "prints no ExecCredential"),
    ],
)
def test_a_plugin_that_fails_is_not_gone_on_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    if "seconds" in message:
        monkeypatch.setattr(kubeconfig, "PLUGIN_SECONDS", 0.2)
    before = time.monotonic()
    code, said = _refused(_written(tmp_path, _config(exec=_plugin(tmp_path, script))))
    assert code == "CLU004"
    assert message in said
    assert time.monotonic() - before < 30


def test_a_plugin_that_is_not_installed(tmp_path: Path) -> None:
    plugin = {**EXEC, "command": "no-such-plugin"}
    code, said = _refused(_written(tmp_path, _config(exec=plugin)))
    assert (code, "cannot be run" in said) == ("CLU004", True)


@pytest.mark.parametrize("words", [{"args": 5}, {"env": [3]}, {"env": 3}, {"env": [{"name": "A"}]}])
def test_a_plugin_with_words_that_are_none(tmp_path: Path, words: dict[str, Any]) -> None:
    code, said = _refused(_written(tmp_path, _config(exec={**EXEC, "command": "true", **words})))
    assert (code, "`args` or `env`" in said) == ("CLU001", True)


def test_a_plugin_whose_name_no_program_has(tmp_path: Path) -> None:
    code, said = _refused(_written(tmp_path, _config(exec={**EXEC, "command": "a\0b"})))
    assert (code, "cannot be run" in said) == ("CLU004", True)
