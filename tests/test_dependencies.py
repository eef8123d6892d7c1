"""What the compiler imports is installed with it: the tests run where what checks it is installed as well."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"trainyard", "policies", "docs", "tests"}


def imported() -> dict[str, list[str]]:
    """The packages of others that modules of the compiler and rules import, with the paths of those."""
    users: dict[str, list[str]] = {}
    for folder in ("compiler", "policies"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                for name in _modules(node):
                    package = name.partition(".")[0]
                    if package not in OURS and package not in sys.stdlib_module_names:
                        users.setdefault(package, []).append(str(path.relative_to(ROOT)))
    return users


def _modules(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module or ""]
    return []


def normal(name: str) -> str:
    """A name of a distribution as pip compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def declared() -> set[str]:
    """What pyproject.toml asks for: always, and for an extra that somebody asks for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = project["dependencies"]
    for extra in project["optional-dependencies"].values():
        asked += extra
    return {_name(one) for one in asked}


def _name(requirement: str) -> str:
    return normal(re.split(r"[ \[<>=!~;(]", requirement)[0])


def with_their_own(names: set[str]) -> set[str]:
    """Distributions with what they ask for themselves: pydantic comes with pydantic_core."""
    return names.union(*(map(_name, requires(name) or ()) for name in names))


def locked(name: str) -> set[str]:
    lines = (ROOT / name).read_text().splitlines()
    return {normal(line.partition("==")[0]) for line in lines if "==" in line}


@pytest.mark.slow
def test_what_is_imported_is_installed() -> None:
    """``fmt`` imported a package that only the tests' requirements had."""
    of_package = packages_distributions()
    asked = with_their_own(declared())
    pinned = locked("requirements.txt")
    undeclared, unpinned = {}, {}
    for package, users in imported().items():
        distributions = {normal(name) for name in of_package[package]}
        if not distributions & asked:
            undeclared[package] = users
        if package != "boto3" and not distributions & pinned:
            # boto3 is for those who refresh the catalog, by the extra `aws`.
            unpinned[package] = users
    assert undeclared == {}, "pyproject.toml does not name them"
    assert unpinned == {}, "requirements.txt lacks them"
