"""How often what `simulate` says of a job comes true: from compiled specs through Flux to a real Kueue.

Usage: verdicts.py CONTROLPLANE [SPEC …]

CONTROLPLANE is a folder with `rollout.sh`, which applies a cluster's folder to a fresh control plane as Flux does (API
server, Flux' kustomize-controller, Kueue, Trainer, simulated nodes). Without it nothing is measured, and that is said.
SPEC: files of clusters; `--random N` draws so many more, `--seed S` others, `--out DIR` keeps them; with `--together`
they are parts of one cluster, which share no quota and no nodes, and take the time of one. Of each: its verdicts, then
which jobs had their quota once all had arrived. A verdict without a condition that did not come true fails the run.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[1]
TRAINYARD = [sys.executable, "-m", "trainyard"]
IMAGE = "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0"
EXPECTED = {"FITS": True, "WAITS FOR": False, "NEVER FITS": False}
"""Whether a job of an unconditional verdict is admitted."""
ROLLED_OUT = "Kustomizations Ready: "
"""How `rollout.sh` says that all is applied. What it does after that, no verdict speaks of."""
SETTLED = 30  # seconds after that
KINDS: dict[str, dict[str, Any]] = {
    "TrainJob": {"command": ["torchrun", "t.py"]},
    "Job": {"command": ["python", "t.py"]},
    "JobSet": {"command": ["torchrun", "t.py"]},
    "RayJob": {"command": ["python", "t.py"], "image": "registry.example/ray-train:2.56"},
}
"""Kinds of jobs whose operators come as charts, which CONTROLPLANE says are Ready, and what their keys have to be."""
SEVERAL_POD_SETS = {"RayJob"}
"""Kinds of which a job names one pool."""
OFTEN = (6, 2, 2, 2)
"""How often a job is of each of these kinds."""


def main() -> int:
    """Measure, print, and say whether all came true."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("controlplane", type=Path)
    parser.add_argument("specs", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--out", type=Path, metavar="DIR")
    given = parser.parse_args()
    controlplane = given.controlplane.resolve()
    rollout = controlplane / "rollout.sh"
    if not rollout.is_file():
        print(f"not measured: {rollout} is not there")
        return 0
    total = Counts()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        specs = [
            *(each.resolve() for each in given.specs),
            *_random(folder.resolve(), given.random, given.seed, together=given.together),
        ]
        for spec in specs:
            counts = _measured(spec, controlplane)
            print(f"{spec.stem}: {counts}", flush=True)
            total = Counts(*map(sum, zip(total, counts, strict=True)))
    print(f"all: {total}")
    return 1 if total.false else 0


class Counts(NamedTuple):
    """How many verdicts without a condition came true, and how many did not; those with one; and of the latter those
    that are as in the order in which Flux creates the jobs."""

    true: int = 0
    false: int = 0
    conditional: int = 0
    in_order: int = 0

    def __str__(self) -> str:
        return (
            f"without a condition {self.true} of {self.true + self.false} came true; with one"
            f" {self.conditional}, of which {self.in_order} as Flux creates them"
        )


def _measured(spec: Path, controlplane: Path) -> Counts:
    with tempfile.TemporaryDirectory() as folder:
        said = _simulated(spec, Path(folder))
        _run([*TRAINYARD, "compile", str(spec)], Path(folder))
        admitted = _admitted(next(Path(folder, "generated").iterdir()), controlplane)
    true = false = conditional = in_order = 0
    for job in said["jobs"]:
        name, verdict = job["name"], job["verdict"]
        is_admitted = name in admitted
        expected = EXPECTED.get(verdict)
        if expected is None:
            conditional += 1
            in_order += is_admitted is (name not in said["waiting"])
        elif expected is is_admitted:
            true += 1
        else:
            false += 1
            print(f"{spec.stem}: {name} {verdict}, admitted: {is_admitted}")
    return Counts(true, false, conditional, in_order)


def _simulated(spec: Path, folder: Path) -> Mapping[str, Any]:
    """What is said of a cluster before it is compiled, and so before any of its jobs runs."""
    said = _run([*TRAINYARD, "simulate", str(spec), "--format", "json"], folder, codes=(0, 1))
    (cluster,) = json.loads(said)["clusters"]
    found: Mapping[str, Any] = cluster
    return found


def _admitted(folder: Path, controlplane: Path) -> set[str]:
    """The jobs that had their quota once all had arrived, by their names in the spec."""
    try:
        _roll_out(folder, controlplane)
        time.sleep(SETTLED)
        found = json.loads(
            _run(
                ["bash", "-c", f". {controlplane}/env.sh; kubectl get workloads -A -o json"], folder
            )
        )
        if not found["items"]:
            sys.exit(f"{folder.name}: no job arrived")
        return {_job(each) for each in found["items"] if _has_quota(each)}
    finally:
        subprocess.run([str(controlplane / "down.sh")], check=False, capture_output=True)


def _roll_out(folder: Path, controlplane: Path) -> None:
    """Until Flux has applied all of a cluster's folder. Whether gangs run then is not asked: not every one does."""
    words = [str(controlplane / "rollout.sh"), "--timeout", "240", str(folder)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as rollout:
        assert rollout.stdout is not None
        said = []
        for line in rollout.stdout:
            said.append(line)
            if line.startswith(ROLLED_OUT):
                break
        rollout.terminate()
    ready, _, wanted = said[-1].removeprefix(ROLLED_OUT).partition(" of ")
    if ready != wanted.partition(" ")[0]:
        sys.exit(f"{folder.name} was not rolled out\n{''.join(said)}")


def _job(workload: Mapping[str, Any]) -> str:
    """The name in the spec: that of the object has a hash behind it."""
    (owner,) = workload["metadata"]["ownerReferences"]
    name: str = owner["name"].rpartition("-")[0]
    return name


def _has_quota(workload: Mapping[str, Any]) -> bool:
    conditions = workload.get("status", {}).get("conditions", ())
    return any(each["type"] == "QuotaReserved" and each["status"] == "True" for each in conditions)


def _run(words: list[str], folder: Path, codes: tuple[int, ...] = (0,)) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "NO_COLOR": "1"}
    done = subprocess.run(words, cwd=folder, env=env, check=False, capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def _random(folder: Path, count: int, seed: int, *, together: bool) -> Iterator[Path]:
    """Specs of several queues that borrow, lend and preempt, with jobs of several kinds, of which not all fit."""
    specs = []
    for number in range(count):
        draw = random.Random(seed * 1000 + number)
        specs.append(_spec(f"drawn{number}", draw))
    if together:
        specs = [_joined("drawn", specs)]
    for spec in specs:
        path = folder / f"{spec['metadata']['name']}.yaml"
        path.write_text(yaml.safe_dump(spec, sort_keys=False))
        # Such a job is an error of its own: nothing would be compiled.
        never = {
            job["name"]
            for job in _simulated(path, folder)["jobs"]
            if job["verdict"] == "NEVER FITS"
        }
        spec["spec"]["jobs"] = [job for job in spec["spec"]["jobs"] if job["name"] not in never]
        path.write_text(yaml.safe_dump(spec, sort_keys=False))
        yield path


def _joined(name: str, specs: list[dict[str, Any]]) -> dict[str, Any]:
    """One cluster with the pools, queues and jobs of all."""
    joined: dict[str, Any] = copy.deepcopy(specs[0])
    joined["metadata"]["name"] = name
    for spec in specs[1:]:
        for section in ("nodePools", "cohorts", "namespaces", "queues", "jobs"):
            joined["spec"][section] += spec["spec"][section]
    return joined


def _spec(name: str, draw: random.Random) -> dict[str, Any]:
    nodes = {f"{name}h": draw.randint(5, 12), f"{name}s": draw.randint(3, 8)}
    pools = [
        {
            "name": pool,
            "instanceTypes": ["p5.48xlarge"],
            "zones": ["us-west-2a"],
            "nodes": {"max": most},
            **({"capacity": {"spot": {}}, "placement": "none"} if pool.endswith("s") else {}),
        }
        for pool, most in nodes.items()
    ]
    teams = [f"{name}{letter}" for letter in "abc"][: draw.randint(2, 3)]
    left = dict(nodes)
    queues = []
    for team in teams:
        quota = []
        for pool in nodes:
            own = draw.randint(0, left[pool])
            left[pool] -= own
            limits = {"borrowingLimit": draw.randint(0, 6), "lendingLimit": draw.randint(0, own)}
            named = draw.sample(sorted(limits), draw.randint(0, 2))
            quota.append({"pool": pool, "nodes": own, **{name: limits[name] for name in named}})
        queues.append(
            {
                "name": team,
                "namespaces": [team],
                "cohort": name,
                "quota": quota,
                "queueingStrategy": draw.choice(["StrictFIFO", "BestEffortFIFO"]),
                "preemption": {
                    "withinClusterQueue": draw.choice(
                        ["Never", "LowerPriority", "LowerOrNewerEqualPriority"]
                    ),
                    "reclaimWithinCohort": draw.choice(["Never", "LowerPriority", "Any"]),
                },
            }
        )
    count = draw.randint(8, 12)
    jobs = [_drawn_job(f"{name}j{index}", teams, list(nodes), draw) for index in range(count)]
    return {
        "apiVersion": "trainyard.dev/v1alpha1",
        "kind": "TrainingCluster",
        "metadata": {"name": name},
        "spec": {
            "account": "111122223333",
            "region": "us-west-2",
            "network": {"create": {"cidr": "10.0.0.0/16", "zones": ["us-west-2a", "us-west-2b"]}},
            "platform": {"eks": {"apiServer": {"public": ["203.0.113.0/24"]}}},
            "nodePools": pools,
            "cohorts": [{"name": name}],
            "namespaces": [{"name": team} for team in teams],
            "priorities": [{"name": "high", "value": 1000}, {"name": "low", "value": 10}],
            "queues": queues,
            "jobDefaults": {"image": IMAGE},
            "jobs": jobs,
        },
    }


def _drawn_job(
    name: str, teams: list[str], pools: list[str], draw: random.Random
) -> dict[str, Any]:
    (kind,) = draw.choices(list(KINDS), OFTEN)
    return {
        "name": name,
        "kind": kind,
        "queue": draw.choice(teams),
        "nodes": draw.randint(1, 3),
        "pool": pools[:1]
        if kind in SEVERAL_POD_SETS
        else draw.choice([*([pool] for pool in pools), pools]),
        "priority": draw.choice(["low", "high"]),
        **KINDS[kind],
    }


if __name__ == "__main__":
    sys.exit(main())
