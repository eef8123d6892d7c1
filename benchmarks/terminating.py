"""Whether what one team leaves Terminating holds up the jobs of another one: on a real control plane.

Usage: terminating.py CONTROLPLANE

CONTROLPLANE: as of `verdicts.py`. A cluster of two teams is rolled out. Then, one after the other, something of the
first team is deleted while it is in use and is in git again, each time with a new job of the second team:

- its queue, which left git with a run that is said to have ended and goes on (Kueue keeps it until the run ends);
- the class of its nodes (Karpenter keeps it until they are gone: a finalizer stands for Karpenter's);
- its claim (Kubernetes keeps it until no pod mounts it);
- its namespace, by hand (Kubernetes keeps it until all that is in it is gone: a finalizer stands for what is not).

Of each: which Kustomizations are Ready at the new revision, whether the job of the second team has its quota, and what
`check`, `status` and `drift` say. All but the last must hold up nobody: Flux creates nothing in a namespace that is
Terminating, and applies none of the stage (fluxcd/pkg ssa v0.76.2, ApplyAll). The exit code says whether that is so.
"""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import yaml
from verdicts import IMAGE, TRAINYARD, _has_quota, _job, _roll_out, _run

NAME = "held"
SETTLED = 15  # seconds


def main() -> int:
    """Show each, and say whether one team held up another one."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    controlplane = Path(sys.argv[1]).resolve()
    if not (controlplane / "rollout.sh").is_file():
        print(f"not shown: {controlplane / 'rollout.sh'} is not there")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        try:
            shown = _Shown(controlplane, Path(folder))
            shown.begin()
            held = [what() for what in (shown.queue, shown.node_class, shown.claim)]
            shown.namespace()
        finally:
            subprocess.run([str(controlplane / "down.sh")], check=False, capture_output=True)
    return 1 if any(held) else 0


class _Shown:
    def __init__(self, controlplane: Path, folder: Path) -> None:
        self._controlplane = controlplane
        self._folder = folder
        self._spec = _spec()
        self._count = 0

    def begin(self) -> None:
        """Both teams run a job."""
        self._compiled()
        _roll_out(self._folder / "generated" / NAME, self._controlplane)
        time.sleep(SETTLED)
        print(f"at first: quota for {sorted(self._admitted())}")

    def queue(self) -> bool:
        """The queue leaves git with its job, whose run goes on, and comes back."""
        whole = copy.deepcopy(self._spec)
        (run,) = (self._folder / "generated" / NAME / "runs").glob("first.one-*.json")
        spec = self._spec["spec"]
        spec["jobs"] = [each for each in spec["jobs"] if each["queue"] != "first"]
        self._compiled()
        spec["queues"] = [each for each in spec["queues"] if each["name"] != "first"]
        spec["completedRuns"] = [run.stem.partition(".")[2]]
        self._changed("the queue leaves git")
        spec["queues"] = whole["spec"]["queues"]
        spec["jobs"].append(_job_of("again", "first"))
        return self._beside_it("the queue is there again")

    def node_class(self) -> bool:
        """The class of the first team's nodes has a finalizer, and is deleted."""
        self._kubectl("patch", "ec2nodeclass", "first", "--type=merge", "--patch", _KEPT)
        self._kubectl("delete", "ec2nodeclass", "first", "--wait=false")
        return self._beside_it("the class of nodes is Terminating")

    def claim(self) -> bool:
        """The claim of the first team is deleted while its job mounts it."""
        self._kubectl("delete", "pvc", "data", "--namespace=first", "--wait=false")
        return self._beside_it("the claim is Terminating")

    def namespace(self) -> None:
        """Something in the namespace has a finalizer, and it is deleted by hand."""
        self._kubectl("create", "configmap", "kept", "--namespace=first")
        words = ["patch", "configmap", "kept", "--namespace=first", "--type=merge", "--patch"]
        self._kubectl(*words, _KEPT)
        self._kubectl("delete", "namespace", "first", "--wait=false")
        self._beside_it("the namespace is Terminating")

    def _beside_it(self, what: str) -> bool:
        """Whether a new job of the second team is held up."""
        self._count += 1
        name = f"two{self._count}"
        self._spec["spec"]["jobs"].append(_job_of(name, "second"))
        self._changed(what)
        is_held = name not in self._admitted()
        print(f"{what}: job {name} of the other team {'WAITS' if is_held else 'has its quota'}")
        for command in ("status", "drift"):
            said = self._trainyard(command, f"{NAME}.yaml", codes=tuple(range(6)))
            shown = [line for line in said.splitlines() if "Terminating" in line or "hang" in line]
            print("\n".join(f"  {command}: {line.strip()}" for line in shown))
        return is_held

    def _changed(self, what: str) -> None:
        said = self._compiled()
        codes = [line for line in said.splitlines() if "[CHG04" in line]
        print("\n".join(f"  check: {line}" for line in codes))
        folder = self._folder / "generated" / NAME
        words = [str(self._controlplane / "change.sh"), "--timeout", "90", str(folder)]
        done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=600)
        for line in done.stdout.splitlines():
            if line.startswith(("Kustomizations Ready", "  stuck")):
                print(f"  {line.strip()[:200]}")
        print(f"  {what}: {done.stdout.splitlines()[-1]}", flush=True)

    def _compiled(self) -> str:
        path = self._folder / f"{NAME}.yaml"
        path.write_text(yaml.safe_dump(self._spec, sort_keys=False))
        return self._trainyard("compile", path.name)

    def _admitted(self) -> set[str]:
        found = json.loads(self._kubectl("get", "workloads", "-A", "-o", "json"))
        return {_job(each) for each in found["items"] if _has_quota(each)}

    def _kubectl(self, *words: str) -> str:
        shell = f'. {self._controlplane}/env.sh; kubectl "$@"'
        return _run(["bash", "-c", shell, "kubectl", *words], self._folder)

    def _trainyard(self, *words: str, codes: tuple[int, ...] = (0,)) -> str:
        shell = f'. {self._controlplane}/env.sh; "$@" 2>&1'
        return _run(["bash", "-c", shell, "trainyard", *TRAINYARD, *words], self._folder, codes)


