"""Users' own rules, in Python and in YAML, beside the built-in ones."""

from __future__ import annotations

import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from running import SPECS, Command
from trainyard.catalog import load_catalog
from trainyard.judge.policy import load
from trainyard.judge.policy.code import may_read
from trainyard.judge.policy.engine import run
from trainyard.judge.policy.judge import load_policies
from trainyard.judge.policy.load import OWN_FOLDER, builtin_folder, load_rules
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.places import Route

from tests.policy.harness import SET, builtin_rules, lifted

PYTHON = '''
from collections.abc import Iterator

from trainyard.eks.nodes.plan import NodePool
from trainyard.judge.policy.rule import Finding, rule


@rule("{code}")
def pool_called_gpu(pool: NodePool) -> Iterator[Finding]:
    """A pool is called gpu.

    ## Fails

        nodePools: [{{name: gpu}}]

    ## Passes

        nodePools: [{{name: a100}}]
    """
    if pool.name == "gpu":
        yield Finding("pool `gpu`", pool.at, help="call it otherwise")
'''
SCHEMA = """
code: ORG001
slug: job-without-cost-center
severity: warning
match: {apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob}
schema: {properties: {metadata: {properties: {labels: {required: [cost-center]}}, required: [labels]}}}
message: TrainJob has no `cost-center` label
help: add the label
"""

DECLARED = pytest.mark.needs("declared_rules")


def test_a_file_of_comments_holds_no_rule_and_no_setting(tmp_path: Path) -> None:
    for name in ("org001.yaml", "policy.yaml", "exceptions.yaml"):
        (tmp_path / name).write_text("# nothing yet\n---\n")
    assert loaded(tmp_path, {"org002.yaml": ""}) == ([], [])
    assert load_policies(tmp_path, today=date(2026, 11, 1))[1] == []


def loaded(folder: Path, files: dict[str, str]) -> tuple[list[Rule], list[Diagnostic]]:
    """The user's rules of a folder with these files, and the faults."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    rules, faults = load_rules(folder)
    own = {each.code for each in builtin_rules()}
    assert own <= {each.code for each in rules}
    return [each for each in rules if each.code not in own], faults


def test_a_python_rule(tmp_path: Path) -> None:
    rules, faults = loaded(tmp_path, {"org/deep/names.py": PYTHON.format(code="ORG001")})
    assert faults == []
    plan, manifests = lifted("jobs: [{name: llama}]")
    found = run(plan, load_catalog(), rules, manifests=manifests)
    assert [(each.code, each.message) for each in found] == [("ORG001", "pool `gpu`")]
    assert rules[0].slug == "pool-called-gpu"
    assert rules[0].title == "A pool is called gpu"


@pytest.mark.parametrize(
    "text",
    [SCHEMA, "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\n"],
)
def test_without_the_extension_a_rule_without_python_is_not_lost(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An object for clusters beside it is none, and nothing is said of it."""
    monkeypatch.setattr(load, "members_of_extensions", lambda folder, name: [])
    rules, faults = loaded(
        tmp_path, {"org/a.yaml": text, "org/b.yaml": "apiVersion: v1\nkind: List\n"}
    )
    assert rules == []
    (fault,) = faults
    assert fault.code == "POL010"
    assert "put the extension `declared_rules`" in str(fault.help)


@DECLARED
def test_a_schema_rule(tmp_path: Path) -> None:
    rules, faults = loaded(tmp_path, {"org/cost.yaml": SCHEMA})
    assert faults == []
    plan, manifests = lifted("")
    found = run(plan, load_catalog(), rules, manifests=manifests)
    assert [(each.code, each.message, each.at, each.help) for each in found] == [
        (
            "ORG001",
            "TrainJob has no `cost-center` label",
            Route(("@TrainJob/team-a/llama", "metadata", "labels")),
            "add the label",
        )
    ]
    plan, manifests = lifted(
        "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nmetadata: {labels: {cost-center: a}}\n"
    )
    assert run(plan, load_catalog(), rules, manifests=manifests) == []


