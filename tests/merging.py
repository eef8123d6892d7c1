"""Random edits of a spec, made on two branches of a real repository, compiled, committed and merged by git."""

from __future__ import annotations

import copy
import os
import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from trainyard.output.emit import tree
from trainyard.run import driver, writer

Spec = dict[str, dict[str, dict[str, Any]]]
"""What a spec is made of: by list of the spec and by name. ``about`` holds the comment above each thing."""

NAMES = {
    "jobs": [f"job-{letter}" for letter in "abcdefgh"],
    "nodePools": [f"pool-{letter}" for letter in "abcde"],
    "queues": [f"queue-{letter}" for letter in "abcde"],
    "namespaces": [f"team-{letter}" for letter in "abcd"],
    "storage": [f"disk-{letter}" for letter in "abcd"],
}
KINDS = {"jobs": "TrainingJob", "nodePools": "TrainingNodePool", "queues": "TrainingQueue"}
TYPES = {
    "p4d.24xlarge": "b",
    "p5.48xlarge": "c",
    "g6e.48xlarge": "a",
    "m7i.8xlarge": "a",
    "trn1.32xlarge": "d",
}
PRINCIPALS = [f"arn:aws:iam::111122223333:role/team-{number}" for number in range(6)]
HEAD = """apiVersion: trainyard.dev/v1alpha1
kind: TrainingCluster
metadata: {name: lab}
spec:
  account: "111122223333"
  region: us-west-2
  priorities: [{name: low, value: 1}, {name: high, value: 9}]
"""
DATE = date(2026, 11, 21)


# --- a spec as files


def files(spec: Spec, *, folder: bool) -> dict[str, str]:
    """A spec as one file, or as a folder with a file for each job, pool and queue.

    Each name that there may be has a line of its own, so that two edits of different things always merge.
    """
    lines = [HEAD]
    found: dict[str, str] = {}
    for key, names in NAMES.items():
        if folder and key in KINDS:
            for name, item in spec[key].items():
                head = f"{spec['about'].get(name, '')}apiVersion: trainyard.dev/v1alpha1\nkind: {KINDS[key]}\n"
                found[f"{key}/{name}.yaml"] = (
                    head + f"metadata: {{name: {name}}}\nspec:\n" + _lines(item, "  ")
                )
            continue
        lines.append(f"  {key}:{'' if spec[key] else ' []'}\n")
        for name in names:
            lines.append(f"    # {name}\n")
            if name in spec[key]:
                lines.append(spec["about"].get(name, "").replace("#", "    #", 1))
                lines.append(f"    - name: {name}\n" + _lines(spec[key][name], "      "))
    return {"cluster.yaml": "".join(lines), **found}


def _lines(item: dict[str, Any], indent: str) -> str:
    """Each field a line, with a comment between: two edits of one thing merge if they are of two fields."""
    lines = []
    for key, value in item.items():
        text = (
            yaml.safe_dump(value, default_flow_style=True, width=10_000)
            .removesuffix("\n")
            .removesuffix("...")
        )
        lines.append(f"{indent}# {key}\n{indent}{key}: {text.strip()}\n")
    return "".join(lines)


def base(chance: random.Random, *, queues: bool) -> Spec:
    """A spec to start from."""
    spec: Spec = {"about": {}, **{key: {} for key in NAMES}}
    for name in NAMES["namespaces"][:2]:
        spec["namespaces"][name] = {"principals": [chance.choice(PRINCIPALS)]}
    for name in NAMES["nodePools"][1:4]:
        spec["nodePools"][name] = _pool(chance)
    for name in NAMES["storage"][1:3]:
        spec["storage"][name] = _storage(chance)
    if queues:
        for name in NAMES["queues"][1:4]:
            spec["queues"][name] = _queue(chance, spec)
    for name in NAMES["jobs"][2:6]:
        spec["jobs"][name] = _job(chance, spec)
    return spec


