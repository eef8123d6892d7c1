"""What a dry run prints is what a run does: each command that changes something, with its arguments, of each script."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from answering import READS, serving
from drawn import drawn
from hyperpod_world import HyperPodWorld
from test_refusals_of_scripts import OPERATED, TRIED, Bench
from world import World

from tests.platforms.parallelcluster.account import Account

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

UNKNOWN_YET = re.compile(
    r"\$\(.*\)|\$[A-Z_]+|\b(VPC|TABLES|GROUP|CIDR|PEERING|ARN|ID|NAME|SUBNET|HEAD_NODE|OBJECTS|"
    r"OWNER|REPOSITORY|CONFIGURATION|ADDRESS|SECRETS)\b"
)
"""What stands for a value that AWS gives, or for a file that a run makes."""
OF_ONE_RUN = re.compile(r"(file:///|/)(tmp|dev/shm)/tmp\.\S*|(?<==)-$")
"""Files that a script makes for itself, and removes."""


def alike(printed: list[str], called: list[str]) -> bool:
    said, done = (
        " ".join(OF_ONE_RUN.sub("FILE", word) for word in call) for call in (printed, called)
    )
    if said == done:
        return True
    parts = UNKNOWN_YET.split(said)
    literal = [re.escape(part) for part in parts[:: UNKNOWN_YET.groups + 1]]
    return re.fullmatch(".+".join(literal), done) is not None


def commands(output: str) -> list[list[str]]:
    """What was printed as a command; of a pipe each part."""
    found = []
    for line in output.splitlines():
        if line.startswith("  + "):
            words = shlex.split(line[4:])
            while "|" in words:
                found.append(words[: words.index("|")])
                words = words[words.index("|") + 1 :]
            found.append(words)
    return found


def unprinted(bench: Bench, port: int, words: list[str]) -> list[str]:
    """The commands of a run that its dry run did not print. The state of the world stays as it was."""
    before = bench.state()
    dry = bench.run(port, [*words, "--dry-run"])
    assert dry.returncode == 0, bench.said
    assert "is up" not in bench.said
    assert dry.stdout.endswith("this was a dry run: nothing was changed\n")
    for call in bench.world.calls[len(before["calls"]) :]:
        assert READS.match(" ".join(call)) or "--dry-run=client" in call, f"a dry run did: {call}"
    printed = commands(bench.said)
    bench.put_back(before)
    done = bench.run(port, words)
    assert done.returncode == 0, bench.said
    return [
        shlex.join(call)
        for call in bench.world.calls[len(before["calls"]) :]
        if not READS.match(" ".join(call)) and not any(alike(each, call) for each in printed)
    ]


OF_MORE = (OPERATED, "private", "named", "kept", "managed", "notified")
"""Clusters with commands that one of each platform has not."""


@pytest.mark.parametrize("name", drawn(sorted({*TRIED, *OF_MORE}), 4))
def test_a_dry_run_prints_each_command_of_a_run(name: str, tmp_path: Path) -> None:
    bench = Bench(name, tmp_path)
    with serving(bench.world) as port:
        for words in (["up.sh"], ["up.sh"], ["down.sh", "--delete-data"]):
            assert unprinted(bench, port, words) == [], words


FOREIGN = {
    "starter": "no stack of eksctl is",
    "hyperpod-lora": "runs no scripts of bucket sagemaker-hyperpod-lora-",
    "jakarta-slurm": "stack trainyard-jakarta-slurm-nodes is not",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_cluster_that_nobody_here_made_is_named_and_left(name: str, tmp_path: Path) -> None:
    bench = Bench(name, tmp_path)
    match bench.world:
        case Account():
            bench.world.status = "CREATE_COMPLETE"
        case HyperPodWorld():
            group = {"InstanceCount": 1, "LifeCycleConfig": {"SourceS3Uri": "s3://theirs/a"}}
            bench.world.request = {"InstanceGroups": [group]}
        case World():
            bench.world.cluster_made = True
    scripts = ("up.sh", "down.sh")
    if isinstance(bench.world, HyperPodWorld):
        scripts = ("hyperpod/up.sh", "hyperpod/down.sh")
    with serving(bench.world) as port:
        for script in scripts:
            words = (
                [script] if script.endswith("up.sh") or "/" in script else [script, "--keep-data"]
            )
            dry = bench.run(port, [*words, "--dry-run"])
            assert dry.returncode == 0, bench.said
            assert FOREIGN[name] in dry.stderr
            done = bench.run(port, words)
            assert done.returncode == 1
            assert FOREIGN[name] in done.stderr
    changes = [call for call in bench.world.calls if not READS.match(" ".join(call))]
    assert changes == []
