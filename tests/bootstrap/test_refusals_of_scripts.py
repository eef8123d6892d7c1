"""What becomes of a script when one of its calls is refused: each call of each script, of every platform.

No answer is not "nothing": a question that is refused, in a loop, a test or a pipe, ends the script with what was said.
"""

from __future__ import annotations

import copy
import os
import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from answering import Answering, run, serving
from builders import ROOT
from drawn import drawn
from hyperpod_world import HyperPodWorld
from test_up_and_down import MADE, TOKENS, of_any_cluster, tree, uploaded
from trainyard.run import writer
from trainyard.run.outcome import Options
from world import World

from tests.platforms.hyperpod.test_operator_jobs import operated
from tests.platforms.parallelcluster.account import Account
from tests.platforms.parallelcluster.clusters import ACCOUNTING
from tests.platforms.parallelcluster.clusters import spec as slurm
from tests.platforms.passes import compiled

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SHIPPED = sorted(each.name for each in (ROOT / "generated").iterdir() if each.is_dir())
OPERATED, ACCOUNTED = "operated on HyperPod", "accounts on Slurm"
TOLERATED = re.compile(
    r"kubectl config view|"  # a file of this machine: where it has no cluster, the next command writes it
    r"aws cloudformation deploy --region us-east-1 --stack-name \S+-budget|"  # it says that there is no budget
    r"kubectl logs|"  # what a pod says is shown where it says something yet
    r"kubectl label --local|kubectl create configmap \S+ --namespace=\S+ --dry-run"  # they ask nobody
)
GO_ON = re.compile(r"^then: bash \S+/\w+\.sh --from (secrets|images)$", re.MULTILINE)
CLAIMS = re.compile(r"^cluster \S+ is up$|^  no .* is left", re.MULTILINE)
SAID = re.compile(r"AccessDenied|not within \d+ minutes|AWS does not know who calls")
tried: set[tuple[str, str]] = set()
"""Scripts and calls: many clusters have the same script, but for their names."""


def data_of_slurm() -> dict[str, Any]:
    queues = [{"name": "one", "namespaces": ["t"], "quota": [{"pool": "a100", "nodes": 4}]}]
    urgent = [{"name": "urgent", "value": 10}]
    return slurm(queues=queues, priorities=urgent, own={"accounting": ACCOUNTING})


@cache
def written(name: str) -> dict[str, bytes]:
    """A cluster's folder by path: one of the repository, or one that is made."""
    if name in SHIPPED:
        folder = ROOT / "generated" / name
        files = [each for each in folder.rglob("*") if each.is_file()]
        return {str(each.relative_to(folder)): each.read_bytes() for each in files}
    made: dict[str, Callable[[], dict[str, Any]]] = {OPERATED: operated, ACCOUNTED: data_of_slurm}
    if name not in made:
        return tree(name)
    with TemporaryDirectory() as folder:
        done = compiled(made[name](), Path(folder))
        return writer.rendered(done, Options(output=Path(folder)))


class Bench:
    """A cluster's folder among the stand-ins, whose state is put back before each run."""

    def __init__(self, name: str, root: Path) -> None:
        script = written(name)["bootstrap/up.sh"].decode()
        found = re.search(r"^cluster=(\S+) region=(\S+)", script, re.MULTILINE)
        assert found is not None
        self.folder = root / "generated" / found[1]
        for path, data in written(name).items():
            target = self.folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        uploaded(root, written(name))
        git = ["git", "-c", "user.email=a@b", "-c", "user.name=a", "-C", str(root)]
        for words in (["init", "-q"], ["add", "-f", "generated"], ["commit", "-qm", "a"]):
            subprocess.run([*git, *words], check=True)
        self.world: Answering
        if (self.folder / "bootstrap/cluster.yaml").is_file():
            self.world = Account(self.folder)
        elif (self.folder / "bootstrap/hyperpod").is_dir():
            self.world = HyperPodWorld(self.folder, found[1], found[2])
        else:
            self.world = World(self.folder, found[1], found[2])
        if isinstance(self.world, World):
            texts = [each.read_text() for each in self.folder.glob("jobs/*.yaml")]
            images = re.findall(r"image: .*amazonaws\.com/([^:@]+)[:@]", "\n".join(texts))
            self.world.things["pushed"] = {each: {} for each in images}

    def state(self) -> dict[str, Any]:
        names = vars(self.world).keys() - {"root", "kill", "group", "deny"}
        return {name: copy.deepcopy(getattr(self.world, name)) for name in names}

    def put_back(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self.world, name, copy.deepcopy(value))

    def run(self, port: int, words: list[str]) -> subprocess.CompletedProcess[str]:
        """As a person does it: gives the Secrets that it asks for; commits and pushes what was built, and goes on."""
        script = self.folder / "bootstrap" / words[0]
        values = self.folder.parent.parent / "values"
        given = {**TOKENS, "GIT_TOKEN": "t", "TRAINYARD_SECRETS": str(values)}
        done = run(self.world, port, script, *words[1:], **given)
        self.said = done.stdout + done.stderr
        for _ in range(2):
            self.gave(done.stderr, values)
            again = GO_ON.search(done.stderr)
            if again is None or ("$TRAINYARD_SECRETS" in done.stderr) != (again[1] == "secrets"):
                break
            done = run(self.world, port, script, *words[1:], "--from", again[1], **given)
            self.said += done.stdout + done.stderr
        assert not self.world.faults, (self.world.faults, done.stderr)
        return done

    def gave(self, said: str, values: Path) -> None:
        """Puts what a script asks for into files."""
        wanted = re.findall(r"\$TRAINYARD_SECRETS/(\S+)$", said, re.MULTILINE)
        for name in wanted:
            file = values / name / ("a" if f"put the files of Secret {name} " in said else "")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("{}")

    def text(self) -> str:
        """All of the scripts, whoever's cluster it is."""
        folder = self.folder / "bootstrap"
        texts = [each.read_text() for each in sorted(folder.rglob("*.sh"))]
        named = re.compile(r"^cluster=\S+ region=\S+ account=", re.MULTILINE)
        return "".join(of_any_cluster(text) if named.search(text) else text for text in texts)


