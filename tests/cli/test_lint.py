"""Manifests that others wrote: sets of objects with one fault across two of them.

`# error: CODE` marks the line where a fault must be reported. `# right: TEXT` is what the line says in a set without
the fault (`⏎` for a line break): with all of them in place, nothing may be reported.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from running import ROOT, SPECS, Command, marks

pytestmark = pytest.mark.needs("lint")

SETS = sorted((Path(__file__).parent / "lint").glob("*.yaml"))
SEEDS = ROOT.parent / "shared" / "cases"
RIGHT = re.compile(r"^( *).*# right: (.*)$")


def reported(done_out: str) -> list[tuple[str, int, str]]:
    return sorted(
        (Path(each["place"]["file"]).name, each["place"]["line"], each["code"])
        for each in json.loads(done_out)["diagnostics"]
    )


def fixed(text: str) -> str:
    """The set with every marked line as it should be."""
    lines = []
    for line in text.splitlines():
        found = RIGHT.match(line)
        lines += [found[1] + part for part in found[2].split(" ⏎ ")] if found else [line]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_each_fault_is_reported_on_its_line(path: Path, trainyard: Command) -> None:
    """That one finding and no other; what may exist elsewhere is not reported as missing."""
    done = trainyard("lint", "--format", "json", path)
    assert reported(done.out) == marks(path)
    assert done.code == (1 if marks(path) else 0)
    assert all(each["help"] and each["object"] for each in json.loads(done.out)["diagnostics"])


@pytest.mark.parametrize("path", SETS, ids=lambda path: path.stem)
def test_the_set_without_the_fault_is_silent(
    path: Path, trainyard: Command, tmp_path: Path
) -> None:
    (tmp_path / path.name).write_text(fixed(path.read_text(encoding="utf-8")), encoding="utf-8")
    done = trainyard("lint", tmp_path / path.name)
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("clean: ")


def test_objects_in_several_files_are_one_set(trainyard: Command, tmp_path: Path) -> None:
    """A folder with a file an object gives the same finding, at the line of its own file."""
    path = next(path for path in SETS if path.stem == "efa-not-covered")
    for number, part in enumerate(path.read_text(encoding="utf-8").split("---\n")):
        (tmp_path / f"{number}.yml").write_text(part, encoding="utf-8")
    found = reported(trainyard("lint", "--format", "json", tmp_path).out)
    assert [(file, code) for file, _, code in found] == [("3.yml", "QUE001")]
    assert "coveredResources:" in (tmp_path / "3.yml").read_text().splitlines()[found[0][1] - 1]


def test_a_list_and_json_are_read_too(trainyard: Command, tmp_path: Path) -> None:
    """`kubectl get -o json` answers with a List."""
    queue = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {"clusterQeue": "a"},
    }
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [queue]}, indent=1)
    (tmp_path / "all.json").write_text(text)
    ((file, line, code),) = reported(trainyard("lint", "--format", "json", tmp_path).out)
    assert (file, code) == ("all.json", "SCH001")
    assert "clusterQeue" in text.splitlines()[line - 1]


def test_values_of_secrets_are_never_printed(trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: token, namespace: a}\n"
        "stringData: [hunter2]\ndta: {b: hunter3}\n"
    )
    done = trainyard(
        "lint",
        "--format",
        "json",
        "--format",
        f"sarif={tmp_path}/out.sarif",
        tmp_path / "secret.yaml",
    )
    assert done.code == 1
    assert "hunter" not in done.out + done.err + (tmp_path / "out.sarif").read_text()


@pytest.mark.slow
def test_our_own_output_is_clean(trainyard: Command, tmp_path: Path) -> None:
    """Each cluster's folder is a set of its own."""
    assert trainyard("compile", "-q", SPECS, "-o", tmp_path / "generated").code == 0
    done = trainyard("lint", tmp_path / "generated")
    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("clean: ")


@pytest.mark.parametrize("text", ["a: b\n", "# only a comment\n---\na: 1\n", "[1, 2]\n"])
def test_nothing_to_judge(text: str, trainyard: Command, tmp_path: Path) -> None:
    (tmp_path / "values.yaml").write_text(text)
    done = trainyard("lint", tmp_path / "values.yaml")
    assert done.code == 2
    assert "error[LNT001]: no object with `apiVersion` and `kind` was found" in done.out


def test_specs_are_left_to_check(trainyard: Command) -> None:
    done = trainyard("lint", SPECS)
    assert done.code == 2
    assert "`trainyard check` judges specs" in done.out


def test_a_job_from_the_field(trainyard: Command) -> None:
    """A TrainJob as published: its unknown fields, wrong types and misspelt device, each at its line."""
    seed = SEEDS / "seed003-trainjob-t5-large.yaml"
    if not seed.exists():
        pytest.skip("no ../shared/cases beside this checkout")
    lines = seed.read_text(encoding="utf-8").splitlines()
    found = {
        (code, lines[line - 1].split(":")[0].strip("- "))
        for _, line, code in reported(trainyard("lint", "--format", "json", seed).out)
    }
    assert {("SCH001", "backoffLimit"), ("SCH001", "restartPolicy"), ("SCH002", "command")} <= found
    assert ("EFA004", "nvidia.com") in found
