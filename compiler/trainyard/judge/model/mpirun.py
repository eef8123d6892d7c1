"""The number of ranks that a command gives to mpirun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trainyard.language.units import count

_COUNTS = ("np", "n", "c")
# Options of mpirun 4.1 that often come before the count, with the number of words that follow each.
_VALUES = {
    **dict.fromkeys(_COUNTS, 1),
    "allow-run-as-root": 0,
    "bind-to": 1,
    "display-map": 0,
    "hostfile": 1,
    "mca": 2,
    "prefix": 1,
    "q": 0,
    "report-bindings": 0,
    "tag-output": 0,
    "v": 0,
    "x": 1,
}
PROGRAMS = ("mpirun", "mpiexec")


def ranks_of(words: Sequence[str]) -> int | None:
    """What the options of mpirun say; ``None`` where its program or an option that is not known comes first."""
    for option, value in options_of(words):
        if option in _COUNTS:
            return count(value)
    return None


def options_of(words: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The options of mpirun before its program, each with the word that follows it, up to one that is not known, which
    is the last."""
    parts = " ".join(words).split()
    names = [part.rpartition("/")[2] for part in parts]
    programs = (index for index, name in enumerate(names) if name in PROGRAMS)
    index = 1 + next(programs)
    while index < len(parts) and parts[index].startswith("-"):
        option = parts[index].lstrip("-")
        yield option, parts[index + 1] if index + 1 < len(parts) else None
        if option not in _VALUES:
            return
        index += 1 + _VALUES[option]