@DECLARED
def test_a_schema_rule_is_of_one_version(tmp_path: Path) -> None:
    schema = SCHEMA.replace("trainer.kubeflow.org/v1alpha1", "kueue.x-k8s.io/v1beta1")
    rules, faults = loaded(
        tmp_path, {"org/cost.yaml": schema.replace("TrainJob", "WorkloadPriorityClass")}
    )
    assert faults == []
    for version, count in (("v1beta1", 1), ("v1beta2", 0)):
        plan, manifests = lifted(
            f"apiVersion: kueue.x-k8s.io/{version}\nkind: WorkloadPriorityClass\n"
            "metadata: {name: a}\nvalue: 1\n"
        )
        assert len(run(plan, load_catalog(), rules, manifests=manifests)) == count


@DECLARED
def test_a_secret_is_not_quoted(tmp_path: Path) -> None:
    text = """
code: ORG002
slug: secret-word
match: {apiVersion: v1, kind: Secret}
schema: {properties: {stringData: {additionalProperties: {const: ""}}}}
message: Secret in git
"""
    rules, faults = loaded(tmp_path, {"org/secret.yaml": text})
    assert faults == []
    plan, manifests = lifted(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {word: hunter2}\n"
    )
    found = run(plan, load_catalog(), rules, manifests=manifests)
    assert len(found) == 1
    assert "hunter2" not in repr(found)


PYTHON_FAULTS = [
    ("a.py", "def broken(:\n", "POL010", 1),
    ("a.py", "\nimport nothing_of_this_name\n", "POL010", 2),
    ("a.py", "x = 1\n", "POL010", 1),
    (
        "a.py",
        "from trainyard.judge.policy.rule import rule\n\n@rule('ORG001')\ndef untyped(pool):\n    yield\n",
        "POL010",
        3,
    ),
    ("a.py", PYTHON.format(code="EFA900"), "POL009", 8),
    ("a.py", PYTHON.format(code="SCH900"), "POL009", 8),
    ("a.py", PYTHON.format(code="ORG001").replace("## Passes", "Passes"), "POL011", 8),
    ("a.py", PYTHON.format(code="org1"), "POL010", 8),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", severity="error"'),
        "POL010",
        8,
    ),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", kinds="/Pod"'),
        "POL010",
        8,
    ),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", kinds=("Pod",)'),
        "POL016",
        8,
    ),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", kinds=("/Pods",)'),
        "POL016",
        8,
    ),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", kinds=("batch/Jobb",)'),
        "POL016",
        8,
    ),
    ("a.py", "import sys\nsys.exit()\n", "POL010", 2),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", enabled=0'),
        "POL010",
        8,
    ),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", aliases="a"'),
        "POL010",
        8,
    ),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", params=["nodes"]'),
        "POL010",
        8,
    ),
    (
        "a.py",
        PYTHON.format(code="ORG001").replace('("ORG001"', '("ORG001", kubernetes=True'),
        "POL010",
        8,
    ),
]
DECLARED_FAULTS = [
    ("a.yaml", SCHEMA.replace("ORG001", "org1"), "POL013", 2),
    ("a.yaml", SCHEMA.replace("slug: job", "slug: Job"), "POL013", 3),
    ("a.yaml", SCHEMA.replace("severity: warning", "severity: fatal"), "POL013", 4),
    ("a.yaml", SCHEMA.replace(", kind: TrainJob", ""), "POL013", 5),
    ("a.yaml", SCHEMA.replace("required: [labels]", "required: labels"), "POL013", 6),
    ("a.yaml", SCHEMA.replace("message:", "mesage:"), "POL013", 2),
    ("a.yaml", "- a\n", "POL013", 1),
    (
        "a.yaml",
        SCHEMA.replace(
            "match: {apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob}", "match:"
        ),
        "POL013",
        5,
    ),
    ("a.yaml", SCHEMA.replace("kind: TrainJob", "kind: null"), "POL013", 5),
    ("a.yaml", SCHEMA.replace("kind: TrainJob", "kind: [a]"), "POL013", 5),
    ("a.yaml", SCHEMA.replace("severity: warning", "severity: [error]"), "POL013", 4),
    ("a.yaml", SCHEMA.replace("severity: warning", "description: 4"), "POL013", 4),
    ("a.yaml", SCHEMA.replace("help: add the label", "help: [a]"), "POL013", 8),
    ("a.yaml", SCHEMA.replace("required: [labels]", "pattern: '('"), "POL013", 6),
    ("a.yaml", SCHEMA.replace("kind: TrainJob", "kind: TrainJobs"), "POL016", 5),
    ("a.yaml", SCHEMA.replace("org/v1alpha1", "org/v1alpha0"), "POL016", 5),
    ("a.yaml", f"{SCHEMA}enabled: 'no'\n", "POL013", 9),
]


