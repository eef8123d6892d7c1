"""The recipes of CONTRIBUTING.md and docs/recipes.md, done in a copy of the package: each works as it is written.

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
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from builders import RELEASE, ROOT, spec
from drawn import drawn
from forks import Forks

pytestmark = pytest.mark.slow

NEWEST = f"compiler/trainyard/catalog/data/releases/{RELEASE.name}"
RECIPES: dict[str, Callable[[House], None]] = {}
NOT_RUN = {
    "a format of what is written": "needs a plan item and a target that make its artifacts",
    "a type of CloudFormation": "needs the registry's schema, which `make schemas` reads",
    "a kind to verify": "needs its released definition, which `make schemas` reads",
    "a key of the spec": "is a field of a model: tests/test_guards.py asks for its bound",
    "what an upgrade asks for": "tests/catalog/test_upgrades.py reads entries of a test's own",
    "a key that names a file other than YAML": "is a key of the spec",
    "A fault in the output": "is a test that fails first",
    "A change of what jobs are rendered to": "is a command",
    "A dependency": "needs a package index",
}
"""By recipe, why it is not run here."""
SAME = {
    "A policy": "a policy",
    "A fixed code": "a fixed code",
    "A key of the spec": "a key of the spec",
    "An add-on": "an add-on",
    "An AMI family": "an AMI family",
    "An instance type": "an instance type",
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
        self._forks: Forks | None = None

    @contextmanager
    def loaded(self) -> Iterator[None]:
        """Meanwhile the package stays as it is, and each run is a fork of a process that has loaded it."""
        self._forks = Forks(self.folder / "compiler")
        try:
            yield
        finally:
            self._forks.end()
            self._forks = None

    def write(self, path: str, text: str) -> None:
        """Write a file of the package; what was there comes back after the test."""
        file = self.folder / path
        self.written.setdefault(path, file.read_bytes() if file.exists() else None)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def replace(self, path: str, *changes: tuple[str, str]) -> None:
        """Replace texts of a module, each at its first place."""
        text = (self.folder / path).read_text()
        for before, after in changes:
            assert before in text, before
            text = text.replace(before, after, 1)
        self.write(path, text)

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
        found = os.pathsep.join((str(self.folder / "compiler"), str(self.folder), str(ROOT)))
        env = {**os.environ, "PYTHONPATH": found, "PYTHONDONTWRITEBYTECODE": "1"}
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

    def guarded(self, file: str, names: str) -> str:
        """What tests of the project say of the copy."""
        path = str(ROOT / "tests" / file)
        options = (f"--rootdir={ROOT}", "--tb=short", "-rf", "-k", names)
        return self.python("-m", "pytest", *options, path)

    def run(self, *arguments: str) -> str:
        """What `trainyard` prints."""
        if self._forks is None:
            return self.python("-m", "trainyard", *arguments)
        done, _ = self._forks.run(arguments, self.folder, dict(os.environ))
        assert "Traceback" not in done.err, done.err
        return done.out + done.err

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

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule


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
    path = "compiler/trainyard/language/diagnostics/codes/RES.md"
    page = "\n## RES998 a-new-fault\n\nWhat is wrong.\n\nFails: `a: b`. Instead: `a: c`.\n"
    assert "What is wrong." not in house.run("explain", "RES998")
    house.write(path, (ROOT / path).read_text() + page)
    assert "What is wrong." in house.run("explain", "RES998")


PROBE_KEY = '''"""A prober of the network."""

from typing import ClassVar

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.section import Section


class Probe(SpecModel):
    """A prober of the network."""


class ProbeSection(Section):
    """A prober of the network."""

    elsewhere: ClassVar[str] = "probe it yourself"

    probe: Probe | None = Field(None, description="A prober of the network.", examples=[{}])


SECTION = ProbeSection
'''
ADD_ON = '''"""A prober of the network, where the spec asks for it."""

from trainyard.plan.context import SPEC, Context
from trainyard.core.probe.spec import ProbeSection
from trainyard.eks.addons.addon import EKS, AddOn


def wanted(context: Context) -> bool:
    return ProbeSection.of(context.spec).probe is not None


ADD_ON = AddOn(component="new-add-on", by=EKS, at=SPEC / "probe", wanted=wanted, after=("vpc-cni",))
'''


@recipe("an add-on")
def add_on(house: House) -> None:
    """With a key of its own, which is a room of the core: no other platform is edited, and no older release."""
    house.write("compiler/trainyard/core/probe/__init__.py", "")
    house.write("compiler/trainyard/core/probe/spec.py", PROBE_KEY)
    house.replace(
        "compiler/trainyard/eks/__init__.py",
        ('"core.pools",\n', '"core.pools",\n        "core.probe",\n'),
    )
    house.write("compiler/trainyard/eks/addons/new_add_on.py", ADD_ON)
    facts = {"source": "EKS add-on", "checked": "2026-11-21", "restarts": "nothing"}
    house.write(f"{NEWEST}/new-add-on.json", json.dumps(facts))
    assert "name: new-add-on" in house.compile(spec(probe={}))["bootstrap/eksctl.yaml"]
    older = house.check(spec(probe={}, release="2026.08"))
    assert "error[RES270]: release 2026.08 has no `new-add-on`" in older
    assert "INT000" not in older
    other = house.check(spec(probe={}, platform={"parallelCluster": {}}))
    assert "help: probe it yourself" in other


@recipe("a release")
def release(house: House) -> None:
    facts = {"base": RELEASE.name, "date": "2099-12-24"}
    house.write("compiler/trainyard/catalog/data/releases/2099.12/release.json", json.dumps(facts))
    assert "release 2099.12" in house.run("catalog", "sources")
    assert "RES001" not in house.check(spec(release="2099.12"))
    assert "RES001" in house.check(spec(release="2099.13"))


@recipe("a minor version of Kubernetes")
def minor(house: House) -> None:
    newest = [minor.after for minor in RELEASE.minors.values()][-1]
    data = spec(platform={"eks": {"version": newest}})
    assert "error[RES002]" in house.check(data)
    known = ROOT / "compiler/trainyard/catalog/data/releases/2026.08/kubernetes/1.36.json"
    house.write(f"{NEWEST}/kubernetes/{newest}.json", known.read_text())
    written = house.compile(data)["bootstrap/eksctl.yaml"]
    assert yaml.safe_load(written)["metadata"]["version"] == newest


INSTANCES = "compiler/trainyard/catalog/data/instances.json"


@recipe("an instance type")
def instance_type(house: House) -> None:
    """First as `trainyard catalog refresh` writes it, which asks EC2; then with the facts that no package stores."""
    known = json.loads((ROOT / INSTANCES).read_text())
    own = {"p4d.99xlarge": known["instances"]["p4d.24xlarge"]}
    source = ["EC2", "https://ec2.us-west-2.amazonaws.com", "now", "2026-11-24"]
    written = {"schema": known["schema"], "sources": [source], "regions": {}, "instances": own}
    house.write("catalog.json", json.dumps(written))
    data = spec(pool={"instanceTypes": ["p4d.99xlarge"]})
    assert "RES005" in house.check(data)
    assert "RES005" not in house.check(data, "--catalog", "catalog.json")

    for made in (INSTANCES, "compiler/trainyard/catalog/data/managed_policies.json"):
        house.write(made, (ROOT / made).read_text())
    house.edit(
        "compiler/trainyard/catalog/data/curated.json", lambda data: data["types"].update(own)
    )
    house.python("-m", "trainyard.extensions.facts.build")
    assert "p4d.99xlarge" in house.run("catalog", "p4d.99xlarge")
    assert "RES005" not in house.check(data)


@recipe("a price")
def price(house: House) -> None:
    """The price that a newer one replaces goes."""

    def one_more(data: Any) -> None:
        for each in data["sets"]:
            each["usd"].get("m7i.large", {}).pop("eu-west-3", None)
        source = ["prices", "https://example.test", "1", "2026-11-24"]
        data["sets"].append({"source": source, "usd": {"m7i.large": {"eu-west-3": 77.5}}})

    code = (
        "from trainyard.catalog import load_catalog; from trainyard.catalog.prices import on_demand; "
        "print(on_demand(load_catalog(), 'm7i.large', 'eu-west-3'))"
    )
    house.edit("compiler/trainyard/catalog/data/regional_prices.json", one_more)
    assert "77.5" in house.python("-c", code)


@recipe("a failure rate")
def failure_rate(house: House) -> None:
    def one_more(data: Any) -> None:
        facts = {"name": "Ours", "counted": "two failures", "failures": 2, "accelerators": 64}
        origin = {"source": "our own nodes", "version": "1", "date": "2026-11-25"}
        data["rates"].append({**facts, "days": 84, **origin})

    house.edit("compiler/trainyard/catalog/data/failure_rates.json", one_more)
    (house.folder / "spec.yaml").write_text(yaml.safe_dump(spec()))
    # 32 GPUs fail half as often as 64, and a week is a twelfth of 84 days.
    assert "0.08 by Ours: two failures (our own nodes)" in house.run("failures", "spec.yaml")


LAUNCHER = '''"""Nodes that somebody starts by hand."""

from trainyard.eks.nodes.karpenter import node_classes, node_pools, root_volume
from trainyard.eks.settings.launcher import Drainer, PoolLauncher, Refused, Repairs


class ByHand(PoolLauncher):
    name = "by hand"
    place = 5

    def launches(self, spec, pool):
        return pool.name == "hand"
REST

LAUNCHER = ByHand()
'''
REST = """
    key = ""
    code = "RES190"
    no_commands = None
    no_huge_pages = ""
    ages = False
    disks = "nobody"
    part_label = "karpenter.sh/nodepool"
    brings_efa_plugin = False
    made_by = "somebody"
    drains_blocks = Drainer("somebody", None)

    def refused(self, context, pool):
        if not pool.static:
            yield Refused(pool.at / "nodes", "is launched by hand", "start them", "nobody")

    def nodes(self, context, pool):
        yield from node_classes(context, pool)
        yield from node_pools(context, pool)

    def root_volume(self, plan, pool):
        return root_volume(plan, pool)

    def repairs(self, plan, pool):
        return Repairs(self.name, "nobody", off="nobody replaces a sick node")

    def most_repaired(self, pool):
        return 0, "nobody replaces a sick node"
