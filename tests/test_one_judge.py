"""One judge for what is compiled and for what is read: `lint` finds in the output what `compile` found, and nothing
else.

Some codes are of one side alone. Those about a spec no manifest has: a key, a derivation, a run that was submitted. And
of third-party manifests some rules say nothing, since not all objects are in the set (what a name refers to, which
policies a namespace has), or because what is there is what its author wants.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from trainyard.extensions.lint.linter import lint
from trainyard.judge.policy.rule import Rule
from trainyard.run.driver import check
from trainyard.run.examples.rehearse import base_spec, merged
from trainyard.run.outcome import Options
from trainyard.run.writer import render
from yaml import safe_dump, safe_load

from tests.policy.harness import builtin_rules

pytestmark = pytest.mark.slow

SPECS = Path("specs")
EXAMPLES = [*SPECS.glob("*.yaml"), *SPECS.glob("*/")]
OPTIONS = Options(today=date(2026, 11, 23))

RUNTIME, JOB = "ClusterTrainingRuntime", "TrainJob"
POD = "/spec/template/spec/replicatedJobs/0/template/spec/template/spec"
CONTAINER = f"{POD}/containers/0"
ENFORCED = "/metadata/labels/pod-security.kubernetes.io~1enforce"
EVERYTHING = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
# kind, path, value, and what compile finds; nothing where the edit is harmless
PATCHES: list[tuple[str, str, Any, str]] = [
    (RUNTIME, f"{POD}/hostIPC", True, "SCH012"),
    (RUNTIME, f"{POD}/hostNetwork", True, "SCH012"),
    (RUNTIME, f"{POD}/hostPID", True, "SCH012"),
    (RUNTIME, f"{CONTAINER}/securityContext", {"privileged": True}, "SCH012"),
    (RUNTIME, f"{CONTAINER}/securityContext", {"capabilities": {"add": ["SYS_ADMIN"]}}, "SCH012"),
    (RUNTIME, f"{POD}/volumes/-", {"name": "h", "hostPath": {"path": "/"}}, "SCH012"),
    (RUNTIME, f"{POD}/nodeSelector", {"a": "b"}, "PLC005"),
    (RUNTIME, f"{POD}/serviceAccountName", "nobody", "REF001"),
    (RUNTIME, f"{POD}/foo", "1", "SCH001"),
    (RUNTIME, f"{POD}/restartPolicy", "Always", "SCH011"),
    (JOB, "/spec/trainer/numNodes", 40, "LIM003"),
    ("Namespace", ENFORCED, "restricted", "SCH012"),
    ("NodePool", "/spec/limits", {"cpu": "1"}, "LIM009"),
    ("NodePool", "/spec/template/spec/expireAfter", "24h", "HLT011"),
    ("NodePool", "/metadata/labels/team", "infra", ""),
    ("Role", "/rules", [{**EVERYTHING, "verb": []}], "SCH001"),
]
PATCHED = [
    pytest.param(rule, example, id=f"{rule.code}-{index}")
    for rule in builtin_rules()
    for index, example in enumerate((*rule.fails, *rule.passes))
    if "patches:" in example and "kind" not in safe_load(example)
]
OF_SPECS = ("SPC", "RES", "CHG")
OF_CLOSED = ("ACC046", "ACC048", "ACC051", "ACC052", "ACC053", "REF001")


def found_twice(paths: list[Path], folder: Path) -> tuple[set[str], set[str]]:
    """The codes that compile finds in specs, and those that lint finds in what would be written."""
    outcome = check(paths, OPTIONS)
    for done in outcome.compilations:
        for name, data in render(done, folder).items():
            file = folder / done.name / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
    linted = lint([folder], OPTIONS)
    return ({finding.code for finding in outcome.all()}, {finding.code for finding in linted.all()})


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_lint_finds_what_compile_found_in_an_example(example: Path, tmp_path: Path) -> None:
    compiled, linted = found_twice([example], tmp_path)
    assert linted == _of_manifests(compiled)


@pytest.mark.parametrize(
    ("kind", "path", "value", "code"),
    PATCHES,
    ids=[f"{kind}-{path.rpartition('/')[2]}" for kind, path, _, _ in PATCHES],
)
def test_lint_finds_what_compile_found_in_what_is_patched(
    kind: str, path: str, value: Any, code: str, tmp_path: Path
) -> None:
    yaml = YAML()
    spec = yaml.load((SPECS / "two-teams.yaml").read_text())
    operation = {"op": "add", "path": path, "value": value}
    patch = {"target": {"kind": kind}, "patch": [operation]}
    spec["spec"]["patches"] = [patch]
    file = tmp_path / "spec.yaml"
    with file.open("w") as stream:
        yaml.dump(spec, stream)
    compiled, linted = found_twice([file], tmp_path / "generated")
    assert linted == _of_manifests(compiled)
    assert code in compiled if code else not compiled


@pytest.mark.parametrize(("rule", "example"), PATCHED)
def test_lint_finds_what_compile_found_in_the_patches_of_pages(
    rule: Rule, example: str, tmp_path: Path
) -> None:
    spec = merged(base_spec(), {"spec": safe_load(example)})
    file = tmp_path / "spec.yaml"
    file.write_text(safe_dump(spec))
    compiled, linted = found_twice([file], tmp_path / "generated")
    assert linted == _of_manifests(compiled)
    if example in rule.fails:
        assert compiled  # the API may refuse it before the rule has a say
    else:
        assert rule.code not in compiled


def _of_manifests(codes: set[str]) -> set[str]:
    """Those that a manifest can have by itself."""
    return {code for code in codes if code[:3] not in OF_SPECS and code not in OF_CLOSED}