@pytest.mark.parametrize(
    ("name", "text", "code", "line"),
    [*PYTHON_FAULTS, *(pytest.param(*fault, marks=DECLARED) for fault in DECLARED_FAULTS)],
)
def test_a_fault_is_reported_at_its_line(
    tmp_path: Path, name: str, text: str, code: str, line: int
) -> None:
    rules, faults = loaded(tmp_path, {f"org/{name}": text})
    assert rules == []
    assert {each.code for each in faults} == {code}
    assert line in {each.span.line for each in faults if each.span}
    assert all(each.help for each in faults)


@pytest.mark.parametrize(
    ("source", "may"),
    [
        (b"import re\nfrom trainyard.judge.policy.rule import rule\n", False),
        (b"import json as j, math\n", False),
        (b"import re, os\n", True),
        (b"from pathlib import Path\n", True),
        (b"from . import names\n", True),
        (b"def f():\n    return open('a')\n", True),
        (b"eval('1')\n", True),
        (b"opened = 'open'\n", False),
        (b"def broken(:\n", False),
    ],
)
def test_whether_a_rule_may_read_what_it_is_not_given(source: bytes, may: bool) -> None:
    assert may_read(source) is may


UNSPEAKABLE = """class Unspeakable(Exception):
    def __str__(self):
        raise ValueError


raise Unspeakable
"""


def test_what_a_file_raises_need_not_be_text(tmp_path: Path) -> None:
    _, (fault,) = loaded(tmp_path, {"org/a.py": UNSPEAKABLE})
    assert fault.message.endswith("a.py` cannot be loaded: Unspeakable")
    assert fault.span is not None
    assert fault.span.line == 6


def test_a_rule_for_the_package_as_it_was_called_is_told_its_name(tmp_path: Path) -> None:
    _, (fault,) = loaded(tmp_path, {"org/a.py": "from compiler.policy.rule import rule\n"})
    assert "No module named 'compiler" in fault.message
    assert fault.help is not None
    assert fault.help.startswith("the package is called `trainyard` now")


def test_an_interrupt_while_a_file_is_loaded_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        loaded(tmp_path, {"org/a.py": "raise KeyboardInterrupt\n"})


def test_a_rule_that_a_file_imports_is_not_its_own(tmp_path: Path) -> None:
    (builtin,) = (rule for rule in builtin_rules() if rule.code == "EFA001")
    imported = f"import runpy\n\nefa_missing = runpy.run_path({builtin.file!r})['efa_missing']\n"
    rules, faults = loaded(tmp_path, {"org/a.py": imported + PYTHON.format(code="ORG001")})
    assert faults == []
    assert [rule.code for rule in rules] == ["ORG001"]


@DECLARED
@pytest.mark.parametrize("kind", ["ClusterPolicy", "Kustomization"])
def test_objects_of_a_cluster_beside_rules_are_no_rules(kind: str, tmp_path: Path) -> None:
    """Policies of Kyverno, and what applies them."""
    body = f"apiVersion: kyverno.io/v1\nkind: {kind}\nmetadata: {{name: a}}\n"
    rules, faults = loaded(tmp_path, {"org/a.yaml": f"{body}---{SCHEMA}"})
    assert faults == []
    assert [rule.code for rule in rules] == ["ORG001"]


