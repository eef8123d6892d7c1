"""A key that takes one of some whole numbers takes no `true`, which Python has equal to 1."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import shape_faults, spec
from trainyard.language.models import checks as check
from trainyard.language.models.editor import shape_of

ROOT = Path(__file__).parents[2]
SNAPSHOTS = {
    "name": "notes",
    "ebs": {"create": {"each": "namespace", "size": "200Gi", "snapshots": {"everyHours": True}}},
}


def test_a_boolean_is_no_number_of_a_list() -> None:
    data = spec()
    data["spec"]["storage"] = [SNAPSHOTS]
    found = [(each.code, each.message) for each in shape_faults(data)]
    assert found == [("SPC003", "`everyHours` is the boolean `true`, not a whole number")]


def _of_numbers(node: ast.AST) -> bool:
    """Whether an expression is a `Literal` of numbers."""
    if not isinstance(node, ast.Subscript) or ast.unparse(node.value) != "Literal":
        return False
    first = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) else node.slice
    return isinstance(first, ast.Constant) and isinstance(first.value, int)


def fields() -> Iterator[tuple[str, str]]:
    """The place and the type of each field of a model that takes one of some whole numbers."""
    for path in sorted((ROOT / "compiler").rglob("*.py")):
        text = path.read_text()
        if "(SpecModel" not in text and path.name != "spec.py":
            continue
        tree = ast.parse(text)
        named = {
            node.targets[0].id
            for node in tree.body
            if isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and _of_numbers(node.value)
        }
        for node in ast.walk(tree):
            if not isinstance(node, ast.AnnAssign):
                continue
            parts = list(ast.walk(node.annotation))
            if any(_of_numbers(part) or getattr(part, "id", "") in named for part in parts):
                yield f"{path.relative_to(ROOT)}:{node.lineno}", ast.unparse(node.annotation)


@pytest.mark.needs("parallelcluster")
def test_each_such_key_refuses_booleans() -> None:
    found = dict(fields())
    assert len(found) >= 5
    assert [place for place, kind in found.items() if "Whole" not in kind] == []


def test_editors_are_told_the_bounds_of_parameters_and_none_of_a_list() -> None:
    """The check of a list stood between that of parameters and what is said of it."""
    assert shape_of(check.count) == {"exclusiveMinimum": 0, "maximum": 1e15}
    assert shape_of(check.whole) == {}
