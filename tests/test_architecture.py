"""Which package may import which, who may know cdk8s, and who may touch files."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping, Set
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

import pytest
from builders import ROOT
from modules import nodes
from trainyard.plan.features import extensions, needs

pytestmark = pytest.mark.slow

# The packages from below: each imports only what stands before it. Imports in functions, for types alone, and modules
# that a text names count like any other. Their features no table lists: below, those that import each other are found.
ORDER = (
    *("disk", "language", "catalog", "plan", "output", "core", "lift", "verify", "eks"),
    *("judge", "run", "cli", "__main__", "extensions"),
)
# Where the features of the core and of platforms are.
_MANY = ("core.", "eks.", "extensions.")
# What is judged shares no code with what was written: (importing, imported), by feature or by module of a feature.
APART = {
    ("verify.formats", "output.lowering"),
    ("verify.formats", "*.lower"),
    ("verify.formats", "*.resolve"),
    ("*.lift", "output.lowering"),
    ("*.lift", "*.lower"),
    ("*.lift", "*.bodies"),
    ("*.lift", "*.origins"),
    ("*.lift", "*.resolve"),
    ("*.lift", "*.spec"),
    ("lift", "output.lowering"),
    ("verify", "output.lowering"),
    ("verify", "*.lower"),
    ("judge.model", "*.lower"),
    ("judge.model", "*.resolve"),
    ("judge.policy", "*.lower"),
    ("judge.policy", "*.resolve"),
    ("*.resolve", "output.manifest"),
}
# Modules of models that are read before pydantic is.
WITHOUT_MODELS = {"filling", "acceptance", "released"}

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
    "stat",
    "lstat",
    "lexists",
    "isfile",
    "isdir",
    "islink",
    "is_symlink",
    "realpath",
    "walk_files",
    "listdir",
    "makedirs",
    "TemporaryDirectory",
    "NamedTemporaryFile",
    "mkdtemp",
}
# Who touches files, and why: modules, and by `*` those that several platforms have.
MAY_TOUCH_FILES = {
    "disk.inputs": "is how the passes read",
    "disk.cache": "keeps what runs said",
    "output.lowering.text": "keeps the code of templates",
    "language.source": "reads specs",
    "catalog": "reads facts, writes an overlay",
    "output.emit": "writes the output",
    "cli": "is the edge",
    "run.examples": "quotes the rules that it judges",
    "run.examples.rehearse": "reads its bases",
    "language.diagnostics.pages": "reads the explanation pages of the package",
    "language.diagnostics.render": "finds its own modules",
    "verify.schemas": "reads the package's schemas",
    "verify.webhooks": "finds its own modules",
    "judge.policy.load": "reads rules and exceptions",
    "judge.policy.config": "reads policy.yaml",
    "run.unread": "looks for clusters' folders, and whether their specs are there",
    "run.writer": "looks for clusters' folders",
    "run.history.committed": "reads what the last run wrote",
    "run.history.runs": "reads the runs that the last run noted",
    "verify.formats": "finds its own modules",
    "extensions.*.formats.*.structure": "reads the package's structure",
    "extensions.*.formats.*.derive": "makes the package's structure",
    "extensions.*.formats.*.slurm_conf": "reads the package's parameters of Slurm",
    "extensions.*.formats.*.derive_slurm": "makes the package's parameters of Slurm",
    "verify.formats.cloudformation.structure": "reads the package's structures",
    "extensions.terraform.formats.terraform.derive": "makes the package's structures of the provider",
    "extensions.terraform.formats.terraform.structure": "reads the package's structures of the provider",
    "plan.features": "finds the extensions and the features modules",
    "eks.health.lower": "reads the program that it puts into a ConfigMap",
    "eks.addons": "finds its own modules",
    "extensions.observability.managed_monitoring.facts": "reads facts",
    "extensions.observability.released_exporters": "reads facts",
    "extensions.forecast.accelerators": "reads facts",
    "extensions.observability.monitoring.lower": "reads the program that it puts into a ConfigMap",
    "extensions.observability.checkpoints.lower": "reads the program that it puts into a ConfigMap",
    "output.lowering.chart": "reads the objects that cdk8s is to make",
    "output.synthesis": "hands objects to cdk8s in files",
    "*.scripts.*": "runs in the cluster",
    "extensions.authoring": "writes and formats specs",
    "extensions.facts": "makes the facts anew",
    "extensions.lint": "reads what others wrote",
    "extensions.operate.kubeconfig": "reads where a cluster is",
    "extensions.review.git": "asks git, and writes a revision aside",
    "extensions.review.plan": "makes a folder for a revision",
    "extensions.review.revisions": "reads what another folder has committed",
}


@cache
def modules(folder: str = "compiler/trainyard") -> tuple[tuple[str, Path], ...]:
    """Module name (below the folder) and path of every module."""
    return tuple(_modules(folder))


def _modules(folder: str) -> Iterator[tuple[str, Path]]:
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT / folder).with_suffix("").parts
        yield ".".join(part for part in parts if part != "__init__"), path


@cache
def imports(path: Path, module: str) -> frozenset[str]:
    """The modules that a module imports, anywhere in it, or names in a text."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: relative import"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module or ""}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named, _, _ = node.value.partition(":")
            if named.startswith("trainyard."):
                found |= {named, named.rpartition(".")[0]}
    return frozenset(found)