def shape(call: list[str]) -> str:
    """A call without the names in it."""
    return " ".join([*call[:3], *(each.partition("=")[0] for each in call[3:] if each[:2] == "--")])


def exactly(call: list[str]) -> str:
    """A regular expression for this call, in which folders of one run are any."""
    return "^" + re.sub(r"/tmp/[^ ,]*", r"/tmp/[^ ,]*", re.escape(" ".join(call))) + "$"


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("jakarta", 0, "L-417A185B --desired-value 15360"),
        ("hyperpod-lora", 1, "ml.g5.8xlarge for cluster usage: this cluster needs 2"),
    ],
)
def test_the_quota_that_counts_the_nodes_is_asked(
    name: str, code: int, words: str, tmp_path: Path
) -> None:
    """HyperPod's is SageMaker's. Nobody says whether a Capacity Block counts, so that it is said and stops nothing."""
    bench = Bench(name, tmp_path)
    assert isinstance(bench.world, World)
    bench.world.small = {"L-417A185B", "ml.g5.8xlarge for cluster usage"}
    with serving(bench.world) as port:
        done = bench.run(port, ["up.sh"])
    assert done.returncode == code, done.stderr
    assert words in bench.said
    assert ("which is not established" in bench.said) is (code == 0)


ONE_OF_EACH = ("jakarta", "hyperpod-lora", "jakarta-slurm", ACCOUNTED, "terraform")
"""A cluster of each platform, with what its scripts may have. Each of the others takes half a minute to a minute:
`TRAINYARD_EVERY_SCRIPT=1` tries them too."""
EVERY = [*SHIPPED, OPERATED, ACCOUNTED, *MADE]
TRIED = EVERY if os.environ.get("TRAINYARD_EVERY_SCRIPT") else ONE_OF_EACH


@pytest.mark.parametrize("name", TRIED)
def test_a_refused_call_ends_the_script(name: str, tmp_path: Path) -> None:
    bench = Bench(name, tmp_path)
    text = bench.text()
    silent: list[str] = []
    with serving(bench.world) as port:
        for words in (["up.sh"], ["up.sh"], ["down.sh", "--delete-data"]):
            before = bench.state()
            bench.world.calls.clear()
            done = bench.run(port, words)
            assert done.returncode == 0, done.stdout + done.stderr
            after, calls = bench.state(), list(bench.world.calls)
            new = {(text, words[0] + shape(call)): call for call in reversed(calls)}
            asked = [
                key
                for key, call in reversed(new.items())
                if key not in tried and not TOLERATED.match(" ".join(call))
            ]
            for key in drawn(asked, 6, seed=(name, words)):
                call = new[key]
                tried.add(key)
                bench.put_back(before)
                bench.world.deny = exactly(call)
                done = bench.run(port, words)
                bench.world.deny = None
                if (
                    done.returncode in (0, -9)
                    or not SAID.search(done.stderr + done.stdout)
                    or CLAIMS.search(done.stdout)
                ):
                    silent.append(f"{words[0]}: {' '.join(call)}: {done.stderr[-300:]}")
            bench.put_back(after)
    assert silent == []
