"""The recipes of CONTRIBUTING.md and docs/architecture.md, done in a copy of the package: each works as it is written.

A recipe of the pages that is neither run here nor named in ``NOT_RUN`` fails by its name.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import ROOT, spec

pytestmark = pytest.mark.slow

NEWEST = "compiler/catalog/data/releases/2026.11"
RECIPES: dict[str, Callable[[House], None]] = {}
NOT_RUN = {
    "a format of what is written": "needs a plan node and a target that make its artifacts",
    "a type of CloudFormation": "needs the registry's schema, which `make schemas` reads",
    "a kind to verify": "needs its released definition, which `make schemas` reads",
    "a webhook's rule": "is found by the name of a kind whose definition is kept, and all that have rules have theirs",
    "a key of the spec": "is a field of a model: tests/test_guards.py asks for its bound",
    "what an upgrade asks for": "tests/catalog/test_upgrades.py reads entries of a test's own",
    "a key that names a file other than YAML": "is a key of the spec",
    "a document of its own for a list item": "is a model of the language",
    "what a change of a kind means": "tests/consequences/test_kinds.py asks for a judge of each kind",
    "an immutable field": "tests/history/test_immutable.py runs over the rows",
    "A fault in the output": "is a test that fails first",
    "A change of what jobs are rendered to": "is a command",
    "A dependency": "needs a package index",
    "an alert": "tests/monitoring asks each for its case, its page and metrics that an exporter has",
    "a dashboard": "tests/dashboards asks each for metrics that an exporter has, and for what Grafana's types say",
}
"""By recipe, why it is not run here."""
SAME = {
    "A policy": "a policy",
    "A fixed code": "a fixed code",
    "A key of the spec": "a key of the spec",
    "An add-on": "an add-on",
    "An AMI family": "an AMI family",
    "An upstream version": "a release",
}
"""Recipes of CONTRIBUTING.md that the table has too."""


class House:
    """A copy of the package, to which a recipe adds."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for part in ("compiler", "policies"):
            shutil.copytree(ROOT / part, folder / part)
        self.written: dict[str, bytes | None] = {}

    def write(self, path: str, text: str) -> None:
        """Write a file of the package; what was there comes back after the test."""
        file = self.folder / path
        self.written.setdefault(path, file.read_bytes() if file.exists() else None)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def edit(self, path: str, change: Callable[[Any], None]) -> None:
        """Change what a file of data says."""
        data = json.loads((self.folder / path).read_text())
        change(data)
        self.write(path, json.dumps(data))

    def undo(self) -> None:
        for path, before in self.written.items():
            file = self.folder / path
            if before is None:
                file.unlink()
                for folder in file.parents:
                    if any(folder.iterdir()):
                        break
                    folder.rmdir()
            else:
                file.write_bytes(before)
        self.written = {}
        for made in ("generated", ".git"):
            shutil.rmtree(self.folder / made, ignore_errors=True)

    def python(self, *arguments: str) -> str:
        """What Python prints with the copy in the place of the package, on both ways out."""
        env = {**os.environ, "PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        assert "Traceback" not in done.stdout, done.stdout
        return done.stdout

    def run(self, *arguments: str) -> str:
        """What `trainyard` prints."""
        return self.python("-m", "compiler", *arguments)

    def check(self, data: dict[str, Any], *options: str) -> str:
        """What `check` prints of a spec."""
        (self.folder / "spec.yaml").write_text(yaml.safe_dump(data))
        return self.run("check", "spec.yaml", "--no-cache", *options)

    def compile(self, data: dict[str, Any]) -> dict[str, str]:
        """What `compile` writes of a spec, by path."""
        (self.folder / "spec.yaml").write_text(yaml.safe_dump(data))
        shutil.rmtree(self.folder / "generated", ignore_errors=True)
        said = self.run("compile", "spec.yaml", "--no-cache")
        written = self.folder / "generated" / "lab"
        assert written.is_dir(), said
        return {
            str(file.relative_to(written)): file.read_text()
            for file in written.rglob("*")
            if file.is_file()
        }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> House:
    return House(tmp_path_factory.mktemp("house"))


@pytest.fixture
def house(built: House) -> Iterator[House]:
    yield built
    built.undo()


def recipe(name: str) -> Callable[[Callable[[House], None]], Callable[[House], None]]:
    """The function does what the recipe of this name says."""

    def keep(run: Callable[[House], None]) -> Callable[[House], None]:
        RECIPES[name] = run
        return run

    return keep


RULE = '''from __future__ import annotations

from collections.abc import Iterator

from compiler.platforms.eks.nodes.plan import NodePool
from compiler.policy.rule import Finding, rule


@rule("HLT998")
def pool_is_seen(pool: NodePool) -> Iterator[Finding]:
    """A pool is there.

    ## Fails

        nodePools: [{name: gpu, instanceTypes: [p4d.24xlarge], zones: [us-west-2b], nodes: {max: 4}}]
    """
    yield Finding(f"pool `{pool.name}` is seen", pool.at)
'''


@recipe("a policy")
def policy(house: House) -> None:
    house.write("policies/nodes/pool_is_seen.py", RULE)
    assert "A pool is there." in house.run("explain", "HLT998")
    assert "error[HLT998]: pool `gpu` is seen" in house.check(spec())


@recipe("a fixed code")
def fixed_code(house: House) -> None:
    path = "compiler/diagnostics/codes/RES.md"
    page = "\n## RES998 a-new-fault\n\nWhat is wrong.\n\nFails: `a: b`. Instead: `a: c`.\n"
    assert "What is wrong." not in house.run("explain", "RES998")
    house.write(path, (ROOT / path).read_text() + page)
    assert "What is wrong." in house.run("explain", "RES998")


ADD_ON = '''"""An add-on of EKS for every cluster."""

from compiler.context import SPEC
from compiler.platforms.eks.addons.addon import EKS, AddOn

ADD_ON = AddOn(component="new-add-on", by=EKS, at=SPEC, after=("vpc-cni",))
'''


@recipe("an add-on")
def add_on(house: House) -> None:
    house.write("compiler/platforms/eks/addons/new_add_on.py", ADD_ON)
    facts = {"source": "EKS add-on", "checked": "2026-11-21", "restarts": "nothing"}
    house.write(f"{NEWEST}/new-add-on.json", json.dumps(facts))
    assert "name: new-add-on" in house.compile(spec())["bootstrap/eksctl.yaml"]
    older = house.check(spec(release="2026.08"))
    assert "error[RES270]: release 2026.08 has no `new-add-on`" in older
    assert "INT000" not in older


@recipe("a release")
def release(house: House) -> None:
    facts = {"base": "2026.11", "date": "2026-11-24"}
    house.write("compiler/catalog/data/releases/2026.12/release.json", json.dumps(facts))
    assert "release 2026.12" in house.run("catalog", "sources")
    assert "RES001" not in house.check(spec(release="2026.12"))
    assert "RES001" in house.check(spec(release="2026.13"))


@recipe("a minor version of Kubernetes")
def minor(house: House) -> None:
    data = spec(platform={"eks": {"version": "1.38"}})
    assert "error[RES002]" in house.check(data)
    known = ROOT / "compiler/catalog/data/releases/2026.08/kubernetes/1.36.json"
    house.write(f"{NEWEST}/kubernetes/1.38.json", known.read_text())
    written = house.compile(data)["bootstrap/eksctl.yaml"]
    assert yaml.safe_load(written)["metadata"]["version"] == "1.38"


@recipe("an instance type")
def instance_type(house: House) -> None:
    def one_more(data: Any) -> None:
        data["instances"]["p4d.99xlarge"] = data["instances"]["p4d.24xlarge"]

    data = spec(pool={"instanceTypes": ["p4d.99xlarge"]})
    assert "RES005" in house.check(data)
    house.edit("compiler/catalog/data/instances.json", one_more)
    assert "p4d.99xlarge" in house.run("catalog", "p4d.99xlarge")
    assert "RES005" not in house.check(data)


@recipe("a price")
def price(house: House) -> None:
    def one_more(data: Any) -> None:
        source = ["prices", "https://example.test", "1", "2026-11-24"]
        data["sets"].insert(0, {"source": source, "usd": {"m7i.large": {"eu-west-3": 77.5}}})

    code = (
        "from compiler.catalog import load_catalog; from compiler.catalog.prices import on_demand; "
        "print(on_demand(load_catalog(), 'm7i.large', 'eu-west-3'))"
    )
    house.edit("compiler/catalog/data/regional_prices.json", one_more)
    assert "77.5" in house.python("-c", code)


@recipe("a failure rate")
def failure_rate(house: House) -> None:
    def one_more(data: Any) -> None:
        facts = {"name": "Ours", "counted": "two failures", "failures": 2, "accelerators": 64}
        origin = {"source": "our own nodes", "version": "1", "date": "2026-11-25"}
        data["rates"].append({**facts, "days": 84, **origin})

    house.edit("compiler/catalog/data/failure_rates.json", one_more)
    (house.folder / "spec.yaml").write_text(yaml.safe_dump(spec()))
    # 32 GPUs fail half as often as 64, and a week is a twelfth of 84 days.
    assert "0.08 by Ours: two failures (our own nodes)" in house.run("failures", "spec.yaml")


LAUNCHER = '''"""Nodes that somebody starts by hand."""

from compiler.platforms.eks.nodes.launchers.karpenter import Karpenter
from compiler.platforms.eks.settings.launcher import Refused


class ByHand(Karpenter):
    name = "by hand"
    place = 5
    code = "RES190"

    def launches(self, context, pool):
        return pool.name == "hand"

    def refused(self, context, pool):
        yield Refused(pool.at / "nodes", "is launched by hand", "start them", "nobody")


LAUNCHER = ByHand()
'''


@recipe("a launcher of a pool's nodes")
def launcher(house: House) -> None:
    house.write("compiler/platforms/eks/nodes/launchers/by_hand.py", LAUNCHER)
    assert "pool `hand` is launched by hand" in house.check(spec(pool={"name": "hand"}))
    assert "launched by hand" not in house.check(spec())


FORMAT = '''"""One line for each code."""


def render(diagnostics, *, tool_version, color=False):
    return "".join(f"code={item.code}\\n" for item in diagnostics)
'''


@recipe("a format of diagnostics")
def diagnostics(house: House) -> None:
    data = spec(region="us-wset-2")
    house.write("compiler/diagnostics/render/lines.py", FORMAT)
    path = "compiler/cli/arguments.py"
    text = (ROOT / path).read_text()
    house.write(path, text.replace('FORMATS = ("text", ', 'FORMATS = ("text", "lines", '))
    assert "code=RES003\n" in house.check(data, "--format=lines")


COMMAND = '''"""``names``: the clusters of some specs."""

from compiler.cli import arguments
from compiler.cli.settings import command, run_options
from compiler.cli.streams import out

HELP = "print the names of clusters"


def declare(parser):
    arguments.specs(parser)
    arguments.rules_and_facts(parser)


@command
def run(options):
    from compiler.driver import check

    done = check(options.paths, run_options(options))
    out("".join(f"{each.name}\\n" for each in done.compilations))
    return 0
'''


@recipe("a command")
def command(house: House) -> None:
    path = "compiler/cli/grammar.py"
    text = (ROOT / path).read_text()
    house.write("compiler/cli/commands/names.py", COMMAND)
    house.write(path, text.replace('*("init", ', '*("init", "names", '))
    (house.folder / "spec.yaml").write_text(yaml.safe_dump(spec()))
    assert house.run("names", "spec.yaml") == "lab\n"
    assert "print the names of clusters" in house.run("--help")
    assert "names) words=" in house.run("completion", "bash")


SECTION = '''"""A section of the report."""

from compiler.blocks import Heading, paragraph


def section(subject):
    return [Heading("What is new"), paragraph(f"Cluster {subject.name}.")]
'''


@recipe("a section of the report")
def section(house: House) -> None:
    path = "compiler/report/__init__.py"
    text = (ROOT / path).read_text()
    named = text.replace("    findings,\n", "    findings,\n    news,\n")
    named = named.replace("FIRST = (findings,", "FIRST = (findings, news,")
    house.write("compiler/report/news.py", SECTION)
    house.write(path, named)
    (house.folder / "spec.yaml").write_text(yaml.safe_dump(spec()))
    assert "## What is new\n\nCluster lab.\n" in house.run("report", "spec.yaml")
    html = house.run("report", "spec.yaml", "--format", "html")
    assert "What is new</h3>\n<p>Cluster lab.</p>" in html


@recipe("the speed of an accelerator")
def speed(house: House) -> None:
    def one_more(data: Any) -> None:
        data["accelerators"]["A10G"] = {
            "tflops": {"bf16": 125},
            "memory_gb_s": {"22888": 600},
            "source": "https://example.test",
        }

    pool = {"instanceTypes": ["g5.48xlarge"], "zones": ["us-west-2a"]}
    model = {"sharding": "full", "shape": SMALL, "batch": {"sequenceLength": 512}}
    data = spec(pool=pool, job={"nodes": 2, "model": model})
    (house.folder / "spec.yaml").write_text(yaml.safe_dump(data))
    assert "the speed of A10G in bf16 is not in the catalog" in house.run("fit", "spec.yaml")
    house.edit("compiler/catalog/data/accelerators.json", one_more)
    assert "tokens a second of an accelerator" in house.run("fit", "spec.yaml")


SMALL = {"layers": 16, "hidden": 1024, "heads": 16, "ffn": 4096, "vocabulary": 32000}
CONFIG = {
    "model_type": "falcon9",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_attention_heads": 16,
    "num_hidden_layers": 16,
    "vocab_size": 32000,
}


@recipe("an architecture of models")
def architecture(house: House) -> None:
    (house.folder / "config.json").write_text(json.dumps(CONFIG))
    data = spec(job={"model": {"config": "config.json"}})
    assert "`model_type` `falcon9` is unknown" in house.check(data)
    path = "compiler/training/huggingface.py"
    text = (ROOT / path).read_text()
    house.write(path, text.replace('    "gemma": ', '    "falcon9": _Family(),\n    "gemma": '))
    assert "is unknown" not in house.check(data)


@recipe("an AMI family")
def ami_family(house: House) -> None:
    def one_more(data: Any) -> None:
        data["families"]["al2040"] = {**data["families"]["al2023"], "karpenter": "AL2040"}

    data = spec(platform={"eks": {"ami": "al2040@v20260714"}})
    assert "`al2040` is no family of images" in house.check(data)
    house.edit("compiler/catalog/data/ami_families.json", one_more)
    assert "is no family" not in house.check(data)


RACK = ROOT / "tests" / "platforms" / "rack"
"""The smallest platform: machines that somebody keeps, and a file for each of their jobs."""
IMPORT = "from compiler.platforms.parallelcluster import PARALLEL_CLUSTER\n"
REGISTRY = "012345678901.dkr.ecr.us-west-9.amazonaws.com/train:1"


def rack(job: dict[str, Any] | None = None, **parts: Any) -> dict[str, Any]:
    """A spec of that platform: two machines, of which the queue has one."""
    quota = [{"pool": "gpu", "nodes": 1}]
    return spec(
        platform={"rack": {}},
        pool={"instanceTypes": ["p4d.24xlarge"], "nodes": {"max": 2}},
        queues=[{"name": "small", "namespaces": ["team"], "quota": quota}],
        job={"nodes": 1, **(job or {})},
        **parts,
    )


@recipe("a platform")
def platform(house: House) -> None:
    """A folder, and its name in the tuple: no other file is edited. What the core judges is judged of it too."""
    for file in sorted(RACK.rglob("*.py")):
        house.write(f"compiler/platforms/rack/{file.relative_to(RACK)}", file.read_text())
    path = "compiler/platforms/__init__.py"
    text = (
        (ROOT / path)
        .read_text()
        .replace(IMPORT, f"{IMPORT}from compiler.platforms.rack import RACK\n")
    )
    house.write(
        path, text.replace("HYPER_POD, PARALLEL_CLUSTER)}", "HYPER_POD, PARALLEL_CLUSTER, RACK)}")
    )

    files = house.compile(rack())
    assert {"machines/gpu.yaml", "tasks/team.train.yaml"} <= files.keys()
    assert "machines: 1\n" in files["tasks/team.train.yaml"]
    faults = {
        "LIM003": ({"nodes": 9}, "nodes: 9"),
        "LIM002": ({"resources": {"memory": "3Ti"}}, "memory: 3Ti"),
        "QUE005": ({"nodes": 2}, "nodes: 2"),
        "RUN038": ({"image": REGISTRY}, f"image: {REGISTRY}"),
    }
    for code, (job, line) in faults.items():
        said = house.check(rack(job))
        assert f"error[{code}]" in said, said
        assert f"{line}\n" in said.partition(f"error[{code}]")[2].partition("\n\n")[0], said
    said = house.check(rack(monitoring={}))
    assert "error[SPC006]: `monitoring` is no part of platform `rack`" in said
    assert "help: watch the machines yourself" in said

    meeting = ["accelerate", "launch", "--num_machines=2", "--main_process_ip=h", "t.py"]
    commands = {
        "RUN026": ["accelerate", "launch", "--num_machines=2", "t.py"],
        "RUN036": ["torchrun", "--nnodes=2", "--node_rank=0", "t.py"],
        "RUN121": meeting,
    }
    for code, command in commands.items():
        data = rack({"nodes": 2, "command": command})
        data["spec"]["queues"][0]["quota"][0]["nodes"] = 2
        said = house.check(data)
        found = said.partition(f"[{code}]")[2].partition("\n\n")[0]
        assert "help: " in found, said
        assert not re.search(r"(?i)slurm|srun|scontrol|batch|\bpods?\b|kube", found), found

    lustre = {"name": "data", "fsxLustre": {"create": {"size": "1200Gi", "throughputPerTiB": 125}}}
    assert "INT0" not in house.check(rack(storage=[lustre]))
    house.compile(rack())
    assert "## Repair of nodes\n\nWhoever keeps the machines." in house.run("report", "spec.yaml")
    assert "a node is lost\n    notices                somebody" in house.run(
        "failures", "spec.yaml"
    )
    assert "it does not run in Kubernetes" in house.run("simulate", "spec.yaml")
    assert "`lab` runs on platform `rack`" in house.run("status", "spec.yaml")
    assert "2 rackfiles in 2 files" in house.run("lint", "generated")
    committed(house)
    house.check(rack({"command": ["python", "other.py"]}))
    assert "whoever keeps the machines starts it again" in house.run("plan", "spec.yaml")


def committed(house: House) -> None:
    """Commit the spec and what it was compiled to. The repository goes when the recipe is undone."""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "-C", str(house.folder)]
    for words in (["init", "-q"], ["add", "spec.yaml", "generated"], ["commit", "-qm", "before"]):
        subprocess.run([*git, *words], check=True)


