"""Which package may import which, who may know cdk8s, and who may touch files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from builders import ROOT

# A package imports only what stands before it. `plan` stands before `spec`: its units are the spec's types, and plan
# nodes know nothing of the spec. `source.route` and `source.tree` are the layer below diagnostics.
ORDER = (
    "dataclass",
    "source.base",
    "diagnostics",
    "source",
    "catalog",
    "plan",
    "spec",
    "resolve",
    "output",
    "manifest",
    "targets",
    "lift",
    "verify",
    "policy",
    "emit",
    "output.formats",
    "synthesis",
    "history",
    "outcome",
    "report",
    "fleet",
    "examples",
    "driver",
    "writer",
    "clusters",
    "lint",
    "linter",
    "cli",
)
BASE = {
    "source",
    "source.route",
    "source.tree",
}  # the package itself gives out just these two modules
FORMATS = "output.formats"  # they judge, read back and write; targets make artifacts, and know no format
APART = {
    ("lift", "targets"),
    ("verify", "targets"),
    ("policy", "targets"),
    ("resolve", "manifest"),
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
    "source": "reads specs",
    "catalog": "reads facts, writes an overlay",
    "emit": "writes the output",
    "cli": "is the edge",
    "examples": "quotes the rules that it judges",
    "examples.rehearse": "reads its bases",
    "diagnostics.pages": "reads the explanation pages of the package",
    "verify.schemas": "reads the package's schemas",
    "verify.webhooks": "finds its own modules",
    "verify.derive": "makes the package's schemas",
    "policy.load": "reads rules and exceptions",
    "policy.config": "reads policy.yaml",
    "writer": "looks for clusters' folders",
    "history.committed": "reads what the last run wrote",
    "history.runs": "reads the runs that the last run noted",
    "output.formats": "finds its own modules",
    "output.formats.cloudformation.structure": "reads the package's structures",
    "output.formats.cloudformation.derive": "makes the package's structures",
    "targets": "finds its own modules",
    "lift": "finds its own modules",
    "targets.health": "reads the program that it puts into a ConfigMap",
    "targets.chart": "reads the objects that cdk8s is to make",
    "synthesis": "hands objects to cdk8s in files",
    "targets.scripts.condition_tainter": "runs in the cluster",
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
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {
                node.module or ""
            }
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
    return "source.base" if module in BASE else module.partition(".")[0]


def test_every_package_has_its_place() -> None:
    assert {layer(name) for name, _ in modules() if name} <= {*ORDER, "__main__"}


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
        "spec",
        "resolve",
        "targets",
    }
    assert layer("source.tree") == "source.base"
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
        assert not [
            each for each in imports(path, name) if each.partition(".")[0] == "policies"
        ], name


def test_policies_import_what_they_judge_and_nothing_behind_it() -> None:
    allowed = {"source", "diagnostics", "catalog", "plan", "manifest", "policy"}
    for name, path in modules("policies"):
        found = {
            each.split(".")[1]
            for each in imports(path, name)
            if each.startswith("compiler.")
        }
        assert found <= allowed, (name, found - allowed)


def touches(path: Path) -> set[str]:
    """Calls that read or write files."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            name = (
                node.func.id
                if isinstance(node.func, ast.Name)
                else getattr(node.func, "attr", "")
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
    edge = ("cli", "catalog.refresh", "targets.chart", "targets.scripts")
    wrong = []
    for name, path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                told = f"{node.value.id}.{node.attr}"
                if told in hidden and not name.startswith(edge):
                    wrong.append(f"{name}: {told}")
    assert wrong == []


def test_lift_shares_no_code_with_the_renderer() -> None:
    for name, path in modules():
        if layer(name) == "lift" or name.endswith("cloudformation.reading"):
            assert not [
                each
                for each in own(path, name)
                if layer(each) in ("targets", "resolve", "spec", "emit")
            ], name