def _pool(chance: random.Random) -> dict[str, Any]:
    instance = chance.choice(sorted(TYPES))
    most = chance.choice([2, 4, 8])
    return {
        "instanceTypes": [instance],
        "zones": [f"us-west-2{TYPES[instance]}"],
        "nodes": {"min": chance.choice([0, most]), "max": most},
    }


def _storage(chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.5:
        return {"s3": {"existing": {"bucket": f"bucket-{chance.randrange(10**6)}"}}}
    return {
        "fsxLustre": {
            "existing": {
                "id": f"fs-0a1b2c3d4e5f6{chance.randrange(10**4):04}",
                "mountName": "abcdefgh",
                "size": "1200Gi",
                "version": "2.15",
                "address": "10.80.1.11",
            }
        }
    }


def _queue(chance: random.Random, spec: Spec) -> dict[str, Any]:
    pools = chance.sample(sorted(spec["nodePools"]), chance.choice([1, 1, 2]))
    quota = [{"pool": pool, "nodes": spec["nodePools"][pool]["nodes"]["max"]} for pool in pools]
    found: dict[str, Any] = {
        "namespaces": [chance.choice(sorted(spec["namespaces"]))],
        "quota": quota,
    }
    if chance.random() < 0.3:
        found["cohort"] = "all"
    return found


def _job(chance: random.Random, spec: Spec) -> dict[str, Any]:
    found: dict[str, Any] = {
        "nodes": chance.choice([1, 2]),
        "image": "registry.test/train:1.0",
        "command": ["torchrun", "t.py"],
    }
    if spec["queues"]:
        found["queue"] = queue = chance.choice(sorted(spec["queues"]))
        found["pool"] = chance.choice(spec["queues"][queue]["quota"])["pool"]
    else:
        found["pool"] = chance.choice(sorted(spec["nodePools"]))
        found["namespace"] = chance.choice(sorted(spec["namespaces"]))
    if chance.random() < 0.5 and spec["storage"]:
        found["mounts"] = [{"storage": chance.choice(sorted(spec["storage"])), "path": "/data"}]
    if chance.random() < 0.3:
        found["resources"] = {"ephemeralStorage": "10Gi"}
    return found


# --- edits


def _add(
    key: str, make: Callable[[random.Random, Spec], dict[str, Any]]
) -> Callable[[random.Random, Spec], str]:
    def edit(chance: random.Random, spec: Spec) -> str:
        name = chance.choice(sorted(set(NAMES[key]) - set(spec[key])))
        spec[key][name] = make(chance, spec)
        return f"add {name}"

    return edit


def _remove(key: str) -> Callable[[random.Random, Spec], str]:
    def edit(chance: random.Random, spec: Spec) -> str:
        name = chance.choice(sorted(spec[key]))
        del spec[key][name]
        return f"remove {name}"

    return edit


def _change(
    key: str, changes: list[Callable[[random.Random, Spec, dict[str, Any]], Any]]
) -> Callable[[random.Random, Spec], str]:
    def edit(chance: random.Random, spec: Spec) -> str:
        name = chance.choice(sorted(spec[key]))
        before = copy.deepcopy(spec[key][name])
        chance.choice(changes)(chance, spec, spec[key][name])
        changed = [field for field, value in spec[key][name].items() if value != before.get(field)]
        return f"change {name} {' '.join(changed)}"

    return edit


def _rerun(change: Callable[[random.Random, Spec, dict[str, Any]], Any]) -> Callable[..., None]:
    def edit(chance: random.Random, spec: Spec, job: dict[str, Any]) -> None:
        change(chance, spec, job)
        job["rerun"] = job.get("rerun", 0) + 1

    return edit


def _move(chance: random.Random, spec: Spec, job: dict[str, Any]) -> None:
    job.update(
        {
            key: value
            for key, value in _job(chance, spec).items()
            if key in ("queue", "pool", "namespace")
        }
    )


JOB_CHANGES: list[Callable[..., Any]] = [
    lambda chance, spec, job: job.update(labels={"run": str(chance.randrange(100))}),
    lambda chance, spec, job: job.update(done=True),
    _rerun(
        lambda chance, spec, job: job.update(
            command=["torchrun", "t.py", f"--seed={chance.randrange(100)}"]
        )
    ),
    _rerun(lambda chance, spec, job: job.update(nodes=3 - job["nodes"])),
    _rerun(lambda chance, spec, job: job.update(sharedMemory=chance.choice(["1Gi", "2Gi"]))),
    _rerun(_move),
]
POOL_CHANGES: list[Callable[..., Any]] = [
    lambda chance, spec, pool: pool.update(
        nodes={**pool["nodes"], "max": pool["nodes"]["max"] + 1}
    ),
    lambda chance, spec, pool: pool.update(labels={"team": chance.choice("abc")}),
    lambda chance, spec, pool: pool.update(rootVolume={"size": chance.choice(["400Gi", "500Gi"])}),
    lambda chance, spec, pool: pool.update(capacity={"spot": {}}),
]
QUEUE_CHANGES: list[Callable[..., Any]] = [
    lambda chance, spec, queue: queue["quota"][0].update(nodes=queue["quota"][0]["nodes"] + 1),
    lambda chance, spec, queue: queue.update(
        namespaces=[chance.choice(sorted(spec["namespaces"]))]
    ),
    lambda chance, spec, queue: queue.update(cohort="all"),
    lambda chance, spec, queue: queue.update(queueingStrategy="StrictFIFO"),
]
TEAM_CHANGES: list[Callable[..., Any]] = [
    lambda chance, spec, team: team.update(
        principals=[*team.get("principals", []), chance.choice(PRINCIPALS)]
    ),
    lambda chance, spec, team: team.pop("principals", None),
    lambda chance, spec, team: team.update(quota={"accelerators": chance.choice([8, 16])}),
]


def _comment(chance: random.Random, spec: Spec) -> str:
    name = chance.choice(sorted(name for key in NAMES for name in spec[key]))
    spec["about"][name] = f"# {chance.randrange(1000)}: why this is so\n"
    return f"comment {name}"


EDITS = [
    _add("jobs", _job),
    _change("jobs", JOB_CHANGES),
    _remove("jobs"),
    _add("nodePools", lambda chance, spec: _pool(chance)),
    _change("nodePools", POOL_CHANGES),
    _remove("nodePools"),
    _add("queues", _queue),
    _change("queues", QUEUE_CHANGES),
    _remove("queues"),
    _add("storage", lambda chance, spec: _storage(chance)),
    _remove("storage"),
    _add("namespaces", lambda chance, spec: {"principals": [chance.choice(PRINCIPALS)]}),
    _change("namespaces", TEAM_CHANGES),
    _comment,
]


# --- what two branches become


@dataclass
class Merge:
    """How a pair of edits ended. ``code``: what ``compile --check`` would exit with, ``None`` where specs conflict."""

    edits: tuple[str, str]
    conflicts: list[str]
    code: int | None
    stale: list[str]
    findings: list[str]


def git(folder: Path, *words: str, check: bool = True) -> str:
    """What a git command says in a folder, without anybody's configuration."""
    person = {
        f"GIT_{who}_{what}": "a@b.test"
        for who in ("AUTHOR", "COMMITTER")
        for what in ("NAME", "EMAIL")
    }
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, **person}
    done = subprocess.run(
        ["git", *words],
        cwd=folder,
        check=check,
        capture_output=True,
        text=True,
        env={**os.environ, **alone},
    )
    return done.stdout


