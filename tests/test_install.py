"""The tool without the repository: a wheel, installed elsewhere, compiles an adopter's folder by their own policies."""

from __future__ import annotations

import os
import re
import shutil
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from running import ROOT, SPECS, Command, Run, contents

pytestmark = pytest.mark.slow

SCHEMA_RULE = """\
code: ORG001
slug: job-without-cost-center
severity: warning
match: {apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob}
schema: {properties: {metadata: {properties: {labels: {required: [cost-center]}}}}}
message: TrainJob has no `cost-center` label
"""
PYTHON_RULE = '''\
from collections.abc import Iterator

from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.model.work import Work


@rule("ORG002")
def image_from_elsewhere(work: Work) -> Iterator[Finding]:
    """A job runs an image from a registry that is not ours.

    ## Fails

        jobs: [{name: train, image: "registry.example/train:1.0"}]

    ## Passes

        jobs: [{name: train, image: "ours.example/train:1.0"}]
    """
    yield Finding(f"job `{work.name}` runs an image from elsewhere", work.where("image"), help="copy it")
'''


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what git knows, by the build backend of the lock (no network)."""
    source, target = (
        tmp_path_factory.mktemp("source") / "trainyard",
        tmp_path_factory.mktemp("wheel"),
    )
    shutil.copytree(
        ROOT, source, ignore=shutil.ignore_patterns(".*", "__pycache__", "generated", "tests")
    )
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--no-build-isolation",
            "--no-index",
            "--disable-pip-version-check",
            "--wheel-dir",
            target,
            source,
        ],
        check=True,
        timeout=300,
    )
    (found,) = target.glob("trainyard-*.whl")
    return found


@pytest.fixture(scope="module")
def command(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`trainyard` in a fresh environment; third-party packages are those of this one."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=120)
    (packages,) = folder.glob("lib/python*/site-packages")
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            folder / "bin" / "python",
            "install",
            "--quiet",
            "--no-deps",
            "--no-index",
            "--disable-pip-version-check",
            wheel,
        ],
        check=True,
        timeout=120,
    )
    link_packages(packages)
    return folder / "bin" / "trainyard"


def link_packages(packages: Path) -> None:
    """Link what this environment has into another one's site-packages, but for Trainyard itself.

    Not by a `.pth` of their folder: that would bring this checkout's own link along. One entry a package.
    """
    for entry in Path(site.getsitepackages()[0]).iterdir():
        if (
            "trainyard" not in entry.name
            and entry.suffix != ".pth"
            and not (packages / entry.name).exists()
        ):
            (packages / entry.name).symlink_to(entry)


def run(command: Path, *arguments: object, cwd: Path) -> Run:
    env = {"PATH": os.environ["PATH"], "HOME": str(cwd)}
    done = subprocess.run(
        [command, *map(str, arguments)],
        cwd=cwd,
        env=env,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    return Run(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def adopter(tmp_path: Path) -> Path:
    """A folder with a spec and policies of its own."""
    (tmp_path / "specs").mkdir()
    shutil.copy(SPECS / "starter.yaml", tmp_path / "specs")
    (tmp_path / "policies" / "org").mkdir(parents=True)
    (tmp_path / "policies" / "org001.yaml").write_text(SCHEMA_RULE)
    (tmp_path / "policies" / "org" / "org002.py").write_text(PYTHON_RULE)
    return tmp_path


def test_what_rides_in_the_wheel(wheel: Path) -> None:
    """Policies, facts, schemas, pages, templates, scripts; and no module beside `trainyard`."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"trainyard"}
    for folder, pattern in (
        ("policies", "*/*.py"),
        ("compiler/trainyard/catalog/data", "*.json"),
        ("compiler/trainyard/verify/data", "*.json"),
        ("compiler/trainyard/language/diagnostics/codes", "*.md"),
        ("compiler/trainyard/eks/bootstrap/templates", "*"),
        ("compiler/trainyard/eks/health/scripts", "*.py"),
        ("compiler/trainyard/run/examples/data", "*.yaml"),
    ):
        files = [
            path.relative_to(ROOT).as_posix()
            for path in (ROOT / folder).glob(pattern)
            if path.is_file() and not path.name.startswith("_")
        ]
        assert files
        assert {
            name.removeprefix("compiler/").replace("policies/", "trainyard/_policies/", 1)
            for name in files
        } <= set(names), folder


