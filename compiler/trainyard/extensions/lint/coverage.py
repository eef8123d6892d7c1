"""What a run judged and what it did not: `clean` speaks only of objects that were judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any

from trainyard.extensions.lint.elsewhere import Made, elsewhere, said
from trainyard.extensions.lint.inputs import LintObject, Reading
from trainyard.judge.policy.reach import Reach
from trainyard.language.dataclass import dataclass
from trainyard.language.diagnostics.words import numbered
from trainyard.output.artifact import kind_of_format
from trainyard.output.manifest import group_of, may_have_placeholders, placeholders
from trainyard.verify import BUILTIN
from trainyard.verify.formats import format_of
from trainyard.verify.objects import Identity

_SHOWN = 8  # kinds that are named, the most frequent first
_SHOWN_OF_VERSION = 60  # characters
_PATHS = 3  # of broken files that are named


@dataclass(slots=True)
class Coverage:
    """Objects by how they were judged, each by kind; and what was passed over.

    ``ruled``: objects judged by schema and rules; ``pods``: by schema, and by rules on their pods; ``rules_only``: of
    versions without a schema here, which may be newer ones. ``alone``: what is judged by itself, as templates are, by
    what it is called. ``resources`` of these were judged, by type; of ``strange`` ones nothing is known here.
    ``placeholders`` stand for values that somebody fills in, as they are written; ``elsewhere`` is what objects refer
    to and none of them is; ``reach`` is what rules had to look at.
    """

    files: int = 0
    rules: int = 0
    pod_rules: int = 0
    ruled: int = 0
    pods: Counter[str] = field(default_factory=Counter)
    schema_only: Counter[str] = field(default_factory=Counter)
    rules_only: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    kustomizations: int = 0
    passed_over: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()
    alternatives: int = 0
    alone: Counter[str] = field(default_factory=Counter)
    resource_rules: int = 0
    resources: Counter[str] = field(default_factory=Counter)
    strange: Counter[str] = field(default_factory=Counter)
    placeholders: Counter[str] = field(default_factory=Counter)
    elsewhere: list[Identity] = field(default_factory=list)
    reach: Reach = field(default_factory=Reach)

    @property
    def objects(self) -> int:
        """All objects that were read."""
        by_kind = (self.pods, self.schema_only, self.rules_only, self.unknown)
        return self.ruled + sum(kinds.total() for kinds in by_kind)

    @property
    def whole(self) -> bool:
        """Whether all objects were judged."""
        return not (self.rules_only or self.unknown or self.strange or self.passed_over)

    def lines(self, *, findings: bool) -> list[str]:
        """The summary: ``findings`` says whether there are any."""
        lines = [self._headline(findings)]
        left_out = []
        if self.unknown:
            left_out.append(f"{_counted(self.unknown)} (no schema, no rule)")
        if self.rules_only:
            left_out.append(f"the fields of {_counted(self.rules_only)} (no schema of it)")
        if self.strange:
            left_out.append(f"{_counted(self.strange)} (no structure, no rule)")
        left_out += self.passed_over
        if self.placeholders:
            left_out.append(self._filled_in_later())
        if left_out:
            lines.append(f"not judged: {'; '.join(left_out)}")
        if self.reach.partly:
            lines.append(f"known in part: {self._partly()}")
        idle = self.reach.without()
        if self.objects and idle:
            rules = numbered(idle.total(), "rule")
            lines.append(f"{rules} had nothing to look at: no {_listed(idle)}")
        if self.elsewhere:
            lines.append(f"must exist elsewhere: {said(self.elsewhere)}")
        if self.not_read:
            lines.append(f"not read: {'; '.join(self.not_read)}")
        if self.alternatives:
            lines.append(
                f"{numbered(self.alternatives, 'file')} with objects that other files have too: "
                "each was judged apart, as one of several to choose from"
            )
        return lines

    def _filled_in_later(self) -> str:
        """The values that nobody knows yet; the rest of their objects is judged."""
        values = numbered(self.placeholders.total(), "value")
        names = [name for name, _ in self.placeholders.most_common(_PATHS)]
        more = ", …" if len(self.placeholders) > _PATHS else ""
        return f"{values} to be filled in ({', '.join(names)}{more})"

    def _partly(self) -> str:
        """The jobs that rules see only in part, by what is missing."""
        reasons = Counter(self.reach.partly.values())
        return ", ".join(
            f"{numbered(count, 'job')} {reason}" for reason, count in reasons.most_common()
        )

    def _headline(self, findings: bool) -> str:
        line = f"{self._read()}: {self._judged()}"
        if findings:
            return line
        if self.whole:
            return f"clean: {line}"
        return f"nothing found in what was judged: {line}"

    def _read(self) -> str:
        parts = []
        if self.kustomizations:
            parts.append(numbered(self.kustomizations, "kustomization"))
        for name, count in self.alone.items():
            parts.append(numbered(count, name))
        if self.objects or not parts:
            parts.insert(0, numbered(self.objects, "object"))
        files = numbered(self.files, "file")
        return f"{_joined(parts)} in {files}"

    def _judged(self) -> str:
        parts = []
        if self.ruled:
            rules = numbered(self.rules, "rule")
            parts.append(f"{self.ruled} by schema and {rules}")
        if self.pods:
            rules = numbered(self.pod_rules, "rule")
            count = self.pods.total()
            kinds = _counted(self.pods)
            parts.append(f"{count} by schema and {rules} on pods ({kinds})")
        if self.schema_only:
            kinds = _counted(self.schema_only)
            count = self.schema_only.total()
            parts.append(f"{count} by schema only ({kinds})")
        if self.rules_only:
            parts.append(f"{self.rules_only.total()} by rules alone")
        if self.resources:
            resources = numbered(self.resources.total(), "resource")
            rules = numbered(self.resource_rules, "rule")
            parts.append(f"{resources} by structure and {rules}")
        return ", ".join(parts) or "none judged"


def covered(
    reading: Reading,
    objects: Iterable[LintObject],
    patches: int,
    ruled: Collection[str],
    pods: Collection[str],
    generated: Collection[Made] = (),
) -> Coverage:
    """How the objects of a reading were judged. ``ruled`` and ``pods`` are the kinds, as ``group/Kind``, that rules
    read, and those of which they read just the pods; ``generated`` is what kustomizations make."""
    coverage = Coverage(
        files=len(reading.files),
        kustomizations=len(reading.kustomizations),
        passed_over=tuple(_passed_over(reading, patches)),
        not_read=tuple(_not_read(reading)),
    )
    objects = list(objects)
    coverage.elsewhere = elsewhere(objects, generated)
    coverage.placeholders.update(reading.left_out)
    # Of a file with thousands of objects the text is searched once.
    texts = {item.text.file.name: item.text.file.text for item in objects}
    marked = {name for name, text in texts.items() if may_have_placeholders(text)}
    for item in objects:
        if item.text.file.name in marked:
            coverage.placeholders.update(_placeholders(item.manifest.body))
    refs = [item.manifest.ref for item in objects]
    kinds = Counter((ref.api_version, ref.kind) for ref in refs)
    for (api_version, name), count in kinds.items():
        kind = f"{group_of(api_version)}/{name}"
        has_schema = bool(BUILTIN.find(api_version, name))
        if has_schema and kind in ruled:
            coverage.ruled += count
        elif has_schema and kind in pods:
            coverage.pods[name] += count
        elif has_schema:
            coverage.schema_only[name] += count
        elif kind in ruled or kind in pods:
            coverage.rules_only[f"{name} in {api_version[:_SHOWN_OF_VERSION]}"] += count
        else:
            coverage.unknown[name] += count
    for template in reading.alone:
        form = format_of(template.artifact.format)
        coverage.alone[kind_of_format(template.artifact.format).lower()] += 1
        for resource, known in form.parts(template.artifact):
            if known:
                counts = coverage.resources
            else:
                counts = coverage.strange
            counts[resource] += 1
    return coverage


# What a shell or a program reads, where `$HOME` is no placeholder.
_OF_PROGRAMS = frozenset(
    {
        "annotations",
        "args",
        "binaryData",
        "command",
        "data",
        "description",
        "entrypoint",
        "env",
        "overrideBootstrapCommand",
        "preBootstrapCommands",
        "stringData",
        "userData",
    }
)


def _as_written(name: str) -> str:
    """A placeholder as its file has it, of the name of the same length that was read in its place."""
    if name.strip("_") == "$":
        return "{{ … }}"
    if name.endswith("__"):
        return f"${{{name[1:].rstrip('_')}}}"
    return name


_DIRECTIVES = frozenset({"$patch", "$retainKeys", "$setElementOrder", "$deleteFromPrimitiveList"})
"""Of patches (Kubernetes, strategic merge patch): Flux takes patches as texts."""


def _placeholders(value: Any) -> Iterator[str]:
    """What is filled in later, in the values of an object that only Kubernetes reads."""
    if isinstance(value, str):
        for written in placeholders(value):
            if written not in _DIRECTIVES:
                yield _as_written(written)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in _OF_PROGRAMS:
                yield from _placeholders(item)
    elif isinstance(value, list):
        for item in value:
            yield from _placeholders(item)


def _passed_over(reading: Reading, patches: int) -> Iterable[str]:
    if patches:
        yield f"{numbered(patches, 'patch', 'patches')} of kustomize"
    if reading.templates:
        yield numbered(reading.templates, "template")
    if reading.broken:
        paths = ", ".join(reading.broken[:_PATHS])
        if len(reading.broken) > _PATHS:
            more = " and more"
        else:
            more = ""
        yield f"what is no YAML in {paths}{more}"
    if reading.specs:
        yield f"{numbered(reading.specs, 'spec')} of Trainyard (`trainyard check` judges them)"


def _not_read(reading: Reading) -> Iterable[str]:
    if reading.others:
        yield f"{numbered(reading.others, 'file')} of YAML or JSON without `apiVersion` and `kind`"
    if reading.kindless:
        yield f"{numbered(reading.kindless, 'document')} without `kind` that no `metadata` or `spec` makes an object"
    if reading.observed:
        yield f"{numbered(reading.observed, 'document')} with a `status` and no `spec`"
    if reading.formats:
        files = numbered(reading.formats.total(), "file")
        yield f"{files} of other formats ({_counted(reading.formats)})"


def _joined(parts: Sequence[str]) -> str:
    """As a list in a sentence."""
    *first, last = parts
    if not first:
        return last
    return f"{', '.join(first)} and {last}"


def _counted(counts: Counter[str]) -> str:
    """Counts in words, the most frequent first."""
    by_name = sorted(counts.items())
    by_count = sorted(by_name, key=lambda entry: entry[1], reverse=True)
    most = by_count[:_SHOWN]
    shown = ", ".join(f"{count} {name}" for name, count in most)
    more = len(counts) - len(most)
    if more:
        return f"{shown} and {more} more"
    return shown


def _listed(idle: Counter[str]) -> str:
    """What rules looked for in vain, each with their number, the most frequent first."""
    most = idle.most_common(_SHOWN)
    shown = ", ".join(f"{name} ({count})" for name, count in most)
    more = len(idle) - len(most)
    return f"{shown} and {more} more" if more else shown
