"""Bash scripts that people run: quotes must be closed, and the files they name must be written.

Nobody publishes a schema of a script. It is judged as the shell blocks of pages are: it can be read to its end, the
files of the cluster's folder that it names are there, and every resource that ``kubectl`` is asked for is of a known
group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trainyard.language.diagnostics import Diagnostic
from trainyard.language.places import Route
from trainyard.output.artifact import Artifact
from trainyard.verify.formats import Setting
from trainyard.verify.formats.markdown import (
    hinted,
    lifted,
    parts,
    recognised,
    shell_faults,
    written,
)

__all__ = ["LATE", "TAGS", "hinted", "lifted", "parts", "recognised", "verified", "written"]

LATE = True
TAGS: Mapping[str, str] = {}


def verified(artifacts: Sequence[Artifact], setting: Setting) -> list[Diagnostic]:
    """What a script names and is not there, and shell that does not end."""
    whole = (*setting.others, *artifacts)
    files = {artifact.path for artifact in whole}
    diagnostics: list[Diagnostic] = []
    for script in artifacts:
        at = Route((script.id,))
        name = str(script.ref)
        faults = shell_faults(script.path, script.content, files, setting.folder)
        for fault in faults:
            placed = replace(fault, at=at, object=name)
            diagnostics.append(placed)
    return diagnostics