def test_the_wheel_says_how_it_may_be_used_and_that_it_is_typed(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        (license,) = [name for name in names if name.endswith("/licenses/LICENSE")]
        said = packed.read(metadata).decode()
        assert "\nLicense-Expression: Apache-2.0\n" in said
        assert "\nClassifier: Typing :: Typed\n" in said
        assert packed.read(license) == (ROOT / "LICENSE").read_bytes()
    assert "trainyard/py.typed" in names


def test_it_runs_without_the_repository(command: Path, adopter: Path) -> None:
    python = command.parent / "python"
    where = subprocess.run(
        [python, "-c", "import trainyard; print(trainyard.__file__)"],
        cwd=adopter,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert where.stdout.startswith(str(command.parent.parent))
    policies = subprocess.run(
        [python, "-c", "import policies"], cwd=command.parent, capture_output=True, check=False
    )
    assert b"No module named 'policies'" in policies.stderr
    assert run(command, "--version", cwd=adopter).out.startswith("trainyard ")
    assert run(command, "explain", "EFA001", cwd=adopter).out.startswith("EFA001 efa-missing")
    assert run(command, "explain", "YML001", cwd=adopter).out.startswith("YML001 duplicate-key")
    assert (
        "\n  bound    0 or more\n"
        in run(command, "explain", "--spec", "jobs.rerun", cwd=adopter).out
    )


def test_the_adopters_own_rules_and_settings(
    command: Path, adopter: Path, tmp_path: Path, trainyard: Command
) -> None:
    """Both kinds of own rules find; an exception excuses; then the folder compiles to what it compiles to here."""
    done = run(command, "check", cwd=adopter)
    assert re.findall(r"^(\w+\[ORG\d+\]): ", done.out, re.MULTILINE) == [
        "warning[ORG001]",
        "error[ORG002]",
    ]
    assert "--> specs/starter.yaml:13:" in done.out
    assert done.code == 1
    assert run(command, "compile", cwd=adopter).code == 1
    assert not (adopter / "generated").exists()
    assert run(command, "explain", "ORG002", cwd=adopter).out.startswith(
        "ORG002 image-from-elsewhere (error)"
    )
    (adopter / "policies" / "policy.yaml").write_text('levels: {ORG001: "off"}\n')
    (adopter / "policies" / "exceptions.yaml").write_text(
        "- {code: ORG002, object: TrainJob/training/hello-*, reason: a public image, until: 2999-12-31}\n"
    )
    done = run(command, "compile", cwd=adopter)
    assert (done.code, done.out) == (0, "")
    assert "1 exception" in done.err
    shutil.copytree(adopter / "specs", tmp_path / "here" / "specs")
    assert trainyard("compile", cwd=tmp_path / "here").code == 0
    assert contents(adopter / "generated") == contents(tmp_path / "here" / "generated")
    assert run(command, "compile", "--check", cwd=adopter).code == 0


def test_a_broken_rule_of_the_adopters(command: Path, adopter: Path) -> None:
    """Reported at its line; the others run all the same."""
    (adopter / "policies" / "org" / "org003.py").write_text("import nowhere\n")
    done = run(command, "check", cwd=adopter)
    assert re.search(
        r"error\[POL010\]: `.*org003.py` cannot be loaded: ModuleNotFoundError: .*\n +--> .*org003.py:1:1",
        done.out,
    )
    assert "error[ORG002]" in done.out


def test_a_fresh_clone_compiles_after_make_setup(tmp_path: Path) -> None:
    """`make compile`, before anything of the tests is there; the packages are linked instead of installed."""
    clone = tmp_path / "clone"
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in listed.stdout.split("\0"):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, clone / name)
    subprocess.run(["git", "init", "--quiet", clone], check=True)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", clone / ".venv"], check=True)
    (packages,) = (clone / ".venv").glob("lib/python*/site-packages")
    link_packages(packages)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    make = ["make", "compile", "ARGS=--check", "LOCKED=true", f"PYTHON={sys.executable}"]
    done = subprocess.run(make, cwd=clone, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    installed = run(clone / ".venv" / "bin" / "trainyard", "check", clone / "specs", cwd=tmp_path)
    assert installed.code == 0, installed.err


@pytest.mark.parametrize(("version", "folder"), [("3.11", ".venv"), ("3.99", ".venv-3.99")])
def test_another_python_has_an_environment_of_its_own(
    version: str, folder: str, tmp_path: Path
) -> None:
    """That of the name is `.venv`: nobody's environment is made anew by a run of the tests under another Python."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("version = 3.11.7\n")
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\necho {version}\n")
    python.chmod(0o755)
    for file in ("requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        (tmp_path / file).touch()
    words = ["make", "--dry-run", "test-fast", f"PYTHON={python}"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f" {folder}/bin/python -m pytest" in done.stdout
    words = ["make", "--dry-run", "test-fast"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert " .venv/bin/python -m pytest" in done.stdout