ERRAND = ROOT / "tests" / "platforms" / "errand.py"
"""A kind of job of another API group, whose objects have the fields of a plain Job."""
DATA = "compiler/verify/data"


@recipe("a kind of job")
def kind_of_job(house: House) -> None:
    """A module and a definition. What is asked of every kind is asked of it: it has no row in the docs."""
    house.write("compiler/platforms/eks/jobs/kinds/errand.py", ERRAND.read_text())
    definition = json.loads((ROOT / DATA / "batch_v1_Job.json").read_text())
    definition |= {"group": "errands.example.dev", "kind": "Errand"}
    definition |= {"project": "errands", "release": "v1.0.0"}
    house.write(f"{DATA}/errands.example.dev_v1_Errand.json", json.dumps(definition))
    guards = str(ROOT / "tests" / "platforms" / "test_kinds.py")
    said = house.python(
        "-m", "pytest", f"--rootdir={ROOT}", "--tb=no", "-rf", "-k", "Errand", guards
    )
    failed = re.findall(r"^FAILED .*::(\w+)\[Errand\]", said, re.MULTILINE)
    assert failed == ["test_its_page_has_it"], said

    data = spec(job={"kind": "Errand", "nodes": 1, "command": ["python", "a.py"]})
    (path,) = [name for name in house.compile(data) if "errand-" in name]
    assert path.startswith("jobs/training.errand-train-")
    data["spec"]["nodePools"][0]["nodes"] = {"max": 2}
    data["spec"]["jobs"][0] |= {"nodes": 9}
    assert "error[LIM003]: Errand `train` needs 9 nodes at once" in house.check(data)


