"""Dockerfiles: what an image is built of, read by Docker.

Nobody publishes a schema of them. They are judged by what Docker refuses: an instruction that there is not, one before
the first `FROM`, one that lacks its words, a quotation that does not end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainyard.core.images.plan import Recipe
from trainyard.extensions.images.built.plan import Step
from trainyard.extensions.images.formats.dockerfile.grammar import (
    INSTRUCTIONS,
    Instruction,
    instructions,
)
from trainyard.extensions.images.formats.dockerfile.reading import nodes
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places import Route
from trainyard.language.shellwords import split
from trainyard.output.artifact import Artifact
from trainyard.plan import PlanItem
from trainyard.verify.formats import Setting

__all__ = [
    *("LATE", "TAGS", "hinted", "lifted", "named", "parts", "recognised", "verified"),
    "written",
]

LATE = False
SUBJECTS = (Recipe, Step)
TAGS: Mapping[str, str] = {}
_BEFORE = ("FROM", "ARG")
_LEAST = {"COPY": 2, "ADD": 2}  # words; of the others one
_SOURCE = "source: Dockerfile reference"


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that Docker would refuse."""
    faults: list[Diagnostic] = []
    for artifact in artifacts:
        at = Route((artifact.id,))
        name = str(artifact.ref)
        for line, fault in _faults(artifact):
            faults.append(replace(fault, at=at / line, object=name, notes=(_SOURCE,)))
    return faults


def _faults(artifact: Artifact) -> Iterator[tuple[int, Diagnostic]]:
    path, in_stage = artifact.path, False
    for step in instructions(artifact.content):
        fault = _fault(path, step, in_stage)
        if fault is not None:
            yield step.line, fault
        in_stage = in_stage or step.name == "FROM"
    if not in_stage:
        yield (0, error("SCH003", f"`{path}` has no `FROM`", help="begin with `FROM IMAGE@DIGEST`"))


def _fault(path: str, step: Instruction, in_stage: bool) -> Diagnostic | None:
    if step.name not in INSTRUCTIONS:
        return error(
            "SCH004",
            f"`{step.name}` is no instruction of a Dockerfile",
            help=name_meant(step.name, INSTRUCTIONS) or "write one of the reference",
        )
    if not in_stage and step.name not in _BEFORE:
        return error(
            "SCH012",
            f"`{step.name}` of `{path}` comes before the first `FROM`",
            help="begin with `FROM IMAGE@DIGEST`",
        )
    if step.unended:
        return error(
            "SCH012",
            f"a here-document of `{path}` does not end",
            help=f"write `{step.unended}` alone on a line, without spaces before it or after it",
        )
    count = len(step.text.split())
    least = _LEAST.get(step.name, 1)
    if count < least and not step.document:
        return error(
            "SCH003",
            f"`{step.name}` of `{path}` lacks its words",
            help="write what it takes, or remove it",
        )
    if step.name == "RUN" and not step.document:
        try:
            split(step.text)
        except ValueError as problem:
            return error(
                "SCH012",
                f"a command of `{path}` cannot be run: {str(problem).lower()}",
                help="close the quotation",
            )
    return None


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """The recipes of Dockerfiles, and their steps."""
    for artifact in artifacts:
        yield from nodes(artifact)


def hinted(text: str) -> bool:
    """Dockerfiles are found by their names: their text is no YAML."""
    return False


def named(name: str) -> bool:
    """Whether a file's name says that it is a Dockerfile (Docker, building: file names; Podman has Containerfiles)."""
    stem, _, end = name.lower().partition(".")
    if stem in _NAMES:
        return end.rpartition(".")[2] not in _OTHERS
    return name.lower().rpartition(".")[2] in _NAMES


_NAMES = ("dockerfile", "containerfile")
_OTHERS = ("dockerignore", "gif", "jpeg", "jpg", "license", "pdf", "png", "svg", "webp")
"""Ends of files that are about one: what it leaves out, its license, and pictures of it."""
_INSTRUCTION = re.compile(r"(?:\s*(?:#.*)?\n)*\s*[A-Za-z]+\s")


def recognised(body: Any) -> bool:
    """Whether a text begins as a Dockerfile may, with a word: people call other files so too."""
    return isinstance(body, str) and _INSTRUCTION.match(body) is not None


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """It is one part: its instructions are read as a whole."""
    yield "Dockerfile", True


def written(artifact: Artifact) -> bytes:
    """The text as it is."""
    return artifact.content.encode()
