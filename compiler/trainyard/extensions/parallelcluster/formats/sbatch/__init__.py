"""Batch scripts of Slurm: what ``sbatch`` takes.

Nobody publishes a schema of them. They are judged by what ``sbatch`` refuses: a script without an interpreter, an
option that there is not, a value of another form, a directive after the first command, which is no directive any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainyard.extensions.parallelcluster.batch.plan import BatchJob
from trainyard.extensions.parallelcluster.formats.sbatch.grammar import (
    OF_SEVERAL,
    OPEN_QUOTE,
    STRAY,
    Directive,
    directives,
    in_documents,
)
from trainyard.extensions.parallelcluster.formats.sbatch.options import OPTIONS, form_of
from trainyard.extensions.parallelcluster.formats.sbatch.reading import nodes
from trainyard.language.diagnostics import Diagnostic
from trainyard.language.diagnostics.diagnostic import error, warning
from trainyard.language.diagnostics.near import name_meant
from trainyard.language.places import Route
from trainyard.output.artifact import Artifact
from trainyard.plan import PlanItem
from trainyard.verify.formats import Setting

__all__ = [
    *("LATE", "TAGS", "hinted", "lifted", "named", "parts", "recognised", "verified"),
    "written",
]

LATE = False
OF_CLUSTERS = "parallelcluster"
SUBJECTS = (BatchJob,)
TAGS: Mapping[str, str] = {}
_SOURCE = "source: Slurm documentation, sbatch"
_FILLED_IN = re.compile(r"[${}<>]")
"""Values that something else writes before ``sbatch`` reads them."""
_DIRECTIVES = re.compile(r"^#SBATCH\s+-", re.MULTILINE)
_ANY = re.compile(r"^\s*#SBATCH\s+[^\s#]")


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """Everything that ``sbatch`` would refuse, or pass over."""
    faults: list[Diagnostic] = []
    for artifact in artifacts:
        at = Route((artifact.id,))
        name = str(artifact.ref)
        for line, fault in _faults(artifact):
            faults.append(replace(fault, at=at / line, object=name, notes=(_SOURCE,)))
    return faults


def _faults(artifact: Artifact) -> Iterator[tuple[int, Diagnostic]]:
    text = artifact.content
    lines = text.split("\n")
    elsewhere = in_documents(text)
    told = [number for number, line in enumerate(lines) if _ANY.match(line)]
    if elsewhere.issuperset(told):
        return  # a script that writes one
    if not text.startswith("#!"):
        yield (
            0,
            error(
                "SCH012",
                f"`{artifact.path}` names no interpreter in its first line, and `sbatch` takes no script without one",
                help="begin with `#!/bin/bash`",
            ),
        )
    known = list(directives(text))
    for directive in known:
        if directive.name in (STRAY, OPEN_QUOTE):
            continue
        fault = _fault(directive)
        if fault is not None:
            yield directive.line, fault
    yield from _strays(known, lines)
    read = {directive.line for directive in known}
    last = max(read, default=-1)
    for number in told:
        if number > last and number not in elsewhere:
            yield (
                number,
                warning(
                    "SCH012",
                    "a directive after the first command is a comment: `sbatch` does not read it",
                    help="move it up, before the first command",
                ),
            )


def _fault(directive: Directive) -> Diagnostic | None:
    name, value = directive.name, directive.value
    if name in OF_SEVERAL:
        return None
    if name not in OPTIONS:
        return error(
            "SCH001",
            f"unknown option `--{name}` of `sbatch`",
            help=name_meant(name, OPTIONS) or "remove it",
        )
    form = form_of(name)
    if form is None or not value or _FILLED_IN.search(value):
        return None
    if not re.fullmatch(form.pattern, value):
        return error(
            "SCH006",
            f"`{value}` is no value of `--{name}`",
            help=f"write {form.what}, like `{form.example}`",
        )
    return None


def _strays(known: Iterable[Directive], lines: Sequence[str]) -> Iterator[tuple[int, Diagnostic]]:
    """Words that are no options, the first of each line (Slurm 25.05, src/sbatch/opt.c: ``Invalid directive found in
    batch script``, ``Unmatched`` quote)."""
    seen: set[int] = set()
    for directive in known:
        line, text = directive.line, directive.value
        if directive.name not in (STRAY, OPEN_QUOTE) or line in seen:
            continue
        seen.add(line)
        if _FILLED_IN.search(lines[line]):
            continue
        message = f"`{text}` is neither an option nor the value of one, and `sbatch` refuses it"
        help = (
            "remove it; a value follows its option, or `=` at once, and one with spaces is quoted"
        )
        if directive.name == OPEN_QUOTE:
            message = f"a quote in `{text}` is not closed, and `sbatch` refuses it"
            help = "close it, or write a backslash before it"
        yield line, error("SCH011", message, help=help)


def lifted(artifacts: Sequence[Artifact], *, closed: bool) -> Iterable[PlanItem]:
    """The job of each script."""
    for artifact in artifacts:
        yield from nodes(artifact, closed=closed)


def hinted(text: str) -> bool:
    """Scripts are found by their directives, and their text is no YAML."""
    return False


def named(name: str) -> bool:
    """Whether a file may be a batch script, by its name: any script of a shell may be one."""
    return name.lower().endswith((".sbatch", ".slurm", ".sh", ".bash"))


def recognised(body: Any) -> bool:
    """Whether a text has directives of sbatch."""
    return isinstance(body, str) and _DIRECTIVES.search(body) is not None


def parts(artifact: Artifact) -> Iterable[tuple[str, bool]]:
    """It is one part: its directives and commands are read as a whole."""
    yield "JobScript", True


def written(artifact: Artifact) -> bytes:
    """The text as it is."""
    return artifact.content.encode()