"""
SAMPLE = """    "Karpenter": {},
    "by hand": {"pool": {"name": "hand"}},
"""
NOT_FOLLOWED = """    "by hand": {"pool": {"nodes": {"max": 4}}},
    "EKS Auto Mode": {"pool\""""
GUARDS = "tests/platforms/test_launchers_of_pools.py"


def guards(house: House) -> str:
    """What the guards say of the launcher, in the copy."""
    asked = (GUARDS, "-k", "hand", "--tb=line", "-p", "no:cacheprovider")
    return house.python("-m", "pytest", *asked)


@recipe("a launcher of a pool's nodes")
def launcher(house: House) -> None:
    """One file, its sample and its row: the guards name all that is missing, and then hold it."""
    file = "compiler/trainyard/eks/nodes/launchers/by_hand.py"
    page = "docs/capacity.md"
    for test in (*ROOT.glob("tests/*.py"), *ROOT.glob("tests/platforms/*.py")):
        house.write(str(test.relative_to(ROOT)), test.read_text())
    house.write(page, (ROOT / page).read_text())
    house.write(file, LAUNCHER.replace("REST", ""))
    said = guards(house)
    for missing in (
        "launcher `by hand` does not say: key, code, no_commands, no_huge_pages, ages, disks, part_label, "
        "brings_efa_plugin, drains_blocks, made_by, refused, nodes, root_volume, repairs, most_repaired",
        "launcher `by hand` has no sample in `SAMPLES`",
        "`docs/capacity.md` has no row of launcher `by hand`",
    ):
        assert missing in said, said

    tests, rows = (ROOT / GUARDS).read_text(), (ROOT / page).read_text()
    tests = tests.replace('    "Karpenter": {},\n', SAMPLE, 1)
    house.write(
        page, rows.replace("| Karpenter |", "| by hand | one | by hand |\n| Karpenter |", 1)
    )
    house.write(GUARDS, tests.replace('    "EKS Auto Mode": {"pool"', NOT_FOLLOWED, 1))
    house.write(file, LAUNCHER.replace("REST", REST.replace("karpenter.sh/nodepool", "by/hand")))
    assert "says of its nodes what is not written: {'part_label': (True, False)}" in guards(house)
    house.write(file, LAUNCHER.replace("REST", REST))
    said = guards(house)
    assert "failed" not in said, said
    assert " passed" in said, said

    scaled = {"name": "hand", "nodes": {"max": 4}}
    assert "pool `hand` is launched by hand" in house.check(spec(pool=scaled))
    assert "launched by hand" not in house.check(spec())


ALERT = """        Alert(
            name="NobodyLooks",
            expr='max by (kind, name) (gotk_resource_info{ready="False"}) > 0',
            wait="45m",
            severity=INFO,
            summary=f"nobody looks at {_OBJECT}",
            means="It is not ready, and nobody looks.",
            steps=("Look.",),
        ),
"""


@recipe("an alert")
def alert(house: House) -> None:
    """Its case is asked for by tests/monitoring, and so are metrics that an exporter has."""
    path = "compiler/trainyard/extensions/observability/monitoring/alerts/control.py"
    house.replace(path, ("        Alert(\n", f"{ALERT}        Alert(\n"))
    written = house.compile(spec(monitoring={}))
    (rules,) = (
        text for path, text in written.items() if "prometheusrule-trainyard-control" in path
    )
    assert "alert: NobodyLooks" in rules


PAGE = '''"""What nodes have left on their disks."""

from __future__ import annotations

from trainyard.extensions.observability.dashboards.page import Page
from trainyard.extensions.observability.dashboards.panels import COUNT, choice, number, rows

NODES = choice("node", "kube_node_labels", several=True)
COUNTED = number("Nodes", COUNT, "count(kube_node_labels)")
PAGE = Page("disks", "Disks", (NODES,), rows({"Nodes": [COUNTED]}))
'''


@recipe("a dashboard")
def dashboard(house: House) -> None:
    """That an exporter has its metrics is asked for by tests/dashboards."""
    house.write("compiler/trainyard/extensions/observability/dashboards/subjects/disks.py", PAGE)
    house.replace(
        "compiler/trainyard/extensions/observability/dashboards/resolve.py",
        ("        cost,\n", "        cost,\n        disks,\n"),
        ("    yield storage.PAGE\n", "    yield storage.PAGE\n    yield disks.PAGE\n"),
    )
    assert any("dashboard-disks" in path for path in house.compile(spec(monitoring={})))


WEBHOOK = '''"""LeaderWorkerSet."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.manifest import Body
from trainyard.output.body import value_at
from trainyard.verify.fault import Fault, refused
from trainyard.verify.webhooks import Lookup

GROUP = "leaderworkerset.x-k8s.io"


def check(body: Body, lookup: Lookup) -> Iterator[Fault]:
    if value_at(body, "spec", "replicas") == 99:
        yield refused(("spec", "replicas"), "99 are too many", "take fewer")
'''
REFUSED = """apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: many}
spec:
  replicas: 99
  leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{name: a, image: "a:1"}]}}}
"""


@recipe("a webhook's rule")
def webhook(house: House) -> None:
    house.write("objects.yaml", REFUSED)
    assert "99 are too many" not in house.run("lint", "objects.yaml")
    house.write("compiler/trainyard/verify/webhooks/leaderworkerset.py", WEBHOOK)
    assert "99 are too many" in house.run("lint", "objects.yaml")


JUDGE = '''"""Errands."""

from trainyard.extensions.forecast.change import Consequence, Effect


def _errand(edit, steps):
    return Effect(Consequence.ENDS_JOBS, "the errand is run again")


KINDS = {"Errand.errands.example.dev": _errand}
'''
JUDGED = """
from trainyard.extensions.review.consequences.compared import effects
from trainyard.extensions.review.edits.edit import edit_of
from trainyard.extensions.review.edits.thing import Thing

kind = "Errand.errands.example.dev"
thing = Thing(kind, (kind, "x"), "x", "x.yaml", {"metadata": {"name": "x"}})
for effect, _ in effects(edit_of(None, thing)):
    print(effect.why)
"""


@recipe("what a change of a kind means")
def consequence(house: House) -> None:
    assert "run again" not in house.python("-c", JUDGED)
    house.write("compiler/trainyard/extensions/review/consequences/judges/errands.py", JUDGE)
    assert house.python("-c", JUDGED) == "the errand is run again\n"


@recipe("an immutable field")
def immutable(house: House) -> None:
    """A queue cannot be held, says a rule that the API server does not have."""
    queue = {
        "name": "all",
        "namespaces": ["team"],
        "quota": [{"pool": "gpu", "nodes": 4}],
        "stopPolicy": "None",
    }
    data = spec(queues=[queue])
    house.compile(data)
    queue["stopPolicy"] = "Hold"
    assert "CHG002" not in house.check(data)
    row = 'Rule(("spec", "stopPolicy"), "undo it", "nobody")'
    path = "compiler/trainyard/run/history/immutable.py"
    house.replace(path, ('    "Secret": [', f'    "ClusterQueue": [{row}],\n    "Secret": ['))
    said = house.check(data)
    assert "error[CHG002]: `spec.stopPolicy` of ClusterQueue/all cannot change" in said


CONTACTS = '''"""Whom to call."""

from typing import ClassVar

from pydantic import Field

from trainyard.language.models.base import SpecModel
from trainyard.language.models.section import Section


class Contact(SpecModel):
    """Whom to call."""

    name: str = Field(description="The name.", examples=["night"])
    phone: int = Field(ge=1, description="The number.", examples=[112])


class ContactsSection(Section):
    """Whom to call."""

    contacts: list[Contact] = Field([], description="Whom to call.", examples=[[]])


SECTION = ContactsSection
DOCUMENTS = {"TrainingContact": ("contacts", Contact)}
'''
CONTACT = """---
apiVersion: trainyard.dev/v1alpha1
kind: TrainingContact
metadata: {name: night, cluster: lab}
spec: {phone: 0}
"""


@recipe("a document of its own for a list item")
def document(house: House) -> None:
    house.write("compiler/trainyard/core/contacts/__init__.py", "")
    house.write("compiler/trainyard/core/contacts/spec.py", CONTACTS)
    house.replace(
        "compiler/trainyard/eks/__init__.py",
        ('"core.pools",\n', '"core.pools",\n        "core.contacts",\n'),
    )
    house.write("spec.yaml", yaml.safe_dump(spec()) + CONTACT)
    said = house.run("check", "spec.yaml", "--no-cache")
    assert "error[SPC004]" in said
    assert "phone: 0" in said


FORMAT = '''"""One line for each code."""


def render(diagnostics, *, tool_version, color=False):
    return "".join(f"code={item.code}\\n" for item in diagnostics)
'''


@recipe("a format of diagnostics")
def diagnostics(house: House) -> None:
    data = spec(region="us-wset-2")
    house.write("compiler/trainyard/language/diagnostics/render/lines.py", FORMAT)
    path = "compiler/trainyard/cli/arguments.py"
    text = (ROOT / path).read_text()
    house.write(path, text.replace('FORMATS = ("text", ', 'FORMATS = ("text", "lines", '))
    assert "code=RES003\n" in house.check(data, "--format=lines")


COMMAND = '''"""``names``: the clusters of some specs."""

from trainyard.cli import arguments
from trainyard.cli.settings import command, run_options
from trainyard.cli.streams import print_out

HELP = "print the names of clusters"


def declare(parser):
    arguments.specs(parser)
    arguments.rules_and_facts(parser)


@command
def run(options):
    from trainyard.run.driver import check

    done = check(options.paths, run_options(options))
    print_out("".join(f"{each.name}\\n" for each in done.compilations))
    return 0
'''


@recipe("a command")
def command(house: House) -> None:
    house.write("compiler/trainyard/extensions/review/commands/names.py", COMMAND)
    (house.folder / "spec.yaml").write_text(yaml.safe_dump(spec()))
    assert house.run("names", "spec.yaml") == "lab\n"
    assert "print the names of clusters" in house.run("--help")
    assert "names) words=" in house.run("completion", "bash")


@recipe("an extension")
def extension(house: House) -> None:
    """Where it lies, and where what it needs does."""
    folder = "compiler/trainyard/extensions/lab"
    house.write(f"{folder}/__init__.py", '"""Names."""\n\nNEEDS = ("review",)\n')
    house.write(f"{folder}/commands/__init__.py", "")
    house.write(f"{folder}/commands/names.py", COMMAND)
    (house.folder / "spec.yaml").write_text(yaml.safe_dump(spec()))
    assert house.run("names", "spec.yaml") == "lab\n"
    house.write(f"{folder}/__init__.py", '"""Names."""\n\nNEEDS = ("absent",)\n')
    assert "invalid choice: 'names'" in house.run("names", "spec.yaml")


SECTION = '''"""A section of the report."""

from trainyard.extensions.forecast.blocks import Heading, paragraph


def section(subject):
    return [Heading("What is new"), paragraph(f"Cluster {subject.name}.")]
'''


@recipe("a section of the report")
def section(house: House) -> None:
    path = "compiler/trainyard/extensions/review/report/__init__.py"
    text = (ROOT / path).read_text()
    named = text.replace("    findings,\n", "    findings,\n    news,\n")
    named = named.replace("FIRST = (findings,", "FIRST = (findings, news,")
    house.write("compiler/trainyard/extensions/review/report/news.py", SECTION)
    house.write(path, named)
    (house.folder / "spec.yaml").write_text(yaml.safe_dump(spec()))
    assert "## What is new\n\nCluster lab.\n" in house.run("report", "spec.yaml")
    html = house.run("report", "spec.yaml", "--format", "html")
    assert "What is new</h3>\n<p>Cluster lab.</p>" in html


@recipe("the speed of an accelerator")
def speed(house: House) -> None:
    def without(data: Any) -> None:
        data["accelerators"].pop("A10G", None)

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
    house.edit("compiler/trainyard/catalog/data/accelerators.json", without)
    assert "the speed of A10G in bf16 is not in the catalog" in house.run("fit", "spec.yaml")
    house.edit("compiler/trainyard/catalog/data/accelerators.json", one_more)
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
    path = "compiler/trainyard/core/training/huggingface.py"
    text = (ROOT / path).read_text()
    house.write(path, text.replace('    "gemma": ', '    "falcon9": _Family(),\n    "gemma": '))
    assert "is unknown" not in house.check(data)


@recipe("an AMI family")
def ami_family(house: House) -> None:
    def one_more(data: Any) -> None:
        data["families"]["al2040"] = {**data["families"]["al2023"], "karpenter": "AL2040"}

    data = spec(platform={"eks": {"ami": "al2040@v20260714"}})
    assert "is of no family of images" in house.check(data)
    house.edit("compiler/trainyard/catalog/data/ami_families.json", one_more)
    definition = "compiler/trainyard/verify/data/karpenter.k8s.aws_v1_EC2NodeClass.json"
    house.replace(definition, ("in ['al2','al2023',", "in ['al2','al2040','al2023',"))
    assert "is of no family" not in house.check(data)


RACK = ROOT / "tests" / "platforms" / "rack"
"""The smallest platform: machines that somebody keeps, and a file for each of their jobs."""

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
    """A folder: no file is edited. What the core judges is judged of it too, and the
    guard of what rules read names what this one does not give."""
    for file in sorted(RACK.rglob("*.py")):
        house.write(
            f"compiler/trainyard/extensions/rack/{file.relative_to(RACK)}", file.read_text()
        )

    with house.loaded():
        _judged_as_others_are(house)
        _shown_as_others_are(house)
    said = house.guarded("policy/test_nodes_of_platforms.py", "test_a_platform_gives")
    assert re.findall(r"^FAILED .*\[(\w+)\]", said, re.MULTILINE) == ["rack"], said
    assert "rack gives no RegionalCluster, and says not why: it is read by `compiler/" in said


def _judged_as_others_are(house: House) -> None:
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


def _shown_as_others_are(house: House) -> None:
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
DATA = "compiler/trainyard/verify/data"


@recipe("a kind of job")
def kind_of_job(house: House) -> None:
    """A module and a definition. What is asked of every kind is asked of it: it has no row in the docs."""
    module = "compiler/trainyard/eks/jobs/kinds/errand.py"
    house.write(module, ERRAND.read_text())
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

    data["spec"]["jobs"][0] |= {"nodes": 1}
    assert "RUN089" not in house.check(data)
    named = 'framework = "Errand.v1.errands.example.dev"'
    house.write(module, ERRAND.read_text().replace(named, "framework = None"))
    said = house.check(data)
    assert "error[RUN089]: Kueue cannot manage Errands" in said
    assert "kind: Errand\n" in said.partition("error[RUN089]")[2].partition("\n\n")[0], said


ACCELERATE_KEY = '''"""The spec of the launcher ``accelerate``."""

from trainyard.language.models.base import SpecModel


class Accelerate(SpecModel):
    """`accelerate launch`, which reads what torchrun reads."""
'''
ACCELERATE = '''"""accelerate: it starts torchrun itself."""

from __future__ import annotations

from trainyard.plan.context import Context
from trainyard.core.jobs.job import Job
from trainyard.core.jobs.launchers.torchrun.resolve import Torchrun


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
    folder = "compiler/trainyard/core/jobs/launchers"
    data = spec(job={"launcher": {"accelerate": {}}, "command": ["accelerate", "launch", "a.py"]})
    assert "SPC002" in house.check(data)
    house.write(f"{folder}/accelerate/__init__.py", "")
    house.write(f"{folder}/accelerate/spec.py", ACCELERATE_KEY)
    house.write(f"{folder}/accelerate/resolve.py", ACCELERATE)
    text = (ROOT / folder / "spec.py").read_text()
    loaded = "from trainyard.core.jobs.launchers.accelerate.spec import Accelerate\n"
    text = text.replace("from pydantic", f"{loaded}from pydantic", 1)
    house.write(f"{folder}/spec.py", text.replace("    @property\n", ACCELERATE_FIELD, 1))
    said = house.check(data)
    assert "error" not in said, said
    data["spec"]["jobs"][0]["command"] = ["python", "a.py"]
    assert "error[RES997]: nothing starts accelerate" in house.check(data)


NOTICE_KEY = '''"""What people are told who log in."""

from typing import ClassVar

from pydantic import Field

from trainyard.language.models.section import Section


class NoticeSection(Section):
    """A notice."""

    elsewhere: ClassVar[str] = "tell people yourself"

    notice: str | None = Field(None, description="What people are told.", examples=["hello"])


SECTION = NoticeSection
'''
NOTICE = '''"""A notice, as a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from trainyard.plan.context import SPEC, Context
from trainyard.core.notice.spec import NoticeSection
from trainyard.language.dataclass import dataclass
from trainyard.plan import PlanItem


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice(PlanItem):
    """What people are told."""

    carried: ClassVar[bool] = False

    text: str


def resolve(context: Context) -> Iterator[PlanItem]:
    text = NoticeSection.of(context.spec).notice
    if text is not None:
        yield Notice(at=SPEC / "notice", text=text)
'''
NOTICE_LOWERED = '''"""A notice, as a ConfigMap."""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.output.lowering.body import file_of, object_head
from trainyard.output.manifest import Manifest
from trainyard.plan import Plan
from trainyard.eks.notice.resolve import Notice


def lower(plan: Plan) -> Iterator[Manifest]:
    for notice in plan.of(Notice):
        body = object_head("v1", "ConfigMap", "notice", "kube-public")
        body["data"] = {"text": notice.text}
        yield Manifest(body, file_of("platform", body), notice.at)
'''


@recipe("a capability")
def capability(house: House) -> None:
    data = spec(notice="maintenance on Sunday")
    assert "error[SPC002]" in house.check(data)
    for place, files in {
        "core/notice": {"spec": NOTICE_KEY},
        "eks/notice": {"resolve": NOTICE, "lower": NOTICE_LOWERED},
    }.items():
        house.write(f"compiler/trainyard/{place}/__init__.py", "")
        for name, text in files.items():
            house.write(f"compiler/trainyard/{place}/{name}.py", text)
    path = "compiler/trainyard/eks/__init__.py"
    rooms = '"core.pools",\n        "core.notice",\n        "eks.notice",\n'
    house.write(path, (ROOT / path).read_text().replace('"core.pools",\n', rooms, 1))
    written = house.compile(data)["platform/kube-public.configmap-notice.yaml"]
    assert "text: maintenance on Sunday" in written
    data["spec"]["platform"] = {"parallelCluster": {}}
    said = house.check(data)
    assert "error[SPC006]: `notice` is no part of platform `parallelCluster`" in said
    assert "help: tell people yourself" in said


@pytest.mark.parametrize("name", drawn(RECIPES, 8))
def test_the_recipe_works_as_it_is_written(name: str, house: House) -> None:
    RECIPES[name](house)


def test_the_copy_is_what_runs(house: House) -> None:
    found = house.python("-c", "import trainyard; print(trainyard.__file__)")
    assert found.startswith(str(house.folder))


def pages() -> set[str]:
    """The recipes that the two pages have."""
    table = (ROOT / "docs/recipes.md").read_text().partition("# Recipes")[2]
    rows = table.partition("\n## ")[0].splitlines()
    named = {row.split("|")[1].strip() for row in rows if row.startswith("| ")}
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Recipes")[2].partition("\n## ")[0]
    bold = set(re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE))
    return (named | bold) - {"to add", "---"}


def test_every_recipe_of_the_pages_is_run_or_says_why_not() -> None:
    found = {SAME.get(name, name) for name in pages()}
    assert found == RECIPES.keys() | NOT_RUN.keys()
    assert RECIPES.keys().isdisjoint(NOT_RUN)
