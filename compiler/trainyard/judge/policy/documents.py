"""The YAML files of a policies folder."""

from __future__ import annotations

from pathlib import Path

from trainyard.language.diagnostics import Diagnostic
from trainyard.language.places import Document


def read_documents(path: Path) -> tuple[list[Document], list[Diagnostic]]:
    """The documents of a file, and its faults. One of comments only has no documents, and that is no fault."""
    from trainyard.language.source.parse import parse, read  # without such files not needed

    file, faults = read(path)
    if file is None:
        return [], list(faults)
    documents, more = parse(file)
    more = [fault for fault in more if fault.code != "YML019"]
    return documents, [*faults, *more]
