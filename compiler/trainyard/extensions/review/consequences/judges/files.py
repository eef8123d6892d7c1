"""Files that nothing in a cluster reads: pages, scripts that people run, and what Trainyard remembers."""

from __future__ import annotations

from collections.abc import Mapping

from trainyard.extensions.forecast.change import Consequence, Effect
from trainyard.extensions.review.edits.edit import Edit
from trainyard.extensions.review.edits.judge import Judge
from trainyard.extensions.review.edits.thing import MEMORY
from trainyard.output.fields import Steps

_BY_PEOPLE = "bootstrap/"
_ON_NODES = ("bootstrap/nodes/", "bootstrap/hyperpod/lifecycle/")


def _page(edit: Edit, steps: Steps) -> Effect | None:
    return Effect(Consequence.HARMLESS, "people read it")


def _memory(edit: Edit, steps: Steps) -> Effect | None:
    return Effect(Consequence.HARMLESS, "Trainyard remembers by it what was compiled and submitted")


def _script(edit: Edit, steps: Steps) -> Effect | None:
    """Nothing runs a script of ``bootstrap/`` by itself; those of nodes run when a node starts."""
    path = edit.thing.path
    if path.startswith(_ON_NODES):
        return Effect(Consequence.UNKNOWN, "nodes run it when they start: read what differs")
    if path.startswith(_BY_PEOPLE):
        return Effect(
            Consequence.HARMLESS, "nothing runs it by itself; what it applies is listed by itself"
        )
    return None


NOT_KNOWN: Mapping[str, str] = {
    "dockerfile": "the image that is built from it is another; jobs run the digest that is committed",
    "sops": "it says which keys open the secrets of the repository",
    "workflow": "it runs in CI, with the rights that CI has",
}
KINDS: Mapping[str, Judge] = {"markdown": _page, "shell": _script, MEMORY: _memory}
