"""One side of a comparison: the files of a cluster's folder, and the lines of the spec that they come from."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping

from trainyard.extensions.forecast.change import Place
from trainyard.extensions.review.edits.causes import Routes, keys, nearest
from trainyard.language.dataclass import dataclass
from trainyard.language.places import Document
from trainyard.output.artifact import Artifact
from trainyard.output.body import Path
from trainyard.output.fields import Steps


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The files of a cluster's folder, by path, as they are or would be written.

    ``artifacts``: what they are written from, by path, and ``document`` the spec; both are missing where the spec of
    the revision is not known. ``edited``: the places of the spec that differ from the other side; ``alone``: nothing
    but these can make files differ, no other version of Trainyard. ``folder``: the folder's own path, for places in its
    files. ``base``: the earlier side. ``root``: the folder from which spec files are named; as they are without one.
    """

    files: Mapping[str, bytes]
    artifacts: Mapping[str, Artifact] = dataclasses.field(default_factory=dict)
    document: Document | None = None
    edited: Routes = ()
    alone: bool = False
    folder: str = ""
    base: bool = False
    root: str = ""

    def place(self, path: str, body: object, start: Path = (), steps: Steps = ()) -> Place:
        """The line behind a field of a file: of the spec, or the file itself where that is not known.

        ``body``: what ``start`` leads to in the file, into which ``steps`` lead.
        """
        artifact = self.artifacts.get(path)
        if artifact is None or self.document is None:
            return Place(f"{self.folder}/{path}", 1, 1, self.base)
        origin = artifact.origin((*start, *keys(body, steps)))
        span = self.document.span(nearest(origin, self.edited, alone=self.alone))
        name = span.file.name
        if self.root:
            name = os.path.relpath(name, self.root)
        return Place(name, span.line, span.column, self.base)
