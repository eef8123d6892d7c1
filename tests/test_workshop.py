"""The programs that the repository ships for the workshop fit the jobs that run them. PyTorch is not needed here."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

WORKSHOP = Path(__file__).parents[1] / "specs/workshop"
CODE = WORKSHOP / "code"
IN_CLUSTER = "/data/fsx/datasets/code/"
GIVEN = {
    "CHECKPOINT_EVERY_SECONDS",
    "CHECKPOINT_KEEP",
    "CHECKPOINT_SIGNAL_FILE",
    "HF_TOKEN",
    "LOCAL_RANK",
}
"""What jobs with `checkpoint:`, with a token of Hugging Face and with torchrun have in their environment."""


@dataclass(frozen=True)
class Lesson:
    """A job that runs a program."""

    cluster: str
    job: str
    spec: dict[str, Any]
    program: str
    arguments: list[str]

    @property
    def tree(self) -> ast.Module:
        return parsed(CODE / self.program.removeprefix(IN_CLUSTER))

    def argument(self, option: str) -> str | None:
        for argument in self.arguments:
            name, _, value = argument.partition("=")
            if name == option:
                return value
        return None


def lessons() -> Iterator[Lesson]:
    for path in sorted(WORKSHOP.glob("*/jobs/*.yaml")):
        spec = yaml.safe_load(path.read_text())["spec"]
        command = spec.get("command", [])
        for index, word in enumerate(command):
            if word.endswith(".py"):
                yield Lesson(path.parts[-3], path.stem, spec, word, command[index + 1 :])


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


LESSONS = list(lessons())
each_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda each: each.job)
each_file = pytest.mark.parametrize("path", sorted(CODE.glob("*.py")), ids=lambda path: path.name)


def options(lesson: Lesson) -> dict[str, ast.Call]:
    """The options that a program adds to its parser, by name."""
    return {
        ast.literal_eval(node.args[0]): node
        for node in ast.walk(lesson.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "add_argument"
    }


def setting(call: ast.Call, name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return None


def imported(tree: ast.AST) -> set[str]:
    modules = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add(str(node.module).partition(".")[0])
    return modules


def foreign(modules: set[str]) -> set[str]:
    """What of the modules is neither of Python nor ours nor PyTorch."""
    ours = {path.stem for path in CODE.glob("*.py")}
    return modules - set(sys.stdlib_module_names) - ours - {"torch"}


def test_every_lesson_but_the_first_has_a_program() -> None:
    jobs = {path.stem for path in WORKSHOP.glob("*/jobs/*.yaml")}
    assert jobs - {lesson.job for lesson in LESSONS} == {"nccl"}


@each_lesson
def test_programs_are_in_the_repository(lesson: Lesson) -> None:
    assert lesson.program.startswith(IN_CLUSTER)
    assert (CODE / lesson.program.removeprefix(IN_CLUSTER)).is_file()


def test_every_program_is_run_by_a_lesson() -> None:
    programs = {lesson.program.removeprefix(IN_CLUSTER) for lesson in LESSONS}
    modules = {"lesson.py", "llama.py"}
    assert {path.name for path in CODE.glob("*")} - {"__pycache__"} == (programs | modules)


@each_lesson
def test_programs_know_the_options_that_jobs_give(lesson: Lesson) -> None:
    known = options(lesson)
    given = {argument.partition("=")[0] for argument in lesson.arguments}
    assert given <= set(known)
    required = {option for option, call in known.items() if setting(call, "required")}
    assert required <= given
    for option in given:
        choices = setting(known[option], "choices")
        if choices is not None:
            assert lesson.argument(option) in ast.literal_eval(choices)


@each_file
def test_programs_begin_with_pytorch_and_each_other_alone(path: Path) -> None:
    """What else they import, they import where it is used: lesson 6 runs where there is nothing else."""
    at_once = {
        module
        for node in parsed(path).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for module in imported(node)
    }
    assert foreign(at_once) == set()


@each_lesson
def test_what_programs_import_is_locked_in_their_image(lesson: Lesson) -> None:
    if lesson.spec.get("image") != "train":
        return
    path = WORKSHOP / lesson.cluster / "train/requirements.txt"
    locked = set(re.findall(r"^([a-z-]+)==", path.read_text(), re.MULTILINE))
    needed = imported(lesson.tree) | imported(parsed(CODE / "llama.py"))
    assert {name.replace("_", "-") for name in foreign(needed)} <= locked


@each_lesson
def test_jobs_that_need_more_than_pytorch_have_the_image_that_has_it(lesson: Lesson) -> None:
    secrets = {secret["env"] for secret in lesson.spec.get("secretEnv", [])}
    needs_more = "HF_TOKEN" in secrets or lesson.argument("--deepspeed") is not None
    assert needs_more == (lesson.spec.get("image") == "train")


@pytest.mark.parametrize("cluster", ["seoul", "oregon"])
def test_the_image_has_the_requirements(cluster: str) -> None:
    spec = yaml.safe_load((WORKSHOP / cluster / "cluster.yaml").read_text())["spec"]
    [image] = spec["images"]
    assert (image["name"], image["requirements"]) == ("train", "train/requirements.txt")


def test_programs_read_the_environment_that_jobs_have() -> None:
    read = set()
    for path in CODE.glob("*.py"):
        for node in ast.walk(parsed(path)):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and node.value.isupper()
                and "_" in node.value
            ):
                read.add(node.value)
    assert read == GIVEN


@each_lesson
def test_each_job_saves_where_its_checkpoint_is_declared(lesson: Lesson) -> None:
    """A job that extends another has what it does not say itself from there; ours say both."""
    saved = [
        lesson.argument(option)
        for option in ("--save-path", "--output_dir", "--output-dir", "--save")
    ]
    [folder] = filter(None, saved)
    checkpoint = lesson.spec.get("checkpoint", {"path": folder})
    assert checkpoint["path"] == folder


def sizes() -> dict[str, dict[str, Any]]:
    """The models of llama.py, by name: the defaults of `Size`, and what each says itself."""
    models = {}
    fields: list[str] = []
    defaults = {}
    for node in parsed(CODE / "llama.py").body:
        if isinstance(node, ast.ClassDef) and node.name == "Size":
            for field in node.body:
                assert isinstance(field, ast.AnnAssign)
                assert isinstance(field.target, ast.Name)
                fields.append(field.target.id)
                if field.value is not None:
                    defaults[field.target.id] = ast.literal_eval(field.value)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            [target] = node.targets
            values = [ast.literal_eval(value) for value in node.value.args]
            named = {
                str(keyword.arg): ast.literal_eval(keyword.value) for keyword in node.value.keywords
            }
            assert isinstance(target, ast.Name)
            said = dict(zip(fields, values, strict=False))
            models[target.id] = defaults | said | named
    return models


def matrices(size: dict[str, Any]) -> list[tuple[int, int]]:
    """The sides of the matrices of a layer."""
    width, hidden = size["width"], size["hidden"]
    shared = width // size["heads"] * size["groups"]
    square, narrow = (width, width), (width, shared)
    return [square, square, narrow, narrow, *[(width, hidden)] * 3]


@pytest.mark.parametrize(
    "lesson",
    [each for each in LESSONS if "model" in each.spec and "t5" not in each.program],
    ids=lambda each: each.job,
)
def test_models_have_the_parameters_that_jobs_declare(lesson: Lesson) -> None:
    names = {node.id for node in ast.walk(lesson.tree) if isinstance(node, ast.Name)}
    [name] = names & set(sizes())
    size = sizes()[name]
    tokens = size["vocabulary"] * size["width"]
    layer = sum(rows * columns for rows, columns in matrices(size))
    total = size["layers"] * layer + tokens * (1 if size["tied"] else 2)
    model = lesson.spec["model"]
    assert total == pytest.approx(float(model["parameters"]), rel=0.01)
    if "trainable" in model:
        default = setting(options(lesson)["--rank"], "default")
        assert default is not None
        sides = sum(map(sum, matrices(size)))
        trained = size["layers"] * ast.literal_eval(default) * sides
        assert trained == pytest.approx(float(model["trainable"]), rel=0.03)


@pytest.mark.parametrize("job", ["llama3-70b", "gpt-70b"])
def test_degrees_of_the_program_are_those_of_the_model(job: str) -> None:
    [lesson] = [each for each in LESSONS if each.job == job]
    degrees = lesson.spec["model"]["parallel"]
    assert lesson.argument("--tensor-model-parallel-size") == str(degrees["tensor"])
    assert lesson.argument("--pipeline-model-parallel-size") == str(degrees["pipeline"])


@pytest.mark.parametrize("cluster", ["seoul", "oregon"])
def test_the_programs_are_uploaded_from_their_folder(cluster: str) -> None:
    spec = yaml.safe_load((WORKSHOP / cluster / "cluster.yaml").read_text())
    (bucket,) = [each for each in spec["spec"]["storage"] if each["name"] == "datasets"]
    folder = CODE.relative_to(WORKSHOP.parents[1])
    assert {"folder": str(folder), "to": "code"} in bucket["s3"]["create"]["upload"]
