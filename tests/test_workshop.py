"""The programs that the repository ships for the workshop fit the jobs that run them. PyTorch is not needed here."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest
import yaml

SEOUL = Path(__file__).parents[1] / "specs/workshop/seoul"
CODE = SEOUL / "code"
IN_CLUSTER = "/data/fsx/datasets/code/"
GIVEN = {"CHECKPOINT_EVERY_SECONDS", "CHECKPOINT_SIGNAL_FILE", "LOCAL_RANK"}
"""What jobs with `checkpoint:` and torchrun have in their environment."""


def commands() -> list[tuple[str, list[str]]]:
    """The name of each program of ours that a job runs, with its arguments."""
    found = []
    for path in sorted((SEOUL / "jobs").glob("*.yaml")):
        command = yaml.safe_load(path.read_text())["spec"].get("command", [])
        for index, word in enumerate(command):
            program = CODE / word.removeprefix(IN_CLUSTER)
            if word.startswith(IN_CLUSTER) and program.exists():
                found.append((program.name, command[index + 1 :]))
    return found


def calls(tree: ast.AST, name: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
    ]


def test_lessons_two_and_three_have_their_program() -> None:
    assert [program for program, _ in commands()] == ["t5-fsdp.py", "t5-fsdp.py"]


@pytest.mark.parametrize(("program", "arguments"), commands())
def test_programs_know_the_options_that_jobs_give(
    program: str, arguments: list[str]
) -> None:
    tree = ast.parse((CODE / program).read_text())
    known = {
        ast.literal_eval(call.args[0]): call for call in calls(tree, "add_argument")
    }
    given = {argument.partition("=")[0] for argument in arguments}
    assert given <= set(known)
    required = {
        option
        for option, call in known.items()
        if any(keyword.arg == "required" for keyword in call.keywords)
    }
    assert required <= given


@pytest.mark.parametrize("path", sorted(CODE.glob("*.py")), ids=lambda path: path.name)
def test_programs_need_pytorch_and_each_other_alone(path: Path) -> None:
    tree = ast.parse(path.read_text())
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module).partition(".")[0])
    ours = {other.stem for other in CODE.glob("*.py")}
    assert modules - set(sys.stdlib_module_names) <= {"torch"} | ours


def test_programs_read_the_environment_that_jobs_have() -> None:
    read = set()
    for path in CODE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value.isupper()
                and "_" in node.value
            ):
                read.add(node.value)
    assert read == GIVEN


def test_each_job_saves_where_its_checkpoint_is_declared() -> None:
    """A job that extends another has what it does not say itself from there; both of ours say both."""
    for name in ("t5-large", "t5-large-resilient"):
        spec = yaml.safe_load((SEOUL / f"jobs/{name}.yaml").read_text())["spec"]
        assert f"--save-path={spec['checkpoint']['path']}" in spec["command"]


def test_the_command_that_copies_programs_names_their_folder() -> None:
    text = (SEOUL / "cluster.yaml").read_text()
    folder = CODE.relative_to(SEOUL.parents[2])
    assert f"aws s3 sync {folder} s3://" in text
