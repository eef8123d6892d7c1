"""``up.sh`` from its step `accept` on, with the real kubectl and a real API server.

AWS is a stand-in, and so is Flux: it makes the Kustomizations of the folder one after another, and says of each a while
later that it is Ready.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
import yaml
from builders import ROOT
from control_plane import BUILT, control_plane, lacking, with_kubectl
from drawn import only_whole
from hyperpod_world import HyperPodWorld
from world import ACCOUNT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    only_whole("an API server takes long to start"),
    pytest.mark.skipif(lacking() != "", reason=f"no real API server: {lacking()}"),
]
KUSTOMIZATION = "kustomizations.kustomize.toolkit.fluxcd.io"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with control_plane(tmp_path_factory.mktemp("cp") / "home") as config:
        yield config


class Real:
    """A cluster of the repository: its scripts, a real API server, and stand-ins for everything else."""

    def __init__(self, name: str, config: Path, folder: Path) -> None:
        self.folder = ROOT / "generated" / name
        script = (self.folder / "bootstrap" / "up.sh").read_text()
        region = script.split("region=")[1].split()[0]
        self.world = HyperPodWorld(self.folder, name, region)
        self.world.cluster_made = True
        stack = {"StackStatus": "CREATE_COMPLETE", "template": {"Resources": {}}}
        self.world.stacks[f"eksctl-{name}-cluster"] = stack
        self.own = folder / "config"
        data = yaml.safe_load(config.read_text())
        arn = f"arn:aws:eks:{region}:{ACCOUNT}:cluster/{name}"
        data["clusters"][0]["name"] = arn
        data["contexts"][0]["context"]["cluster"] = arn
        self.own.write_text(yaml.safe_dump(data))
        self.kubectl("delete", KUSTOMIZATION, "--all", "--namespace=flux-system", check=False)
        self.kubectl("create", "namespace", "flux-system", check=False)

    def kubectl(self, *words: str, stdin: str = "", check: bool = True) -> str:
        done = subprocess.run(
            [str(BUILT / "kubectl"), *words],
            env={**os.environ, "KUBECONFIG": str(self.own)},
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert not check or done.returncode == 0, done.stderr
        return done.stdout

    def stages(self) -> list[Path]:
        return sorted(self.folder.glob("**/kustomization-*.yaml"))

    def brings(self, files: list[Path]) -> None:
        """What Flux does, as far as scripts see it."""
        for file in files:
            time.sleep(0.5)
            self.kubectl("apply", "--filename", str(file))
        condition = {"type": "Ready", "status": "True", "reason": "R", "message": ""}
        condition["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        ready = json.dumps({"status": {"observedGeneration": 1, "conditions": [condition]}})
        for file in files:
            name = file.stem.removeprefix("kustomization-")
            self.kubectl(
                *("patch", KUSTOMIZATION, name, "--namespace=flux-system", "--subresource=status"),
                *("--type=merge", "--patch", ready),
            )

    def run(self, script: str, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return with_kubectl(
            self.world,
            self.folder / "bootstrap" / script,
            *words,
            config=self.own,
            POLL_SECONDS="0.2",
            **env,
        )


CLUSTERS = ["starter", "hyperpod-lora"]


@pytest.mark.parametrize("name", CLUSTERS)
def test_accept_waits_for_what_flux_has_not_made_yet(
    name: str, config: Path, tmp_path: Path
) -> None:
    real = Real(name, config, tmp_path)
    flux = Thread(target=real.brings, args=(real.stages(),))
    flux.start()
    done = real.run("up.sh", "--from", "accept")
    flux.join()
    assert done.returncode == 0, done.stdout + done.stderr
    for file in real.stages():
        assert f"{file.stem.removeprefix('kustomization-')} condition met" in done.stdout
    assert done.stdout.rindex("condition met") < done.stdout.index("get clusterqueues")
    assert done.stdout.endswith(f"cluster {name} is up\n")


def test_a_stage_that_never_comes_ends_it(config: Path, tmp_path: Path) -> None:
    real = Real("two-teams", config, tmp_path)
    some = [each for each in real.stages() if "queues" not in each.name]
    real.brings(some)
    done = real.run("up.sh", "--from", "accept", TRIES="8")
    assert done.returncode == 1
    assert "trainyard-queues: not within 30 minutes" in done.stderr
    assert "is up" not in done.stdout
    assert "clusterqueues" not in done.stdout
