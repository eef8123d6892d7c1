"""Which package may import which, who may know cdk8s, and who may touch files."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from builders import ROOT

# A layer imports only what stands before it. A layer is a package, or the modules of one name in the folders of all
# subjects: `subjects.plan` is every `compiler/subjects/*/plan.py`.
ORDER = (
    "dataclass",
    "imported",
    "regex",
    "re2",
    "source.base",
    "diagnostics",
    "source",
    "catalog",
    "subjects",
    "platforms",
    "plan",
    "spec.base",
    "subjects.spec",
    "spec",
    "subjects.plan",
    "resolve.base",
    "subjects.resolve",
    "resolve",
    "output",
    "manifest",
    "targets",
    "subjects.target",
    "lift",
    "subjects.lift",
    "patches",
    "verify",
    "model",
    "policy",
    "emit",
    "output.formats",
    "synthesis",
    "history",
    "outcome",
    "report",
    "fleet",
    "examples",
    "judge",
    "unread",
    "driver",
    "writer",
    "clusters",
    "lint",
    "linter",
    "cli",
)
# Modules below the rest of their package, which only builds on them.
BASE = {
    "source": {"source", "source.route", "source.tree"},
    "resolve": {"resolve", "resolve.context", "resolve.release", "resolve.versions"},
    "spec": {
        "spec",
        "spec.base",
        "spec.buckets",
        "spec.checks",
        "spec.choice",
        "spec.editor",
        "spec.later",
        "spec.git",
        "spec.keys",
        "spec.programs",
        "spec.section",
        "spec.types",
    },
}
# How a subject is written, what exists, and its two ways between; any other module of its folder helps to resolve it.
PARTS = ("spec", "plan", "target", "lift")
SPEC_PARTS = {
    "subjects.jobs.launchers.filling",
    "subjects.jobs.launchers.nccl_test.acceptance",
    "subjects.jobs.launchers.torchtune.released",
}
PLAN_PARTS = {"subjects.bootstrap.account"}
TARGET_PARTS = {
    "subjects.health.drill",
    "subjects.network.stack",
    "subjects.images.dockerfile",
    "subjects.images.stacks",
    "subjects.images.workflow",
    "subjects.storage.stacks",
}
FORMATS = (
    "output.formats"  # they judge, read back and write; targets make artifacts, and know no format
)
APART = {
    ("output.formats", "targets"),
    ("output.formats", "subjects.target"),
    ("output.formats", "subjects.resolve"),
    ("subjects.lift", "targets"),
    ("subjects.lift", "subjects.target"),
    ("subjects.lift", "subjects.resolve"),
    ("subjects.lift", "subjects.spec"),
    ("lift", "targets"),
    ("verify", "targets"),
    ("verify", "subjects.target"),
    ("model", "subjects.target"),
    ("model", "subjects.resolve"),
    ("policy", "subjects.target"),
    ("policy", "subjects.resolve"),
    ("subjects.resolve", "manifest"),
}

FILE_CALLS = {
    "open",
    "read_text",
    "read_bytes",
    "write_text",
    "write_bytes",
    "iterdir",
    "glob",
    "rglob",
    "mkdir",
    "unlink",
    "rename",
    "replace_file",
    "scandir",
    "walk_files",
    "listdir",
    "makedirs",
    "TemporaryDirectory",
    "NamedTemporaryFile",
    "mkdtemp",
}
# Who touches files, and why.
MAY_TOUCH_FILES = {
    "targets.text": "keeps the code of templates",
    "policy.kept": "keeps the code of rules",
    "source": "reads specs",
    "catalog": "reads facts, writes an overlay",
    "emit": "writes the output",
    "cli": "is the edge",
    "examples": "quotes the rules that it judges",
    "examples.rehearse": "reads its bases",
    "diagnostics.pages": "reads the explanation pages of the package",
    "diagnostics.render": "finds its own modules",
    "verify.schemas": "reads the package's schemas",
    "verify.webhooks": "finds its own modules",
    "verify.derive": "makes the package's schemas",
    "policy.load": "reads rules and exceptions",
    "policy.config": "reads policy.yaml",
    "unread": "looks for clusters' folders, and whether their specs are there",
    "writer": "looks for clusters' folders",
    "history.committed": "reads what the last run wrote",
    "history.runs": "reads the runs that the last run noted",
    "output.formats": "finds its own modules",
    "output.formats.cloudformation.structure": "reads the package's structures",
    "output.formats.terraform.derive": "makes the package's structures of the provider",
    "output.formats.terraform.structure": "reads the package's structures of the provider",
    "output.formats.cloudformation.derive": "makes the package's structures",
    "subjects": "finds its own modules",
    "subjects.health.target": "reads the program that it puts into a ConfigMap",
    "subjects.addons": "finds its own modules",
    "targets.chart": "reads the objects that cdk8s is to make",
    "synthesis": "hands objects to cdk8s in files",
    "subjects.health.scripts.condition_tainter": "runs in the cluster",
    "subjects.health.scripts.burn_in": "runs in the cluster",
    "lint": "reads what others wrote",
}


def modules(folder: str = "compiler") -> Iterator[tuple[str, Path]]:
    """Module name (below the folder) and path of every module."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT / folder).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


