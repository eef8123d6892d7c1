"""Extensions can be deleted: in a copy without one, and without all, the rest compiles what it did, and says whose a
key or a command is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from drawn import drawn
from running import ROOT, environment
from trainyard.cli.grammar import commands
from trainyard.language.models.models import keys_of
from trainyard.plan.features import extension_modules, extensions, needs, parts
from trainyard.plan.shipped import COMMANDS, KEYS, TOOLS
from trainyard.run.platforms import PLATFORMS

pytestmark = pytest.mark.slow

PLAIN = ("starter", "two-teams", "t5-large")
"""Specs that use no extension."""
ALL = tuple(extensions())


class Copy:
    """A copy of the package without some extensions."""

    def __init__(self, folder: Path, without: Iterable[str]) -> None:
        self.folder = folder
        for part in ("compiler", "policies", "specs", "generated"):
            shutil.copytree(
                ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        for name in without:
            shutil.rmtree(folder / "compiler" / "trainyard" / "extensions" / name)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """What ``trainyard`` of the copy says."""
        return subprocess.run(
            [sys.executable, "-m", "trainyard", *words],
            cwd=self.folder,
            env=environment(PYTHONPATH=os.fspath(self.folder / "compiler")),
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


def standing(without: Iterable[str]) -> set[str]:
    """The extensions that are left: those that are there, with all that they need."""
    left = set(ALL) - set(without)
    while lacking := {name for name in left if not needs(extensions()[name]) <= left}:
        left -= lacking
    return left


@pytest.mark.parametrize("without", [*drawn([(name,) for name in ALL], 2), ALL], ids="-".join)
def test_the_rest_stands_without_it(without: tuple[str, ...], tmp_path: Path) -> None:
    copy = Copy(tmp_path, without)
    done = copy.run("compile", "--check", *(f"specs/{name}.yaml" for name in PLAIN))
    assert done.returncode == 0, done.stdout + done.stderr
    left = standing(without)
    offered = copy.run("--help").stdout
    for command, extension in COMMANDS.items():
        assert (f"\n    {command} " in offered) == (extension in left), command
    for extension in set(ALL) - left:
        assert_is_named(copy, extension)


def assert_is_named(copy: Copy, extension: str) -> None:
    """Whoever uses what an absent extension brings is told whose it is."""
    for command in [name for name, its in COMMANDS.items() if its == extension][:1]:
        said = copy.run(command, "specs/starter.yaml")
        assert (said.returncode, said.stdout) == (2, "")
        assert f"`{command}` is a command of the extension `{extension}`" in said.stderr
    for path in [path for path, its in KEYS.items() if its == extension]:
        above, _, key = path.rpartition(".")
        spec = (copy.folder / "specs/starter.yaml").read_text(encoding="utf-8")
        written = f"{above}: {{{key}: {{}}}}" if above else f"{key}: {{}}"
        spec = spec.replace("\nspec:\n", f"\nspec:\n  {written}\n")
        (copy.folder / "spec.yaml").write_text(spec, encoding="utf-8")
        said = copy.run("check", "spec.yaml")
        message = f"`{key}` is a key of the extension `{extension}`, which is not there"
        assert message in said.stdout
        assert said.returncode == 1


def test_a_tool_that_no_extension_writes_for(tmp_path: Path) -> None:
    copy = Copy(tmp_path, TOOLS.values())
    text = (copy.folder / "specs/starter.yaml").read_text(encoding="utf-8")
    for tool in TOOLS:
        state = "{bucket: terraform-state-111122223333}"
        spec = text.replace(
            "\nspec:\n", f"\nspec:\n  bootstrap: {{tool: {tool}, state: {state}}}\n"
        )
        (copy.folder / "spec.yaml").write_text(spec, encoding="utf-8")
        said = copy.run("check", "spec.yaml")
        assert said.returncode == 1
        assert f"error[RES500]: `{tool}` is written by the extension `{tool}`" in said.stdout


def test_what_is_shipped_is_what_is_there() -> None:
    there = {
        name: module.split(".")[2]
        for name, module in commands().items()
        if ".extensions." in module
    }
    assert there == COMMANDS
    platforms = {
        f"platform.{one.name}": one.package.partition(".")[2] for one in PLATFORMS.values()
    }
    added = {
        key: name
        for name, extension in extensions().items()
        for features in getattr(extension, "FEATURES", {}).values()
        for module in parts("spec", features)
        for key in keys_of(module.SECTION)
    }
    assert {path: name for path, name in platforms.items() if name} | added == KEYS
    assert {
        tool: module.split(".")[2] for tool, module in extension_modules("stacks").items()
    } == TOOLS