_KEPT = '{"metadata": {"finalizers": ["example.com/kept"]}}'


def _job_of(name: str, team: str) -> dict[str, Any]:
    mounts = [{"storage": "data", "path": "/data"}] if team == "first" else []
    return {
        "name": name,
        "queue": team,
        "nodes": 1,
        "image": IMAGE,
        "timeout": "12h",
        "command": ["torchrun", "t.py"],
        "mounts": mounts,
    }


def _spec() -> dict[str, Any]:
    lustre = {
        "id": "fs-0a1b2c3d4e5f60711",
        "mountName": "abcdefgh",
        "size": "4800Gi",
        "throughputPerTiB": 250,
        "version": "2.15",
        "zone": "us-west-2a",
    }
    teams = {"first": 2, "second": 6}
    return {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": NAME},
        "spec": {
            "account": "111122223333",
            "region": "us-west-2",
            "network": {"create": {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}},
            "platform": {"eks": {"apiServer": {"public": ["203.0.113.0/24"]}}},
            "storage": [{"name": "data", "fsxLustre": {"existing": lustre}}],
            "nodePools": [
                {
                    "name": team,
                    "instanceTypes": ["p5.48xlarge"],
                    "zones": ["us-west-2a"],
                    "nodes": {"max": nodes},
                }
                for team, nodes in teams.items()
            ],
            "namespaces": [{"name": team} for team in teams],
            "queues": [
                {"name": team, "namespaces": [team], "quota": [{"pool": team, "nodes": nodes}]}
                for team, nodes in teams.items()
            ],
            "jobs": [_job_of("one", "first"), _job_of("two", "second")],
        },
    }


if __name__ == "__main__":
    sys.exit(main())
