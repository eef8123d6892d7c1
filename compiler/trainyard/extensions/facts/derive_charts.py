"""Derives the Helm values that the pinned charts read, from their `values.yaml` and from names in their templates.

Usage: python -m trainyard.extensions.facts.derive_charts CHART VERSION FOLDER SOURCE

FOLDER is the chart's, of its repository at the tag of VERSION. The tree that is written has a mapping where only its
keys are read, an empty one where any key is, and null for a scalar or list. ``also`` are keys that `values.yaml` shows
in comments: they may stand anywhere. The values of a chart that this one depends on are known where its folder is
beside FOLDER; of others any key may be read.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trainyard.catalog.charts import DATA

Tree = dict[str, Any]

_NAMED = re.compile(r"\.Values\.([A-Za-z_][\w.]*)")
_WHOLE = re.compile(
    r"(?:toYaml|toJson|with|range(?:\s+\$\w+(?:,\s*\$\w+)?\s*:=)?|tpl|merge\w*|include\s+\"[^\"]+\"|dict|fromYaml|:=)"
    r"\s+\(?\s*\$?\.Values\.([A-Za-z_][\w.]*)"
)
_COMMENTED = re.compile(r"^\s*#+\s*-?\s*([A-Za-z_]\w*):", re.MULTILINE)
_FREE = re.compile(
    r"(?i)(annotations|labels|selector|affinity|resources|tolerations|context|env|strategy|featuregates|config|probe)$"
)


def values_of(folder: Path) -> Tree:
    """The values that a chart reads, as a tree."""
    import yaml

    text = (folder / "values.yaml").read_text()
    chart = yaml.safe_load((folder / "Chart.yaml").read_text())
    tree = _tree(yaml.safe_load(text) or {})
    for template in _templates(folder):
        for path in _NAMED.findall(template):
            _add(tree, path.rstrip(".").split("."))
        for path in _WHOLE.findall(template):
            _open(tree, path.rstrip(".").split("."))
    also = set(_COMMENTED.findall(text))
    for dependency in chart.get("dependencies", ()):
        beside = folder.parent / dependency["name"]
        inside: Tree = {}
        if (beside / "values.yaml").exists():
            known = values_of(beside)
            inside = known["values"]
            also |= set(known["also"])
        tree[dependency.get("alias") or dependency["name"]] = inside
    tree["global"] = {}
    return {"values": tree, "also": sorted(also)}


def _templates(folder: Path) -> Iterator[str]:
    for path in sorted((folder / "templates").rglob("*")):
        if path.suffix in (".yaml", ".yml", ".tpl", ".txt"):
            yield path.read_text()


def _tree(values: Any) -> Any:
    if not isinstance(values, dict):
        return None
    tree: Tree = {}
    for key, value in values.items():
        name = str(key)
        is_free = value is not None and _FREE.search(name)
        tree[name] = {} if is_free else _tree(value)
    return tree


def _add(tree: Tree, path: list[str]) -> None:
    """A key that a template names, where `values.yaml` does not have it."""
    for index, key in enumerate(path):
        if key not in tree:
            tree[key] = None
            if index + 1 < len(path):
                tree[key] = {}
            return
        if not tree[key]:
            return
        tree = tree[key]


def _open(tree: Tree, path: list[str]) -> None:
    """A key that a template hands on as a whole: any key may stand below it."""
    *folders, last = path
    for key in folders:
        inside = tree.get(key)
        if not inside:
            return
        tree = inside
    tree[last] = {}


def main(chart: str, version: str, folder: str, source: str) -> None:
    """Write the tree of one chart into its data file."""
    known = {"version": version, "source": source, **values_of(Path(folder))}
    (DATA / f"{chart}.json").write_text(json.dumps(known, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