def test_a_rule_that_could_not_be_loaded_is_not_unknown_too(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(PYTHON.format(code="ORG001").replace("## Passes", "Passes"))
    (tmp_path / "policy.yaml").write_text('levels: {ORG001: "off"}\n')
    assert [each.code for each in load_policies(tmp_path, today=date.min)[1]] == ["POL011"]


@DECLARED
def test_a_code_is_given_once(tmp_path: Path) -> None:
    rules, faults = loaded(tmp_path, {"a.py": PYTHON.format(code="ORG001"), "b.yaml": SCHEMA})
    assert [each.slug for each in rules] == ["pool-called-gpu"]
    assert [each.code for each in faults] == ["POL012"]


def builtin_copy(folder: Path) -> None:
    """The built-in rules in a folder of an adopter."""
    for source in builtin_folder().iterdir():
        if source.is_dir() and source.name != OWN_FOLDER:
            shutil.copytree(source, folder / source.name)


@pytest.mark.slow
def test_copies_of_builtin_rules_count_once(tmp_path: Path) -> None:
    builtin_copy(tmp_path / "policies")
    assert loaded(tmp_path / "policies", {}) == ([], [])
    changed = tmp_path / "policies" / "efa" / "efa_missing.py"
    changed.write_text(changed.read_text() + "\nEDITED = True\n")
    rules, faults = loaded(tmp_path / "policies", {})
    assert rules == []
    assert [each.code for each in faults] == ["POL009"]


def test_an_older_copy_of_a_builtin_rule(tmp_path: Path) -> None:
    """Files had the names of their codes before; a code that no built-in rule has is another matter."""
    copy = (builtin_folder() / "efa" / "efa_missing.py").read_text()
    rules, faults = loaded(
        tmp_path, {"run/efa001.py": copy, "efa/own.py": PYTHON.format(code="EFA900")}
    )
    assert rules == []
    own, older = faults
    assert older.message == "code `EFA001` belongs to the built-in rule `efa-missing`"
    assert "another version of the built-in rule" in older.help
    assert own.message == "code `EFA900`: area `EFA` belongs to the built-in rules"
    assert "another version" not in own.help
    assert {older.code, own.code} == {"POL009"}


@pytest.mark.slow
def test_own_rules_beside_the_builtin_ones(tmp_path: Path) -> None:
    """The repository is a template: the adopter's folder is the built-in one."""
    folder = tmp_path / "policies"
    builtin_copy(folder)
    (folder / "org").mkdir()
    (folder / "org" / "org001.py").write_text(PYTHON.format(code="ORG001"))
    (folder / "efa" / "efa_missing.py").write_text("def broken(:\n")
    rules, faults = load_rules(folder, builtin=folder)
    assert "ORG001" in {each.code for each in rules}
    assert "EFA001" not in {each.code for each in rules}
    assert [each.code for each in faults] == ["POL010"]


def test_an_own_rule_in_a_builtin_folder_of_the_template(tmp_path: Path) -> None:
    """It is judged as any own rule, and reserves no area."""
    folder = tmp_path / "policies"
    builtin_copy(folder)
    (folder / "jobs" / "own.py").write_text(PYTHON.format(code="ORG001"))
    (folder / "org.py").write_text(PYTHON.format(code="ORG002"))
    (folder / "queues" / "broken.py").write_text(
        PYTHON.format(code="ORG003").replace("## Passes", "Passes")
    )
    rules, faults = load_rules(folder, builtin=folder)
    assert {"ORG001", "ORG002"} <= {rule.code for rule in rules}
    assert [fault.code for fault in faults] == ["POL011"]


def test_a_new_folder_is_built_in_by_being_there(tmp_path: Path) -> None:
    """The adopter's folder and files at the top are theirs: a reserved area is refused in them."""
    base = tmp_path / "policies"
    for path, code in (("new/a.py", "EFA900"), ("org/b.py", "EFA901"), ("c.py", "RUN900")):
        (base / path).parent.mkdir(parents=True, exist_ok=True)
        (base / path).write_text(PYTHON.format(code=code))
    rules, faults = load_rules(base, builtin=base)
    assert [rule.code for rule in rules] == ["EFA900"]
    assert [fault.code for fault in faults] == ["POL009", "POL009"]


def test_a_code_of_two_files_of_the_template(tmp_path: Path) -> None:
    base = tmp_path / "policies"
    for path in ("efa/a.py", "mine/b.py"):
        (base / path).parent.mkdir(parents=True)
        (base / path).write_text(PYTHON.format(code="EFA900"))
    rules, faults = load_rules(base, builtin=base)
    assert [Path(rule.file).name for rule in rules] == ["a.py"]
    assert [fault.code for fault in faults] == ["POL009"]


def test_own_rules_of_the_template_are_not_those_of_another_folder(tmp_path: Path) -> None:
    base = tmp_path / "policies"
    (base / "jobs").mkdir(parents=True)
    (base / "jobs" / "own.py").write_text(PYTHON.format(code="ORG001"))
    assert load_rules(None, builtin=base) == ((), [])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "code", "want"),
    [
        ("efa/efa_missing.py", "EFA001", "INT002"),
        ("org/own.py", "ORG001", "POL015"),
        ("efa/own.py", "ORG001", "POL015"),
        ("own.py", "ORG001", "POL015"),
    ],
)
def test_a_rule_of_the_template_that_raises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, code: str, want: str
) -> None:
    """Only a built-in rule is a fault of Trainyard; own rules lie beside the built-in ones."""
    folder = tmp_path / "policies"
    builtin_copy(folder)
    monkeypatch.setattr("trainyard.judge.policy.load.builtin_folder", lambda: folder)
    text = PYTHON.format(code=code).replace("    if pool", "    raise KeyError\n    if pool")
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text(text)
    rules, faults = load_rules(folder)
    assert faults == []
    plan, manifests = lifted("jobs: [{name: llama}]")
    (broken,) = [rule for rule in rules if rule.code == code]
    (found,) = run(plan, load_catalog(), [broken], manifests=manifests)
    assert (found.code, found.message) == (want, f"rule `{code}` failed: KeyError")


