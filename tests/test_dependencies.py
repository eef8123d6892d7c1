"""What the compiler imports is installed with it: the tests run where what checks it is installed as well."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
OURS = {"compiler", "policies", "docs", "tests"}


def imported() -> Iterator[tuple[str, str]]:
    """Every package of others that a module of the compiler or a rule imports, with the module's path."""
    for folder in ("compiler", "policies"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                for name in _modules(node):
                    package = name.partition(".")[0]
                    if package not in OURS and package not in sys.stdlib_module_names:
                        yield package, str(path.relative_to(ROOT))


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


PACKAGES = sorted({package for package, _ in imported()})


@pytest.mark.parametrize("package", PACKAGES)
def test_what_is_imported_is_installed(package: str) -> None:
    """``fmt`` imported a package that only the tests' requirements had."""
    distributions = {normal(name) for name in packages_distributions()[package]}
    users = sorted(path for name, path in imported() if name == package)
    assert distributions & with_their_own(declared()), (
        f"{users} import what pyproject.toml does not name"
    )
    if package != "boto3":  # for those who refresh the catalog, by the extra `aws`
        assert distributions & locked("requirements.txt"), f"requirements.txt lacks it: {users}"
