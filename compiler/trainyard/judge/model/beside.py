"""Whether two objects of third-party manifests are in files that probably belong together."""

from __future__ import annotations

from trainyard.language.places import Route
from trainyard.plan import PlanItem
from trainyard.verify.loose_ends import beside


def stand_together(one: PlanItem, other: PlanItem) -> bool:
    """Whether the files of two nodes lie in one folder, or one above the other. Nodes of a spec stand in no file of
    their own, and all belong together."""
    return in_one_folder(one.at, other.at)


def in_one_folder(one: Route, other: Route) -> bool:
    """The same of two places in manifests."""
    files = [_file(one), _file(other)]
    return not all(files) or beside(*files)


def _file(at: Route) -> str:
    """The file in the id of the manifest that a place is in."""
    if not at:
        return ""
    return str(at[0]).partition("#")[2].rpartition(":")[0]
