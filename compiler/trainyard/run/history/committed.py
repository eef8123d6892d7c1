"""The committed folder of a cluster: its index, its runs, and its objects as they were written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from trainyard.eks.jobs.heads import JOBS
from trainyard.eks.jobs.kinds import kinds
from trainyard.language.places import Route
from trainyard.output.emit import UNREADABLE
from trainyard.output.emit.committed import CommittedFolder
from trainyard.output.emit.marker import is_marked, marked
from trainyard.output.emit.yaml import encoded
from trainyard.output.lowering.body import object_path
from trainyard.output.manifest import Manifest, ref_of
from trainyard.run.history.runs import SUBMITTED, Run, read_runs, runs_of_index

_SPEC = Route(("spec",))
_NOT_APPLIED = ("bootstrap", "runs")


class Committed(CommittedFolder):
    """What an earlier compilation left in a folder, with its runs and its objects.

    ``replace``: names of jobs whose last run was never pushed, in the spec or of their objects.
    """

    def __init__(self, folder: Path, replace: Collection[str] = ()) -> None:
        super().__init__(folder)
        self._replace = replace

    @cached_property
    def _read_runs(self) -> tuple[list[Run], list[str]]:
        return read_runs(self._folder)

    @cached_property
    def _remembered(self) -> list[Run]:
        return self._read_runs[0] or runs_of_index(self.index)

    @cached_property
    def replaced(self) -> list[Run]:
        """The last runs of the jobs that are to be replaced; of earlier runs only those that are named themselves."""
        replaced = []
        for run in self._remembered:
            is_last = run.state == SUBMITTED
            is_meant = is_last and run.job in self._replace
            if is_meant or run.object in self._replace:
                replaced.append(run)
        return replaced

    @cached_property
    def runs(self) -> list[Run]:
        """Every run that it remembers, without those that are to be replaced."""
        replaced = self.replaced
        return [run for run in self._remembered if run not in replaced]

    @property
    def broken_runs(self) -> list[str]:
        """The files of runs that cannot be read."""
        return self._read_runs[1]

    @cached_property
    def latest(self) -> dict[str, list[Run]]:
        """The last run of each job, by the job's name in the spec; several where two branches submitted one each."""
        latest: dict[str, list[Run]] = {}
        runs = sorted(self.runs, key=lambda run: run.order)
        for run in runs:
            known = latest.setdefault(run.job, [])
            if known and known[0].order != run.order:
                known.clear()
            known.append(run)
        return latest

    def holds(self, manifest: Manifest) -> bool:
        """Whether the committed object is exactly as it would be written."""
        text = encoded(manifest.body, manifest.choices)
        content = marked(manifest.path, text)
        return self._read(manifest.path) == content

    def forgotten(self) -> list[str]:
        """Jobs that we wrote and of whose run nothing is remembered: by path."""
        if "jobs" in self.index:  # as Trainyard 0.1 remembered them
            return []
        known = {run.committed_path for run in self._remembered}
        for path in self.broken_runs:
            stem = Path(path).stem
            namespace, _, name = stem.partition(".")
            for kind in kinds().values():
                known.add(object_path(JOBS, kind.kind, name, namespace))
        wanted = tuple(f".{kind.kind.lower()}-" for kind in kinds().values())
        forgotten = []
        for path in self._paths_in(JOBS):
            if path in known or not _has_any(path, wanted):
                continue
            if self._is_ours(path):
                forgotten.append(str(self._folder / path))
        return forgotten

    def left_out(self, manifests: Sequence[Manifest]) -> list[Manifest]:
        """The objects that Flux applies from the folder and that are not among those to be written."""
        wanted = {manifest.path for manifest in manifests}
        leaving = []
        for path in self._applied_paths():
            if path in wanted:
                continue
            data = self._read(path)
            if not is_marked(path, data or b""):
                continue
            body = self._body(path, data)
            if body is not None:
                leaving.append(Manifest(body, path))
        return leaving

    def _applied_paths(self) -> list[str]:
        """The files of the folders that Flux reads."""
        paths: list[str] = []
        for folder in sorted(self._entries(self._folder)):
            if folder not in _NOT_APPLIED:
                paths += self._yaml_below(folder)
        return paths

    def _yaml_below(self, folder: str) -> Iterator[str]:
        entries = self._entries(self._folder / folder)
        for name, is_folder in sorted(entries.items()):
            if is_folder:
                yield from self._yaml_below(f"{folder}/{name}")
            elif name.endswith(".yaml"):
                yield f"{folder}/{name}"

    def manifest(self, ref: str, path: str, like: Manifest) -> Manifest | None:
        """The committed object at a path, with the places of ``like``; ``None`` where it cannot be read."""
        try:
            data = self._read(path)
            if not data:  # where Trainyard 0.1 had it
                noted = self.index["objects"][ref]
                data = self._read(noted["path"])
        except UNREADABLE:
            return None
        body = self._body(path, data)
        if body is None or str(ref_of(body)) != ref:
            return None
        kind = ref.partition("/")[0]
        if like.ref.kind != kind:
            return Manifest(body, path, like.at)
        return Manifest(body, path, like.at, like.origins, like.lists, choices=like.choices)


def _has_any(text: str, words: tuple[str, ...]) -> bool:
    return any(word in text for word in words)