@DECLARED
def test_a_rule_that_is_off_by_default(tmp_path: Path) -> None:
    """In Python and in YAML: only its code, slug or former slug enables it."""
    python = PYTHON.format(code="ORG001").replace(
        '("ORG001"', '("ORG001", enabled=False, aliases=("old-name",)'
    )
    schema = SCHEMA.replace("code: ORG001", "code: ORG002\nenabled: false")
    files = {"org/a.py": python, "org/b.yaml": schema}

    def found(levels: str) -> list[tuple[str, Severity]]:
        (tmp_path / "policy.yaml").write_text(levels)
        assert loaded(tmp_path, files)[1] == []
        policies, faults = load_policies(tmp_path, today=date.min)
        assert faults == []
        plan, manifests = lifted("jobs: [{name: llama}]")
        own = [rule for rule in policies.rules if rule.area == "ORG"]
        assert [rule.code for rule in own] == ["ORG001", "ORG002"]
        diagnostics = run(plan, load_catalog(), own, policies.config, manifests)
        return [(each.code, each.severity) for each in diagnostics]

    assert found("") == []
    assert found("levels: {ORG: error}") == []
    assert found("levels: {ORG001: note}") == [("ORG001", Severity.NOTE)]
    assert found("levels: {pool-called-gpu: error}") == [("ORG001", Severity.ERROR)]
    assert found("levels: {old-name: error, ORG: note}") == [("ORG001", Severity.ERROR)]
    assert found("levels: {ORG002: warning}") == [("ORG002", Severity.WARNING)]


def test_no_folder(tmp_path: Path) -> None:
    assert load_rules(tmp_path / "absent") == load_rules(None)
    assert SET


@DECLARED
def test_a_rule_on_kinds_that_nobody_knows_here_is_taken(tmp_path: Path) -> None:
    """It may be for resources of another product."""
    text = SCHEMA.replace(
        "trainer.kubeflow.org/v1alpha1, kind: TrainJob", "argoproj.io/v1alpha1, kind: Application"
    )
    kinds = PYTHON.format(code="ORG002").replace(
        '("ORG002"', '("ORG002", kinds=("argoproj.io/Application", "/Pod")'
    )
    rules, faults = loaded(tmp_path, {"org/a.yaml": text, "org/b.py": kinds})
    assert ([each.code for each in rules], faults) == (["ORG001", "ORG002"], [])


def test_what_a_rule_prints_does_not_mix_with_the_findings(
    trainyard: Command, tmp_path: Path
) -> None:
    """Neither as it is loaded nor as it runs."""
    rule = PYTHON.format(code="ORG001").replace("    if ", "    print('running')\n    if ", 1)
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "a.py").write_text(f"print('loaded')\n{rule}")
    shutil.copy(SPECS / "starter.yaml", tmp_path / "spec.yaml")
    done = trainyard("check", "--format", "json", "spec.yaml", cwd=tmp_path)
    assert json.loads(done.out)["diagnostics"] is not None
    assert "loaded\n" in done.err
    assert "running\n" in done.err