@cache
def _names() -> frozenset[str]:
    return frozenset(name for name, _ in modules())


def own(path: Path, module: str) -> set[str]:
    """The modules of the compiler among them, without its name; of a name in a package the module that has it."""
    known = _names()
    named = {name.removeprefix("trainyard.") for name in imports(path, module)}
    found = named & known
    return {name for name in found if not any(other.startswith(f"{name}.") for other in found)}


def feature(module: str) -> str:
    """The feature that a module is in."""
    parts = module.split(".")
    depth = {"cli": 1, "extensions": 3}.get(parts[0], 2)
    return ".".join(parts[:depth])


def is_called(module: str, name: str) -> bool:
    """Whether a module is of a package or feature, or is the one of a name that features have: ``*.lift``."""
    if name.startswith("*."):
        return module.startswith(_MANY) and module.endswith(name[1:])
    return module == name or module.startswith(f"{name}.")


def floor(name: str) -> int:
    """How far up a module stands."""
    return ORDER.index(name.partition(".")[0])


def in_circles(imported: Mapping[str, Set[str]]) -> dict[str, Set[str]]:
    """What is left when those that import none of the others are taken away, again and again."""
    left = dict(imported)
    while True:
        done = {name for name, targets in left.items() if not targets & left.keys()}
        if not done:
            return {name: targets & left.keys() for name, targets in left.items()}
        left = {name: targets for name, targets in left.items() if name not in done}


def test_every_folder_has_its_place() -> None:
    assert {name.partition(".")[0] for name, _ in modules() if name} == set(ORDER)


def test_models_have_annotations_not_their_texts() -> None:
    """pydantic compiles and evaluates each text: a sixth of what the models cost a ``check``."""
    models = []
    for name, path in modules():
        is_model = name.endswith(".spec") or "(SpecModel" in path.read_text()
        if is_model and feature(name).startswith(_MANY):
            models.append((name, path))
    assert len(models) > 20
    late = [name for name, path in models if "__future__.annotations" in imports(path, name)]
    assert [name for name in late if name.rpartition(".")[2] not in WITHOUT_MODELS] == []


