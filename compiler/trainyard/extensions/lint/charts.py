"""Charts of Helm: what lies in the folder of their templates is applied by releases alone (Helm, charts: the chart file
structure)."""

from __future__ import annotations

from pathlib import Path

from trainyard.disk import inputs

_FILE = "Chart.yaml"
_TEMPLATES = "templates"


def chart_of(file: str) -> Path | None:
    """The folder of the chart whose template a file is; ``None`` of a file of no chart."""
    for folder in Path(file).parents:
        if folder.name == _TEMPLATES and inputs.is_file(folder.parent / _FILE):
            return folder.parent
    return None
