"""What a run judged, by what, and what it did not: `clean` is said of objects that were looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.lint.found import Found, Reading
from compiler.output.formats import format_of
from compiler.verify import BUILTIN

_SHOWN = 8  # kinds that are named, the most frequent first


@dataclass(slots=True)
class Coverage:
    """Objects by how they were judged, each by kind; and what was passed over. ``alone`` is what is
    judged by itself, as templates are, by what it is called; of its ``resources`` those that were judged, by type, and
    ``strange`` ones, of whose type nothing is known here."""

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
    alone: Counter[str] = field(default_factory=Counter)
    resource_rules: int = 0
    resources: Counter[str] = field(default_factory=Counter)
    strange: Counter[str] = field(default_factory=Counter)

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
        return not (self.unknown or self.strange or self.passed_over)

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
        if self.strange:
            left.append(f"{_counted(self.strange)} (no structure, no rule)")
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
        kustomizations += [_plural(count, name) for name, count in self.alone.items()]
        objects = (
            [_plural(self.objects, "object")]
            if self.objects or not kustomizations
            else []
        )
        return (
            f"{_joined((*objects, *kustomizations))} in {_plural(self.files, 'file')}"
        )

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
        if self.resources:
            parts.append(
                f"{_plural(self.resources.total(), 'resource')} by structure and {_plural(self.resource_rules, 'rule')}"
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
    for source in reading.alone:
        form = format_of(source.artifact.format)
        done.alone[form.KIND.lower()] += 1
        for kind, known in form.parts(source.artifact):
            (done.resources if known else done.strange)[kind] += 1
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


def _joined(parts: Sequence[str]) -> str:
    """As a list in a sentence."""
    return " and ".join((", ".join(parts[:-1]), parts[-1]) if parts[1:] else parts)


def _counted(counts: Mapping[str, int]) -> str:
    order = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    more = len(order) - _SHOWN
    return ", ".join(f"{count} {name}" for name, count in order[:_SHOWN]) + (
        f" and {more} more" if more > 0 else ""
    )


def _plural(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or f'{one}s'}"
