"""The specs that a command is about, which need not all be right."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trainyard.run.driver import check
from trainyard.run.outcome import Options, Outcome


def readable(paths: Sequence[str], options: Options) -> Outcome:
    """The specs that can be read: one that cannot is in the way of no command that asks about another one."""
    done = check(paths, options, current=lambda _: None)
    entries = [entry for path in paths for entry in _entries(Path(path))]
    if done.compilations or len(entries) < 2:
        return done
    alone = [check([entry], options, current=lambda _: None) for entry in entries]
    found = [compilation for each in alone for compilation in each.compilations]
    return Outcome(found, []) if found else done


def _entries(path: Path) -> list[Path]:
    """The specs and the folders of clusters in a folder; a file is itself."""
    if not path.is_dir():
        return [path]
    return sorted(
        entry
        for entry in path.iterdir()
        if not entry.name.startswith(".") and (entry.is_dir() or entry.suffix in (".yaml", ".yml"))
    )