def imports(path: Path, module: str) -> set[str]:
    """The modules that a module imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
    return found


def own(path: Path, module: str) -> set[str]:
    """The modules of the compiler among them, without its name."""
    known = {name for name, _ in modules()}
    return {
        name.removeprefix("compiler.")
        for name in imports(path, module)
        if name.startswith("compiler.") and name.removeprefix("compiler.") in known
    }


def layer(module: str) -> str:
    if module.startswith(FORMATS):
        return FORMATS
    package, _, rest = module.partition(".")
    if module == "subjects.addons":
        return "subjects.resolve"
    if package == "subjects" and rest.count("."):
        part = rest.rpartition(".")[2]  # a part of a part has the same files
        if ".forms" in module or module in SPEC_PARTS:
            return "subjects.spec"
        if module in PLAN_PARTS:
            return "subjects.plan"
        if module in TARGET_PARTS:
            return "subjects.target"
        return f"subjects.{part if part in PARTS else 'resolve'}"
    return f"{package}.base" if module in BASE.get(package, ()) else package


def test_every_package_has_its_place() -> None:
    assert {layer(name) for name, _ in modules() if name} <= {*ORDER, "__main__"}


def test_models_have_annotations_not_their_texts() -> None:
    """pydantic compiles and evaluates each text: a sixth of what the models cost a ``check``."""
    models = [(name, path) for name, path in modules() if layer(name) == "subjects.spec"]
    assert len(models) > 20
    late = [name for name, path in models if "__future__.annotations" in imports(path, name)]
    assert set(late) <= SPEC_PARTS


def test_a_check_makes_only_the_models_that_it_uses() -> None:
    code = (
        "import sys\nfrom compiler.cli.main import main\n"
        "sys.argv = ['trainyard', 'check', 'specs/starter.yaml', '-q']\n"
        "assert main() == 0\n"
        "print(*(name for name in sys.modules if '.forms.' in name))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_imports_point_to_the_left() -> None:
    wrong = []
    for name, path in modules():
        here = layer(name)
        if here not in ORDER:
            continue
        for target in own(path, name):
            there = layer(target)
            if (
                there not in ORDER
                or ORDER.index(there) > ORDER.index(here)
                or (here, there) in APART
            ):
                wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_the_test_of_directions_sees_a_wrong_one() -> None:
    assert ORDER.index(layer("driver")) > ORDER.index(layer("spec.types"))
    assert own(ROOT / "compiler" / "driver.py", "driver") >= {
        "spec.load",
        "resolve.resolve",
        "targets",
    }
    assert layer("source.tree") == "source.base"
    assert layer("subjects.jobs.binding") == "subjects.resolve"
    assert layer("subjects.jobs.lift") == "subjects.lift"
    assert layer("source.parse") == "source"


def test_only_the_chart_knows_cdk8s() -> None:
    assert {
        name
        for name, path in modules()
        if any(each.startswith("cdk8s") for each in imports(path, name))
    } == {"targets.chart"}


def test_the_chart_is_a_program_of_its_own() -> None:
    """It is started by its path, so nothing of Trainyard is there to import."""
    assert own(ROOT / "compiler" / "targets" / "chart.py", "targets.chart") == set()
    assert not [name for name, path in modules() if "targets.chart" in own(path, name)]


def test_nothing_in_the_compiler_imports_policies() -> None:
    for name, path in modules():
        assert not [each for each in imports(path, name) if each.partition(".")[0] == "policies"], (
            name
        )


def test_policies_import_what_they_judge_and_nothing_behind_it() -> None:
    allowed = {
        "source",
        "source.base",
        "diagnostics",
        "catalog",
        "plan",
        "subjects.plan",
        "manifest",
        "model",
        "policy",
        "re2",
        "regex",
    }
    for name, path in modules("policies"):
        found = {layer(module) for module in own(path, name)}
        assert found <= allowed, (name, found - allowed)


def touches(path: Path) -> set[str]:
    """Calls that read or write files."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = (
                node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            )
            found |= {name} & FILE_CALLS
    return found


def test_only_the_edges_touch_files() -> None:
    wrong = {
        name: sorted(found)
        for name, path in modules()
        if (found := touches(path))
        and name not in MAY_TOUCH_FILES
        and name.partition(".")[0] not in ("source", "catalog", "emit", "cli", "linter")
    }
    assert wrong == {}


def test_clock_environment_and_network_are_read_at_the_edge_alone() -> None:
    hidden = {
        "os.environ",
        "os.getenv",
        "time.time",
        "datetime.now",
        "date.today",
        "datetime.today",
        "socket.socket",
    }
    edge = ("cli", "catalog.refresh", "targets.chart", "subjects.health.scripts")
    wrong = []
    for name, path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                dotted = f"{node.value.id}.{node.attr}"
                if dotted in hidden and not name.startswith(edge):
                    wrong.append(f"{name}: {dotted}")
    assert wrong == []
