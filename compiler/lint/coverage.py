"""What a run judged, by what, and what it did not: `clean` is said of objects that were looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from compiler.lint.found import Found, Reading
from compiler.verify import BUILTIN

_SHOWN = 8  # kinds that are named, the most frequent first


@dataclass(slots=True)
class Coverage:
    """Objects by how they were judged, each by kind; and what was passed over."""

    files: int = 0
    rules: int = 0
    pod_rules: int = 0
    ruled: int = 0
    pods: Counter[str] = field(default_factory=Counter)
    schema_only: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    kustomizations: int = 0
    passed_over: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()
    alternatives: int = 0

    @property
    def objects(self) -> int:
        """All objects that were read."""
        return (
            self.ruled
            + self.pods.total()
            + self.schema_only.total()
            + self.unknown.total()
        )

    @property
    def whole(self) -> bool:
        """Whether all objects were judged."""
        return not self.unknown and not self.passed_over

    def lines(self, *, found: bool) -> list[str]:
        """The summary: ``found`` says whether there are findings."""
        judged = [f"{self._read()}: {self._judged()}"]
        if not found:
            judged = [
                f"clean: {judged[0]}"
                if self.whole
                else f"nothing found in what was judged: {judged[0]}"
            ]
        left = (
            [f"{_counted(self.unknown)} (no schema, no rule)"] if self.unknown else []
        )
        if left or self.passed_over:
            judged.append(f"not judged: {'; '.join((*left, *self.passed_over))}")
        if self.not_read:
            judged.append(f"not read: {'; '.join(self.not_read)}")
        if self.alternatives:
            judged.append(
                f"{_plural(self.alternatives, 'file')} with objects that other files have too: "
                "each was judged apart, as one of several to choose from"
            )
        return judged

    def _read(self) -> str:
        kustomizations = (
            [_plural(self.kustomizations, "kustomization")]
            if self.kustomizations
            else []
        )
        objects = (
            [_plural(self.objects, "object")]
            if self.objects or not kustomizations
            else []
        )
        return f"{' and '.join((*objects, *kustomizations))} in {_plural(self.files, 'file')}"

    def _judged(self) -> str:
        parts = (
            [f"{self.ruled} by schema and {_plural(self.rules, 'rule')}"]
            if self.ruled
            else []
        )
        if self.pods:
            parts.append(
                f"{self.pods.total()} by schema and {_plural(self.pod_rules, 'rule')} on pods "
                f"({_counted(self.pods)})"
            )
        if self.schema_only:
            parts.append(
                f"{self.schema_only.total()} by schema only ({_counted(self.schema_only)})"
            )
        return ", ".join(parts) or "none judged"


def covered(
    reading: Reading,
    objects: Iterable[Found],
    patches: int,
    ruled: Collection[str],
    pods: Collection[str],
) -> Coverage:
    """How the objects of a reading were judged. ``ruled`` and ``pods`` are the kinds, as ``group/Kind``, that rules
    read, and those of which they read just the pods."""
    done = Coverage(
        files=len(reading.files), kustomizations=len(reading.kustomizations)
    )
    for each in objects:
        manifest = each.manifest
        kind = manifest.ref.kind
        full = f"{manifest.ref.group}/{kind}"
        if full in ruled:
            done.ruled += 1
        elif full in pods:
            done.pods[kind] += 1
        elif BUILTIN.find(manifest.ref.api_version, kind):
            done.schema_only[kind] += 1
        else:
            done.unknown[kind] += 1
    done.passed_over = tuple(_passed_over(reading, patches))
    done.not_read = tuple(_not_read(reading))
    return done


def _passed_over(reading: Reading, patches: int) -> Iterable[str]:
    if patches:
        yield f"{_plural(patches, 'patch', 'patches')} of kustomize"
    if reading.templates:
        yield _plural(reading.templates, "template")
    if reading.broken:
        yield f"what is no YAML in {', '.join(reading.broken[:3])}{' and more' if len(reading.broken) > 3 else ''}"
    if reading.specs:
        yield f"{_plural(reading.specs, 'spec')} of Trainyard (`trainyard check` judges them)"


def _not_read(reading: Reading) -> Iterable[str]:
    if reading.others:
        yield f"{_plural(reading.others, 'file')} of YAML or JSON without `apiVersion` and `kind`"
    if reading.kindless:
        yield f"{_plural(reading.kindless, 'document')} without `kind` that no `metadata` or `spec` makes an object"
    if reading.formats:
        yield f"{_plural(reading.formats.total(), 'file')} of other formats ({_counted(reading.formats)})"


def _counted(counts: Mapping[str, int]) -> str:
    order = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    more = len(order) - _SHOWN
    return ", ".join(f"{count} {name}" for name, count in order[:_SHOWN]) + (
        f" and {more} more" if more > 0 else ""
    )


def _plural(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or f'{one}s'}"