ACCELERATE_KEY = '''"""The spec of the launcher ``accelerate``."""

from compiler.spec.base import SpecModel


class Accelerate(SpecModel):
    """`accelerate launch`, which reads what torchrun reads."""
'''
ACCELERATE = '''"""accelerate: it starts torchrun itself."""

from __future__ import annotations

from compiler.context import Context
from compiler.core.jobs.job import Job
from compiler.core.jobs.launchers.torchrun.resolve import Torchrun


class Accelerate(Torchrun):
    """`accelerate launch` on every node."""

    def check(self, context: Context, job: Job) -> None:
        super().check(context, job)
        if job.spec.command[:2] != ["accelerate", "launch"]:
            context.fault("RES997", "nothing starts accelerate", job.at / "command", "begin with `accelerate launch`")


LAUNCHER = Accelerate()
'''
ACCELERATE_FIELD = """    accelerate: Accelerate | None = Field(None, description="By accelerate.", examples=[{}])

    @property
"""


@recipe("a launcher of jobs")
def launcher_of_jobs(house: House) -> None:
    folder = "compiler/core/jobs/launchers"
    data = spec(job={"launcher": {"accelerate": {}}, "command": ["accelerate", "launch", "a.py"]})
    assert "SPC002" in house.check(data)
    house.write(f"{folder}/accelerate/__init__.py", "")
    house.write(f"{folder}/accelerate/spec.py", ACCELERATE_KEY)
    house.write(f"{folder}/accelerate/resolve.py", ACCELERATE)
    text = (ROOT / folder / "spec.py").read_text()
    loaded = "from compiler.core.jobs.launchers.accelerate.spec import Accelerate\n"
    text = text.replace("from pydantic", f"{loaded}from pydantic", 1)
    house.write(f"{folder}/spec.py", text.replace("    @property\n", ACCELERATE_FIELD, 1))
    said = house.check(data)
    assert "error" not in said, said
    data["spec"]["jobs"][0]["command"] = ["python", "a.py"]
    assert "error[RES997]: nothing starts accelerate" in house.check(data)


