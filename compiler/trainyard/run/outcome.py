"""The values that the drivers take and return: a run's settings and its results."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics import Diagnostic, Severity

if TYPE_CHECKING:  # `lint` has no spec, and starts in half the time without it
    from trainyard.catalog import VersionStep
    from trainyard.disk.cache import Cache
    from trainyard.language.models.cluster import ClusterSpec
    from trainyard.language.places import Document
    from trainyard.output import Artifact
    from trainyard.output.manifest import Manifest
    from trainyard.plan import Plan
    from trainyard.run.history import Run


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a run, other than its paths.

    ``hold``: jobs that were submitted stay so, as the folder ``against`` shows them: the output unless another is
    given. ``replace``: but for those of these names or patterns, whose last run was never pushed. ``folder``: the
    output's path in the repository, which Flux reads. ``explained``: the spec and its derived values are kept, of
    which ``explain`` and ``report`` speak; a spec of 10,000 jobs derives 270,000. ``judged``: formats and rules judge
    what would be written. ``cache``: what earlier runs said, if it may be used.
    """

    policies: Path | None = None
    catalog: Path | None = None
    today: date = date.min
    output: Path = Path("generated")
    hold: bool = False
    replace: tuple[str, ...] = ()
    against: Path | None = None
    folder: str = "generated"
    explained: bool = True
    judged: bool = True
    cache: Cache | None = None

    @property
    def committed(self) -> Path:
        """The folder with what was committed."""
        return self.against or self.output


def _has_error(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(item.severity is Severity.ERROR for item in diagnostics)


@dataclass()
class Compilation:
    """One spec after the passes: as far as they got, and everything there is to say about it.

    ``spec``: where it is asked for. ``artifacts``: everything to be written; ``manifests``: the objects among them.
    ``runs``: every run to remember; ``None`` where no committed folder was looked at. ``steps``: the versions that
    differ from those that are committed.
    ``current``: the files of its folder, where all of them are there as they should be, and there is nothing to say;
    then the rest may be empty. ``repeated``: this is what a run before found; there is no plan.
    """

    name: str
    document: Document
    spec: ClusterSpec | None = None
    plan: Plan | None = None
    artifacts: list[Artifact] = dataclasses.field(default_factory=list)
    manifests: list[Manifest] = dataclasses.field(default_factory=list)
    diagnostics: list[Diagnostic] = dataclasses.field(default_factory=list)
    runs: list[Run] | None = None
    steps: list[VersionStep] = dataclasses.field(default_factory=list)
    current: tuple[str, ...] | None = None
    repeated: bool = False

    @property
    def judged(self) -> bool:
        """Whether every pass was run, by this run or by the one that it repeats."""
        return self.repeated or self.plan is not None or self.current is not None

    @property
    def failed(self) -> bool:
        """Whether an error prevents writing."""
        return _has_error(self.diagnostics)


@dataclass()
class Outcome:
    """A run over some paths: its compilations, what belongs to none of them, and how many findings are excused."""

    compilations: list[Compilation] = dataclasses.field(default_factory=list)
    diagnostics: list[Diagnostic] = dataclasses.field(default_factory=list)
    excused: int = 0

    def all(self) -> list[Diagnostic]:
        """Everything there is to say."""
        diagnostics = list(self.diagnostics)
        for compilation in self.compilations:
            diagnostics += compilation.diagnostics
        return diagnostics

    def errors(self) -> list[Diagnostic]:
        """What prevents writing."""
        return [each for each in self.all() if each.severity is Severity.ERROR]

    @property
    def failed(self) -> bool:
        """Whether anything prevents writing."""
        return _has_error(self.all())

    @property
    def unread(self) -> bool:
        """Whether a spec may be among the paths that could not be read."""
        return _has_error(self.diagnostics)
