"""Clusters of the same repository that a run did not read, since their specs were not among its arguments."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from trainyard.disk.inputs import is_file, is_folder, read_bytes, real_path, with_file
from trainyard.output.emit import MANIFEST, UNREADABLE

_SPECS = "specs"  # the folder next to `policies/` that `cli` reads where no path is given


def is_everything(
    paths: Sequence[str | os.PathLike[str]],
    names: Iterable[str],
    policies: Path | None,
    output: Path,
) -> bool:
    """Whether the paths hold every spec that is known.

    Known are those of the folder ``specs`` at the policies, and those of which clusters in ``output`` were written.
    ``names``: the clusters that were read.
    """
    if not any(map(is_folder, paths)):
        return False
    read = [Path(real_path(path)) for path in paths]
    assert policies is not None  # exceptions stand there
    specs = policies.absolute().parent / _SPECS
    if is_folder(specs) and not _is_below(specs, read):
        return False
    known = set(names)
    for folder in with_file(output, MANIFEST):
        if os.path.basename(folder) not in known and spec_elsewhere(Path(folder, MANIFEST), read):
            return False
    return True


def spec_elsewhere(head: Path, read: Sequence[Path]) -> bool:
    """Whether the spec that a cluster's folder was written from still stands where this run does not look. ``head``:
    the folder's ``.manifest.json``, which names the spec relative to the folder above the output."""
    base = head.absolute().parents[2]
    try:
        words = json.loads(read_bytes(head))
        file = Path(real_path(base)) / str(words["spec"])
    except UNREADABLE:
        return False
    return is_file(file) and not _is_below(file, read)


def _is_below(path: Path, folders: Sequence[Path]) -> bool:
    resolved = Path(real_path(path))
    return any(resolved.is_relative_to(folder) for folder in folders)