def test_a_check_imports_nothing_of_a_review() -> None:
    code = (
        "import sys\nfrom trainyard.cli.main import main\n"
        "sys.argv = ['trainyard', 'check', 'specs/starter.yaml', '-q']\n"
        "assert main() == 0\n"
        "late = ('trainyard.extensions.review.', 'trainyard.extensions.operate.')\n"
        "print(*(name for name in sys.modules if name.startswith(late)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_a_check_imports_nothing_that_other_platforms_write() -> None:
    code = (
        "import sys\nfrom trainyard.cli.main import main\n"
        "sys.argv = ['trainyard', 'check', 'specs/starter.yaml', '-q', '--no-cache']\n"
        "assert main() == 0\n"
        "others = ('trainyard.extensions.hyperpod.', 'trainyard.extensions.parallelcluster.')\n"
        "late = {name for name in sys.modules if name.startswith(others) and name.endswith('.lower')}\n"
        "print(*late)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_lint_imports_no_models_of_the_spec() -> None:
    """They are two fifths of its start, and third-party files are not read by them."""
    code = (
        "import sys\nfrom trainyard.cli.main import main\n"
        "sys.argv = ['trainyard', 'lint', 'generated/starter', '-q', '--no-cache']\n"
        "assert main() in (0, 1)\n"
        "late = ('pydantic', 'trainyard.run.language', 'trainyard.language.models.', 'trainyard.core.jobs.spec')\n"
        "print(*(name for name in sys.modules if name.startswith(late)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == [""], done.stderr


def test_imports_go_down() -> None:
    """No package imports one that stands above it, whatever the import looks like."""
    wrong = []
    for name, path in modules():
        if not name:
            continue
        above = [target for target in own(path, name) - {""} if floor(target) > floor(name)]
        wrong += [f"{name} imports {target}" for target in above]
    assert wrong == []


def test_no_features_import_each_other_in_a_circle() -> None:
    imported: dict[str, Set[str]] = {}
    for name, path in modules():
        here = feature(name)
        there = {feature(target) for target in own(path, name)} - {here}
        imported[here] = imported.get(here, set()) | there
    assert len(imported) > 80
    assert in_circles(imported) == {}


def test_features_that_import_each_other_are_found() -> None:
    imported = {"a": {"b"}, "b": {"c", "d"}, "c": {"b"}, "d": set(), "e": {"d"}}
    # `a` belongs to no circle, but needs one
    assert in_circles(imported) == {"a": {"b"}, "b": {"c"}, "c": {"b"}}


def asking(module: str) -> set[str]:
    """The extensions that ask others for a module of this name (their ``ASKS``), and those that these need: it may
    import them."""
    if not module.startswith("extensions.") or module.count(".") < 2:
        return set()
    _, extension, name = module.split(".")[:3]
    known = extensions()
    found: set[str] = set()
    for asks, each in known.items():
        if name in getattr(each, "ASKS", ()) and asks not in {extension, *needs(known[extension])}:
            found |= {asks, *needs(each)}
    return found


def test_nobody_imports_what_is_there_for_another_extension() -> None:
    """It is found by its name, by the extension that asks for it, so that it need not be there."""
    wrong = []
    for name, path in modules():
        for target in own(path, name):
            of = target.split(".")[:3]
            if asking(target) and name.split(".")[:3] != of and of[1] not in asking(target):
                wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_extensions_import_others_only_where_they_say_so() -> None:
    wrong = []
    for name, path in modules():
        if not name.startswith("extensions."):
            continue
        extension = name.split(".")[1]
        allowed = {extension, *needs(extensions()[extension]), *asking(name)}
        wrong += [
            f"{name} imports {target}"
            for target in own(path, name)
            if target.startswith("extensions.") and target.split(".")[1] not in allowed
        ]
    assert wrong == []


def test_extensions_need_no_others_than_they_import() -> None:
    imported: dict[str, set[str]] = {name: set() for name in extensions()}
    for name, path in modules():
        if name.startswith("extensions."):
            targets = {
                target.split(".")[1]
                for target in own(path, name)
                if target.startswith("extensions.")
            }
            imported[name.split(".")[1]] |= targets - asking(name)
    assert {name: needs(extensions()[name]) for name in imported} == {
        name: targets - {name} for name, targets in imported.items()
    }


def test_what_judges_shares_nothing_with_what_writes() -> None:
    wrong = []
    for name, path in modules():
        for target in own(path, name):
            for one, other in APART:
                if is_called(name, one) and is_called(target, other):
                    wrong.append(f"{name} imports {target}")
    assert wrong == []


def test_no_files_import_each_other_in_a_circle() -> None:
    imported = {name: own(path, name) - {name} for name, path in modules()}
    assert in_circles(imported) == {}


def test_the_tests_of_directions_see_a_wrong_one(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from trainyard.run.passes import compile_spec\n"
        "def late():\n    from trainyard.core.jobs import binding\n"
        "NAMED = 'trainyard.judge.judging:judge'\n"
    )
    assert own(module, "module") == {"run.passes", "core.jobs.binding", "judge.judging"}
    assert feature("core.jobs.binding") == "core.jobs"
    assert feature("eks.jobs.kinds.ray_job") == "eks.jobs"
    assert is_called("core.jobs.lift", "*.lift")
    assert not is_called("lift.reader", "*.lift")


def test_only_the_chart_knows_cdk8s() -> None:
    assert {
        name
        for name, path in modules()
        if any(each.startswith("cdk8s") for each in imports(path, name))
    } == {"output.lowering.chart"}


def test_the_chart_is_a_program_of_its_own() -> None:
    """It is started by its path, so nothing of Trainyard is there to import."""
    assert (
        own(
            ROOT / "compiler" / "trainyard" / "output" / "lowering" / "chart.py",
            "output.lowering.chart",
        )
        == set()
    )
    assert not [name for name, path in modules() if "output.lowering.chart" in own(path, name)]


def test_nothing_in_the_compiler_imports_policies() -> None:
    for name, path in modules():
        assert not [each for each in imports(path, name) if each.partition(".")[0] == "policies"], (
            name
        )


def test_policies_import_what_they_judge_and_nothing_behind_it() -> None:
    allowed = {
        *(
            "language.places",
            "language.units",
            "language.source",
            "language.diagnostics",
            "language.re2",
        ),
        *("catalog", "plan", "output.manifest", "judge.model", "judge.policy"),
        "extensions.hyperpod.running",
        *("extensions.observability.exporters", "extensions.observability.promql"),
        "extensions.observability.released_exporters",
        # what Kueue would do is judged by the engine of `trainyard simulate`
        *("extensions.forecast.simulate", "extensions.forecast.timeline"),
    }
    for name, path in modules("policies"):
        found = {
            each for each in own(path, name) if not any(is_called(each, one) for one in allowed)
        }
        assert [module for module in found if not is_called(module, "*.plan")] == [], name


def touches(path: Path) -> set[str]:
    """Calls that read or write files."""
    found = set()
    for node in nodes(path, *FILE_CALLS):
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
        and not any(fnmatchcase(name, one) for one in MAY_TOUCH_FILES)
        and not name.startswith(_EDGES)
    }
    assert wrong == {}


_EDGES = (
    *("language.source", "catalog", "output.emit", "cli"),
    *("extensions.authoring", "extensions.facts", "extensions.lint"),
)
# The passes that see a user's files: they ask `inputs`, which notes the answer. In `policy.load` what belongs to the
# package is asked for as well, and in `emit.tree` what is about to be written.
NOTED = (
    "language.source",
    "run.history",
    "extensions.lint",
    "run.unread",
    "run.writer",
    "run.driver",
)
NOTED_MODULES = {
    "catalog.overlay",
    *("judge.policy.load", "judge.policy.config", "judge.policy.documents"),
    "output.emit.tree",
}
OF_THE_PACKAGE = {
    "judge.policy.load": {
        "os.walk",
        "os.scandir",
        "os.path.realpath",
        "other.is_file",
        "other.read_bytes",
    },
    "output.emit.tree": {"os.makedirs", "root.is_symlink"},
}
QUESTIONS = FILE_CALLS | {"exists", "is_file", "is_dir", "resolve", "walk", "readlink", "samefile"}


def asked_of_the_disk(path: Path) -> Iterator[str]:
    """What a module asks of the disk by itself: an entry of a folder has its kind with it."""
    for node in nodes(path, *QUESTIONS):
        if isinstance(node, ast.Name) and node.id == "open":
            yield "open"
        if not isinstance(node, ast.Attribute) or node.attr not in QUESTIONS:
            continue
        owner = ast.unparse(node.value)
        if owner not in ("inputs", "entry", "self._file", "reader", "swap", "tree"):
            yield f"{owner}.{node.attr}"


def test_what_a_run_sees_of_the_disk_is_noted() -> None:
    wrong = {}
    for name, path in modules():
        if not (name.startswith(NOTED) or name in NOTED_MODULES):
            continue
        asked = set(asked_of_the_disk(path)) - OF_THE_PACKAGE.get(name, set())
        if asked:
            wrong[name] = sorted(asked)
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
    edge = (
        *("extensions.operate.asking", "extensions.operate.kubeconfig", "extensions.review.git"),
        "cli*",
        "extensions.*.commands*",
        "catalog.refresh",
        "output.lowering.chart",
        "disk.cache",
        "*.scripts.*",
    )
    wrong = []
    for name, path in modules():
        for node in nodes(path, *hidden):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                dotted = f"{node.value.id}.{node.attr}"
                if dotted in hidden and not any(fnmatchcase(name, one) for one in edge):
                    wrong.append(f"{name}: {dotted}")
    assert wrong == []
