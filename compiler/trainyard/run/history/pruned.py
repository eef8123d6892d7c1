"""Objects that leave the output, and that Flux therefore deletes from the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.places import Route
from trainyard.output.lowering.body import is_never_pruned
from trainyard.output.manifest import Manifest
from trainyard.run.history.committed import Committed

_SHOWN = 8  # objects that the note names


def deletions_note(manifests: Sequence[Manifest], committed: Committed) -> list[Diagnostic]:
    """The note on what Flux deletes; what its annotations keep has notes of its own."""
    left_out = committed.left_out(manifests)
    leaving = [manifest for manifest in left_out if not is_never_pruned(manifest.body)]
    if not leaving:
        return []
    refs = [str(manifest.ref) for manifest in leaving]
    names = sorted(refs)
    return [
        Diagnostic(
            "CHG009",
            Severity.NOTE,
            _message(len(leaving)),
            Route(("spec",)),
            key=True,
            notes=tuple(_lines(names)),
            help="put back into the spec what should stay",
        )
    ]


def _message(count: int) -> str:
    if count == 1:
        return "Flux deletes an object that leaves the output"
    return f"Flux deletes {count} objects that leave the output"


def _lines(names: Sequence[str]) -> Iterable[str]:
    yield listed(names[:_SHOWN])
    if len(names) > _SHOWN:
        yield f"and {len(names) - _SHOWN} more"
