"""What a command gives to mpirun, and where an MPIJob says one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.judge.model.command import starts
from trainyard.judge.model.values import indexed, mapping, value_at
from trainyard.language.places import Route
from trainyard.language.units import count
from trainyard.output.manifest import Manifest

OPEN_MPI = "OpenMPI"
_LAUNCHER = ("spec", "mpiReplicaSpecs", "Launcher", "template", "spec", "containers")

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


class Launcher(NamedTuple):
    """A container of an MPIJob's launcher that starts mpirun: its words, and where the last of them stand."""

    is_first: bool
    words: Sequence[str]
    at: Route


def launchers(manifest: Manifest) -> Iterator[Launcher]:
    """The containers of an MPIJob's launcher that start mpirun."""
    for index, container in indexed(manifest.body, *_LAUNCHER):
        found = {key: value_at(container, key) for key in ("command", "args")}
        said = {
            key: [*map(str, each)] for key, each in found.items() if each and isinstance(each, list)
        }
        words = [word for each in said.values() for word in each]
        if any(starts(words, program) for program in PROGRAMS):
            yield Launcher(index == 0, words, Route((manifest.id, *_LAUNCHER, index, [*said][-1])))


def implementation_of(manifest: Manifest) -> str:
    """The MPI by which an MPIJob reaches its workers: Open MPI where it says nothing (mpi-operator v0.8.2, MPIJob)."""
    return str(mapping(manifest.body, "spec").get("mpiImplementation", OPEN_MPI))


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
