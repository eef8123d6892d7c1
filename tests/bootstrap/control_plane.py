"""A real API server with the CRDs of what a cluster runs, by ``shared/controlplane``, where that is built."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from answering import STAND_INS, Answering, serving
from builders import ROOT

SHARED = ROOT.parent / "shared" / "controlplane"
BUILT = Path(os.environ.get("CP_HOME", Path.home() / ".cache" / "cp")) / "bin"
NEEDED = ("etcd", "kube", "kubectl", "cptool")
OF_FLUX = ("kwok", "kueue", "jobset", "trainer", "kustomize-controller")
"""What a whole cluster takes too."""


def lacking(*more: str) -> str:
    """Why there is none here; empty where there is one."""
    if not SHARED.is_dir():
        return f"{SHARED} is not there"
    absent = [name for name in (*NEEDED, *more) if not (BUILT / name).exists()]
    return f"{', '.join(absent)} of {SHARED}/build.sh" if absent else ""


def _free_block() -> int:
    """The first of the ports that it takes, three of which it listens at."""
    for first in range(24000, 30000, 100):
        try:
            for port in (first, first + 1, first + 2):
                with socket.socket() as tried:
                    tried.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise AssertionError("no free ports")


@contextmanager
def control_plane(home: Path, parts: str = "core,crds") -> Iterator[Path]:
    """Runs one in a folder of its own; its kubeconfig. ``parts``: of `up.sh`."""
    home.mkdir(parents=True, exist_ok=True)
    for name in ("bin", "manifests"):
        (home / name).symlink_to(BUILT.parent / name)
    env = {**os.environ, "CP_HOME": str(home), "CP_PORT": str(_free_block())}
    try:
        done = subprocess.run(
            ["bash", str(SHARED / "up.sh"), "--parts", parts],
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        yield home / "run" / "pki" / "admin.kubeconfig"
    finally:
        subprocess.run(["bash", str(SHARED / "down.sh")], env=env, check=False, capture_output=True)


def with_kubectl(
    world: Answering, script: Path, *words: str, config: Path, **env: str
) -> subprocess.CompletedProcess[str]:
    """Runs a script with the real kubectl, among stand-ins for all else; its home is the folder of ``config``."""
    functions = config.parent / "functions"
    functions.write_text(STAND_INS + "\nunset -f kubectl\n")
    with serving(world) as port:
        done = subprocess.run(
            ["bash", str(script), *words],
            env={
                "PATH": f"{BUILT}:{os.environ['PATH']}",
                "HOME": str(config.parent),
                "KUBECONFIG": str(config),
                "BASH_ENV": str(functions),
                "WORLD_PORT": str(port),
                **env,
            },
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )
    assert not world.faults, (world.faults, done.stdout, done.stderr)
    return done
