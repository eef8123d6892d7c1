"""How dense Python code is: ``python benchmarks/density.py FOLDER...``, a row for each folder.

Nodes: syntax nodes (``ast.walk``) of a function for each of its non-blank lines, the median
over all functions. Comprehensions and conditional expressions: for 100 non-blank lines.
Over 20: the lines of functions, in percent, that hold more than 20 syntax nodes.

A folder of another package (``.venv/lib/python3.11/site-packages/hypothesis``) gives the
figures to compare with. Folders named ``test`` and ``tests`` are left out.
"""

from __future__ import annotations

import ast
import statistics
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
MANY = 20


@dataclass(frozen=True)
class Density:
    """The figures of a folder: ``nodes`` for a line, the others for 100 lines."""

    functions: int
    nodes: float
    comprehensions: float
    conditionals: float
    over: float


def main(folders: list[str]) -> None:
    print(f"{'folder':<40} functions  nodes  comprehensions  conditionals  over {MANY}")
    for folder in folders:
        figures = density(Path(folder))
        print(
            f"{folder[-40:]:<40}"
            f"{figures.functions:>10}"
            f"{figures.nodes:>7.2f}"
            f"{figures.comprehensions:>16.2f}"
            f"{figures.conditionals:>14.2f}"
            f"{figures.over:>8.1f}%"
        )


def density(folder: Path) -> Density:
    """The figures of all modules below a folder."""
    of_functions: list[float] = []
    kinds: Counter[str] = Counter()
    held: list[int] = []
    written = 0
    for file in sorted(folder.rglob("*.py")):
        if {"test", "tests"} & set(file.relative_to(folder).parts):
            continue
        text = file.read_text()
        tree = ast.parse(text)
        lines = text.splitlines()
        written += sum(bool(line.strip()) for line in lines)
        inside: set[int] = set()
        for node in ast.walk(tree):
            if isinstance(node, COMPREHENSIONS):
                kinds["comprehension"] += 1
            elif isinstance(node, ast.IfExp):
                kinds["conditional"] += 1
            elif isinstance(node, FUNCTIONS):
                of_functions.append(_of_function(node, lines))
                inside.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        nodes = nodes_by_line(tree)
        held += [nodes[line] for line in inside if line in nodes]
    many = sum(count > MANY for count in held)
    return Density(
        functions=len(of_functions),
        nodes=statistics.median(of_functions),
        comprehensions=100 * kinds["comprehension"] / written,
        conditionals=100 * kinds["conditional"] / written,
        over=100 * many / len(held),
    )


def _of_function(function: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> float:
    own = lines[function.lineno - 1 : function.end_lineno]
    filled = sum(bool(line.strip()) for line in own)
    return sum(1 for _ in ast.walk(function)) / filled


def nodes_by_line(tree: ast.AST) -> Counter[int]:
    """Syntax nodes by the line where they begin; one without a line is at its parent's."""
    nodes: Counter[int] = Counter()

    def count(node: ast.AST, line: int) -> None:
        line = getattr(node, "lineno", line)
        nodes[line] += 1
        for child in ast.iter_child_nodes(node):
            count(child, line)

    count(tree, 0)
    return nodes


if __name__ == "__main__":
    main(sys.argv[1:])
