"""Did-you-mean offers what is near, and nothing else."""

from __future__ import annotations

import ast

import pytest
from builders import ROOT
from modules import nodes
from trainyard.language.diagnostics.near import near


@pytest.mark.parametrize(
    ("word", "names", "want"),
    [
        ("prometheus", ["priorities", "platform"], []),
        ("node_pools", ["nodePools", "nodes"], ["nodePools"]),
        ("nodePool", ["nodePools", "nodes"], ["nodePools"]),
        ("imgae", ["image", "zone"], ["image"]),
        ("fxs", ["fsx", "efs"], ["fsx"]),
        ("cpu", ["gpu"], []),
        ("reserach", ["search", "research"], ["research"]),
        ("p4d.24xl", ["p4d.24xlarge", "p4de.24xlarge"], ["p4d.24xlarge"]),
        ("on_demand", ["on-demand", "spot"], ["on-demand"]),
        ("Gpu", ["gpu", "GPU", "gpus"], ["gpu", "GPU", "gpus"]),
        ("", ["a"], []),
        ("_", ["-", "a"], ["-"]),
        # what nobody writes by hand is not measured
        ("a" * 257, ["a" * 257, "a" * 256, "a" * 256 + "b"], ["a" * 257]),
        ("a" * 256, ["a" * 256 + "b"], []),
        ("a" * 255, ["a" * 254 + "b"], ["a" * 254 + "b"]),
    ],
)
def test_what_is_near(word: str, names: list[str], want: list[str]) -> None:
    assert near(word, names) == want


@pytest.mark.slow
def test_nobody_else_measures_words() -> None:
    """One helper with one cut-off."""
    users = [
        path.relative_to(ROOT).as_posix()
        for folder in ("compiler", "policies")
        for path in (ROOT / folder).rglob("*.py")
        for node in nodes(path, "difflib")
        if isinstance(node, ast.Import | ast.ImportFrom) and "difflib" in ast.dump(node)
    ]
    assert users == ["compiler/trainyard/language/diagnostics/near.py"]
