"""Whether two nodes of third-party manifests are in files that probably belong together."""

from __future__ import annotations

from compiler.plan import PlanNode
from compiler.verify.loose_ends import beside


def stand_together(one: PlanNode, other: PlanNode) -> bool:
    """Whether the files of two nodes lie in one folder, or one above the other. Nodes of a spec stand in no file of
    their own, and all belong together."""
    files = [_file(one), _file(other)]
    return not all(files) or beside(*files)


def _file(node: PlanNode) -> str:
    """The file in the id of the manifest that a node was read from."""
    if not node.at:
        return ""
    return str(node.at[0]).partition("#")[2].rpartition(":")[0]