NOTICE_KEY = '''"""What people are told who log in."""

from pydantic import Field

from compiler.spec.section import Section


class NoticeSection(Section):
    """A notice."""

    notice: str | None = Field(None, description="What people are told.", examples=["hello"])


SECTION = NoticeSection
'''
NOTICE = '''"""A notice, as a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from compiler.context import SPEC, Context
from compiler.core.notice.spec import NoticeSection
from compiler.dataclass import dataclass
from compiler.plan import PlanNode


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(PlanNode):
    """What people are told."""

    carried: ClassVar[bool] = False

    text: str


def resolve(context: Context) -> Iterator[PlanNode]:
    text = NoticeSection.of(context.spec).notice
    if text is not None:
        yield Notice(at=SPEC / "notice", text=text)
'''
NOTICE_LOWERED = '''"""A notice, as a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator

from compiler.lowering.body import head, path
from compiler.manifest import Manifest
from compiler.plan import Plan
from compiler.platforms.eks.notice.resolve import Notice


def lower(plan: Plan) -> Iterator[Manifest]:
    for notice in plan.of(Notice):
        body = head("v1", "ConfigMap", "notice", "kube-public")
        body["data"] = {"text": notice.text}
        yield Manifest(body, path("platform", body), notice.at)
'''


@recipe("a capability")
def capability(house: House) -> None:
    data = spec(notice="maintenance on Sunday")
    assert "error[SPC002]" in house.check(data)
    for place, files in {
        "core/notice": {"spec": NOTICE_KEY},
        "platforms/eks/notice": {"resolve": NOTICE, "lower": NOTICE_LOWERED},
    }.items():
        house.write(f"compiler/{place}/__init__.py", "")
        for name, text in files.items():
            house.write(f"compiler/{place}/{name}.py", text)
    path = "compiler/platforms/eks/__init__.py"
    rooms = '"core.pools",\n        "core.notice",\n        "platforms.eks.notice",\n'
    house.write(path, (ROOT / path).read_text().replace('"core.pools",\n', rooms, 1))
    written = house.compile(data)["platform/kube-public.configmap-notice.yaml"]
    assert "text: maintenance on Sunday" in written
    data["spec"]["platform"] = {"parallelCluster": {}}
    assert "error[SPC006]: `notice` is no part of platform `parallelCluster`" in house.check(data)


@pytest.mark.parametrize("name", RECIPES)
def test_the_recipe_works_as_it_is_written(name: str, house: House) -> None:
    RECIPES[name](house)


def test_the_copy_is_what_runs(house: House) -> None:
    found = house.python("-c", "import compiler; print(compiler.__file__)")
    assert found.startswith(str(house.folder))


def pages() -> set[str]:
    """The recipes that the two pages have."""
    table = (ROOT / "docs/architecture.md").read_text().partition("## One-file recipes")[2]
    rows = table.partition("\n## ")[0].splitlines()
    named = {row.split("|")[1].strip() for row in rows if row.startswith("| ")}
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Recipes")[2].partition("\n## ")[0]
    bold = set(re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE))
    return (named | bold) - {"to add", "---"}


def test_every_recipe_of_the_pages_is_run_or_says_why_not() -> None:
    found = {SAME.get(name, name) for name in pages()}
    assert found == RECIPES.keys() | NOT_RUN.keys()
    assert RECIPES.keys().isdisjoint(NOT_RUN)
