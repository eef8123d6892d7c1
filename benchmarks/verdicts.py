"""How often what `simulate` says of a job comes true: from compiled specs through Flux to a real Kueue.

Usage: verdicts.py CONTROLPLANE [SPEC …]

CONTROLPLANE is a folder with `rollout.sh`, which applies a cluster's folder to a fresh control plane as Flux does (API
server, Flux' kustomize-controller, Kueue, Trainer, simulated nodes). Without it nothing is measured, and that is said.
SPEC: files of clusters; `--random N` makes so many more, `--seed S` others. Of each: its verdicts, then which jobs had
their quota once all had arrived. A verdict without a condition that did not come true fails the run.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
TRAINYARD = [sys.executable, "-m", "compiler"]
IMAGE = "public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0"
EXPECTED = {"FITS": True, "WAITS FOR": False, "NEVER FITS": False}
"""Whether a job of an unconditional verdict is admitted."""
SETTLED = 30  # seconds after the rollout


def main() -> int:
    """Measure, print, and say whether all came true."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("controlplane", type=Path)
    parser.add_argument("specs", nargs="*", type=Path)
    parser.add_argument("--random", type=int, default=0, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    controlplane = given.controlplane.resolve()
    rollout = controlplane / "rollout.sh"
    if not rollout.is_file():
        print(f"not measured: {rollout} is not there")
        return 0
    totals = [0, 0, 0]
    with tempfile.TemporaryDirectory() as folder:
        specs = [
            *(each.resolve() for each in given.specs),
            *_random(Path(folder), given.random, given.seed),
        ]
        for spec in specs:
            for index, count in enumerate(_measured(spec, controlplane)):
                totals[index] += count
    true, false, conditional = totals
    print(f"without a condition: {true} of {true + false} came true; with one: {conditional}")
    return 1 if false else 0


def _measured(spec: Path, controlplane: Path) -> tuple[int, int, int]:
    """How many verdicts came true, how many did not, and how many have a condition."""
    with tempfile.TemporaryDirectory() as folder:
        verdicts = _verdicts(spec, Path(folder))
        admitted = _admitted(next(Path(folder, "generated").iterdir()), controlplane)
    true = false = conditional = 0
    for name, verdict in sorted(verdicts.items()):
        is_admitted = name in admitted
        expected = EXPECTED.get(verdict)
        if expected is None:
            conditional += 1
        elif expected is is_admitted:
            true += 1
        else:
            false += 1
            print(f"{spec.stem}: {name} {verdict}, admitted: {is_admitted}")
    print(f"{spec.stem}: {true} true, {false} not, {conditional} with a condition", flush=True)
    return true, false, conditional


def _verdicts(spec: Path, folder: Path) -> Mapping[str, str]:
    """What is said of each job before it is compiled, and so before it runs."""
    said = _run([*TRAINYARD, "simulate", str(spec), "--format", "json"], folder, codes=(0, 1))
    (cluster,) = json.loads(said)["clusters"]
    _run([*TRAINYARD, "compile", str(spec)], folder)
    return {job["name"]: job["verdict"] for job in cluster["jobs"]}


def _admitted(folder: Path, controlplane: Path) -> set[str]:
    """The jobs that had their quota once all had arrived, by their names in the spec. Not every gang runs, so what the
    rollout says of that is not asked."""
    words = [str(controlplane / "rollout.sh"), "--timeout", "240", str(folder)]
    subprocess.run(words, check=False, capture_output=True, timeout=900)
    try:
        shell = f". {controlplane}/env.sh; sleep {SETTLED}; kubectl get workloads -A -o json"
        found = json.loads(_run(["bash", "-c", shell], folder))
        if not found["items"]:
            sys.exit(f"{folder.name}: no job arrived")
        return {_job(each) for each in found["items"] if _has_quota(each)}
    finally:
        subprocess.run([str(controlplane / "down.sh")], check=False, capture_output=True)


def _job(workload: Mapping[str, Any]) -> str:
    """The name in the spec: that of the object has a hash behind it."""
    (owner,) = workload["metadata"]["ownerReferences"]
    name: str = owner["name"].rpartition("-")[0]
    return name


def _has_quota(workload: Mapping[str, Any]) -> bool:
    conditions = workload.get("status", {}).get("conditions", ())
    return any(each["type"] == "QuotaReserved" and each["status"] == "True" for each in conditions)


def _run(words: list[str], folder: Path, codes: tuple[int, ...] = (0,)) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    done = subprocess.run(words, cwd=folder, env=env, check=False, capture_output=True, text=True)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def _random(folder: Path, count: int, seed: int) -> Iterator[Path]:
    """Specs of several queues that borrow, lend and preempt, with more jobs than fit."""
    for number in range(count):
        draw = random.Random(seed * 1000 + number)
        name = f"drawn{number}"
        path = folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(_spec(name, draw), sort_keys=False))
        yield path


def _spec(name: str, draw: random.Random) -> dict[str, Any]:
    nodes = {"h": draw.randint(4, 8), "s": draw.randint(2, 4)}
    pools = [
        {
            "name": pool,
            "instanceTypes": ["p5.48xlarge"],
            "zones": ["us-west-2a"],
            "nodes": {"max": most},
            **({"capacity": {"spot": {}}, "placement": "none"} if pool == "s" else {}),
        }
        for pool, most in nodes.items()
    ]
    teams = ["a", "b", "c"][: draw.randint(2, 3)]
    left = dict(nodes)
    queues = []
    for team in teams:
        quota = []
        for pool in nodes:
            own = draw.randint(0, left[pool])
            left[pool] -= own
            quota.append({"pool": pool, "nodes": own, "borrowingLimit": draw.randint(0, 4)})
        queues.append(
            {
                "name": team,
                "namespaces": [team],
                "cohort": "all",
                "quota": quota,
                "queueingStrategy": draw.choice(["StrictFIFO", "BestEffortFIFO"]),
                "preemption": {
                    "withinClusterQueue": draw.choice(["Never", "LowerPriority"]),
                    "reclaimWithinCohort": draw.choice(["Never", "LowerPriority", "Any"]),
                },
            }
        )
    jobs = [
        {
            "name": f"{name}j{index}",
            "queue": draw.choice(teams),
            "nodes": draw.randint(1, 3),
            "pool": draw.choice([["h"], ["s"], ["h", "s"]]),
            "priority": draw.choice(["low", "high"]),
            "command": ["torchrun", "t.py"],
        }
        for index in range(draw.randint(5, 9))
    ]
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
            "cohorts": [{"name": "all"}],
            "namespaces": [{"name": team} for team in teams],
            "priorities": [{"name": "high", "value": 1000}, {"name": "low", "value": 10}],
            "queues": queues,
            "jobDefaults": {"image": IMAGE, "timeout": "12h"},
            "jobs": jobs,
        },
    }


if __name__ == "__main__":
    sys.exit(main())