class Repository:
    """A git repository with a spec and what it compiles to."""

    def __init__(
        self, folder: Path, chance: random.Random, *, in_folder: bool, queues: bool
    ) -> None:
        self.folder, self.chance, self.in_folder, self.queues = (folder, chance, in_folder, queues)
        folder.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        while True:
            self.spec = base(chance, queues=queues)
            self.write(self.spec)
            if self.compile() == 0:
                break
        self.commit("base")

    def copied(self, folder: Path) -> Repository:
        """The same in another folder, with the same chances before it."""
        shutil.copytree(self.folder, folder)
        copied = copy.deepcopy(self)
        copied.folder = folder
        return copied

    def git(self, *words: str, check: bool = True) -> str:
        """What a git command says."""
        return git(self.folder, *words, check=check)

    def commit(self, message: str) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.git("rev-parse", "HEAD").strip()

    def write(self, spec: Spec) -> None:
        shutil.rmtree(self.folder / "specs", ignore_errors=True)
        for path, text in files(spec, folder=self.in_folder).items():
            target = self.folder / "specs" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)

    def options(self) -> driver.Options:
        """Those of ``compile``."""
        output = self.folder / "generated"
        return driver.Options(today=DATE, output=output, hold=True, explained=False)

    def check(self) -> tuple[int, list[str], list[str]]:
        """``compile --check``: exit code, what would change, and codes of errors."""
        options = self.options()
        done = driver.check([self.folder / "specs"], options)
        errors = [
            f"{each.code} {each.message}" for each in done.all() if str(each.severity) == "error"
        ]
        if done.failed:
            return 1, [], errors
        (each,) = done.compilations
        changes = tree.diff(options.output / each.name, writer.render(each, self.folder))
        stale = [
            f"{mark} {path}"
            for mark, paths in (
                ("+", changes.added),
                ("~", changes.changed),
                ("-", changes.removed),
            )
            for path in paths
        ]
        assert not changes.foreign
        return (3 if stale else 0), stale, [each.code for each in changes.diagnostics]

    def compile(self) -> int:
        """``compile``, but for the processes of cdk8s, which change no byte."""
        options = self.options()
        done = driver.check([self.folder / "specs"], options)
        if done.failed:
            return 1
        (each,) = done.compilations
        changes = tree.write(options.output / each.name, writer.render(each, self.folder))
        assert not changes.failed, changes.diagnostics
        return 0

    def branch(self) -> tuple[str, str]:
        """An edit that compiles, on a branch from the start: its words and its commit."""
        while True:
            self.git("checkout", "--quiet", "--force", "main")
            spec = copy.deepcopy(self.spec)
            edits = [each for each in EDITS if self.queues or each not in EDITS[6:9]]
            try:
                words = self.chance.choice(edits)(self.chance, spec)
            except IndexError:  # nothing is left to add or remove
                continue
            self.write(spec)
            if spec != self.spec and self.compile() == 0:
                self.git("checkout", "--quiet", "--detach")
                return words, self.commit(words)
            self.git("clean", "--quiet", "-d", "--force")

    def merge(self) -> Merge:
        """Two edits, merged."""
        (one, first), (other, second) = self.branch(), self.branch()
        self.git("checkout", "--quiet", "--force", "--detach", first)
        said = self.git("merge", "--no-edit", "--quiet", second, check=False)
        conflicts = self.git("diff", "--name-only", "--diff-filter=U").split()
        found = Merge((one, other), conflicts, None, [], [])
        if not any(path.startswith("specs/") for path in conflicts):
            if conflicts:
                found.findings = said.splitlines()
            else:
                found.code, found.stale, found.findings = self.check()
        self.git("reset", "--quiet", "--hard")
        return found


def merges(folder: Path, seed: int, bases: int, pairs: int) -> Iterator[Merge]:
    """So many pairs of edits of so many specs, one form after the other."""
    for number in range(bases):
        chance = random.Random(f"{seed}-{number}")
        repository = Repository(
            folder / str(number), chance, in_folder=number % 2 == 0, queues=number % 3 != 2
        )
        for _ in range(pairs):
            yield repository.merge()
