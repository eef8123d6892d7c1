"""``explain``: pages of codes, and values with their reasons."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard.cli.streams import UsageError
from trainyard.cli.subjects import readable
from trainyard.judge.policy.interface import describe
from trainyard.judge.policy.load import load_rules
from trainyard.judge.policy.rule import Rule
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.diagnostics.near import name_meant, near
from trainyard.language.diagnostics.pages import Page, load_pages
from trainyard.language.places import Route
from trainyard.language.places.tree import ScalarNode, SequenceNode
from trainyard.output.body import value_at, walk_values
from trainyard.plan import Derived
from trainyard.plan.context import near_help
from trainyard.run.examples.pages import page
from trainyard.run.outcome import Compilation, Options

OFF = " (off by default)"
_CODE = re.compile(r"[A-Z]{2,4}\d{3}\Z")
_PREFIX = re.compile(r"[A-Z]{2,4}\d{0,2}\Z")
_STEPS = re.compile(r"[.\[\]]+")
_LISTS = (
    ("job", "jobs"),
    ("pool", "nodePools"),
    ("queue", "queues"),
    ("storage", "storage"),
    ("image", "images"),
    ("namespace", "namespaces"),
    ("cohort", "cohorts"),
    ("priority", "priorities"),
    ("secret", "secrets"),
)
"""What a spec gives names to: how it is asked for, and the key of the list."""


def all_codes(options: Options) -> list[tuple[str, str, str]]:
    """Code, name and first sentence of every page: of the compiler's own codes and of all rules."""
    pages = load_pages().values()
    rows = [(page.code, page.slug, page.title) for page in pages]
    rules, _ = load_rules(options.policies)
    for rule in rules:
        title = rule.title
        if not rule.enabled:
            title += OFF
        rows.append((rule.code, rule.slug, title))
    return sorted(rows)


def codes_that_begin(prefix: str, options: Options) -> list[tuple[str, str, str]]:
    """The codes of an area (`PLC`), or of a part of it (`PLC03`), in letters of any case."""
    if not _PREFIX.match(prefix.upper()):
        return []
    return [row for row in all_codes(options) if row[0].startswith(prefix.upper())]


def explain_code(subject: str, options: Options) -> str | None:
    """The page of a code (in letters of any case), of a slug, or of a class that rules meet; else ``None``."""
    interface = describe(subject)
    if interface is not None:
        return interface
    rules, _ = load_rules(options.policies)
    former: dict[str, str] = {}
    pages: list[Page | Rule] = [*load_pages().values(), *rules]
    for rule in rules:
        former |= dict.fromkeys(rule.aliases, rule.slug)
    slugs = (subject, former.get(subject))
    shown = [_page(each) for each in pages if each.code == subject.upper() or each.slug in slugs]
    if shown:
        return "\n".join(shown)
    if _CODE.match(subject.upper()):
        codes = [each.code for each in pages]
        hint = name_meant(subject, codes) or "`trainyard explain` lists all"
        raise UsageError(f"there is no code `{subject}`: {hint}")
    return None


def _page(each: Page | Rule) -> str:
    """The page of a code of the compiler's own, or of a rule."""
    if isinstance(each, Page):
        return f"{each.code} {each.slug}\n\n{each.text}\n"
    return f"{each.code} {each.slug}{_level(each)}\n\n{page(each)}\n"


def _level(rule: Rule) -> str:
    """The level of a rule unless the user sets one, behind its name."""
    if rule.enabled:
        return f" ({rule.severity})" + _scope(rule)
    return (
        _scope(rule)
        + f"{OFF}\n\nTo enable it, set `{rule.code}: {rule.severity}` under `levels:` of `policies/policy.yaml`."
    )


def _scope(rule: Rule) -> str:
    """Why a rule does not judge jobs of other platforms, where it does not."""
    return f"\n\nIn Kubernetes alone: {rule.kubernetes}." if rule.kubernetes else ""


def explain_object(subject: str, field: str, paths: Sequence[str], options: Options) -> str:
    """Every value of an object that nobody wrote, with its reason and source."""
    done = readable(paths, options)
    texts = [_explain_in(compilation, subject, field) for compilation in done.compilations]
    if any(texts):
        return "\n".join(text for text in texts if text)
    if not done.compilations:
        raise UsageError(
            f"no spec could be read in {listed(paths)}, so nothing is known of `{subject}`: "
            "`--in` names specs, `trainyard check` reports their faults"
        )
    for compilation in done.compilations:
        if compilation.plan is None:
            raise UsageError("the specs have faults: `trainyard check` reports them")
    slugs = [slug for _, slug, _ in all_codes(options)]
    raise UsageError(_unknown(subject, field, done.compilations, slugs))


def object_names(paths: Sequence[str], options: Options) -> list[str]:
    """What `explain` can be asked about in the specs, by the names that the specs give it."""
    done = readable(paths, options)
    names: set[str] = set()
    for compilation in done.compilations:
        names.update(_spec_objects(compilation))
        names.update(value.object for value in _derived_values(compilation))
    return sorted(names)


def _unknown(
    subject: str, field: str, compilations: Sequence[Compilation], slugs: list[str]
) -> str:
    """Why there is nothing to show."""
    fields: set[str] = set()
    written: set[str] = set()
    known: set[str] = set()
    named: set[str] = set()
    for done in compilations:
        fields.update(_fields(done, subject))
        written.update(_spec_objects(done))
        derived = {value.object for value in _derived_values(done)}
        named |= derived
        known |= derived
        known.update(str(artifact.ref) for artifact in done.artifacts)
    if fields:
        close = [name for name in fields if field in _STEPS.split(name)]
        hint = near_help(field, sorted(close or fields), "field")
        return f"nothing is known of field `{field}` of `{subject}`: {hint}"
    if subject in written:
        places = [place for done in compilations for place in _said(done, subject, field)]
        words = f"no value of `{subject}` is derived: the spec sets all of them"
        return ", ".join((words, *places))
    candidates = sorted(known | written)
    if "/" not in subject:
        candidates = [*slugs, *candidates]
    close = near(subject, candidates, limit=1)
    close = close or sorted(named | written)
    hint = near_help(subject, close, "object")
    return f"there is no code or object `{subject}`: {hint}"


def _derived_values(done: Compilation) -> Sequence[Derived]:
    if done.plan is not None:
        return done.plan.derived
    return ()


def _spec_objects(done: Compilation) -> dict[str, Route]:
    """What a spec gives a name to, as it is asked for, with its place there."""
    found: dict[str, Route] = {}
    spec = done.document.root.child("spec")
    if spec is None:
        return found
    for kind, key in _LISTS:
        items = spec.child(key)
        if not isinstance(items, SequenceNode):
            continue
        for index, item in enumerate(items.items):
            name = item.child("name")
            if isinstance(name, ScalarNode):
                found[f"{kind}/{name.to_python()}"] = Route(("spec", key, index))
    return found


def _said(done: Compilation, subject: str, field: str) -> Iterator[str]:
    """What the spec says of a field of an object, each with its place."""
    at = _spec_objects(done).get(subject)
    if at is None or not field:
        return
    spec = done.document.root.to_python()
    for path, value in walk_values(value_at(spec, *at)):
        if path and path[-1] == field and not isinstance(value, (dict, list)):
            span = done.document.span(at / path)
            yield f"`{field}` is `{value}` at {span.file.name}:{span.line}:{span.column}"


def _fields(done: Compilation, subject: str) -> Iterator[str]:
    """The fields of an object of which something is known."""
    for derived in _derived_values(done):
        if derived.object == subject:
            yield derived.field
    for artifact in done.artifacts:
        if str(artifact.ref) == subject:
            for path in artifact.places():
                yield str(Route(path))


def _is_within(name: str, field: str) -> bool:
    """Whether a field is the one asked for, or below it."""
    field = field.rstrip(".")
    if field in ("", name):
        return True
    return name.startswith((f"{field}.", f"{field}["))


def _explain_in(done: Compilation, subject: str, field: str) -> str:
    """What is known of an object of a cluster; empty where it has none of this name."""
    rows = []
    for derived in _derived_values(done):
        if derived.object != subject:
            continue
        if not _is_within(derived.field, field):
            continue
        source = derived.origin
        if derived.at:
            source = str(done.document.span(derived.at))
        rows.append((derived.field, derived.value, derived.reason, source))
    if rows:
        lines = _lines(rows)
        return f"{subject} in {done.name}\n{lines}"
    return _explain_places(done, subject, field) or _explain_written(done, subject, field)


def _explain_places(done: Compilation, subject: str, field: str) -> str:
    """What is written: the line of the spec behind it and behind each of its fields."""
    for artifact in done.artifacts:
        if str(artifact.ref) == subject:
            break
    else:
        return ""
    places = {"": artifact.at}
    for path, at in artifact.places().items():
        places[str(Route(path))] = at
    lines = []
    for name, at in places.items():
        if _is_within(name, field):
            span = done.document.span(at)
            lines.append(f"  {name or 'object'}: {span}\n")
    if not lines:
        return ""
    text = "".join(lines)
    return f"{subject} in {done.name}, {artifact.path}\n{text}"


def _explain_written(done: Compilation, subject: str, field: str) -> str:
    """What is written for a thing of the spec of which no value is derived."""
    at = _spec_objects(done).get(subject)
    if at is None or field:
        return ""
    made = [each for each in done.artifacts if each.at[: len(at)] == at]
    if not made:
        return ""
    lines = "".join(f"  {each.ref}: {each.path}\n" for each in made)
    return f"{subject} in {done.name}, {done.document.span(at)}, from which no value is derived\n{lines}"


def _lines(rows: Sequence[tuple[str, str, str, str]]) -> str:
    width = max(len(name) for name, *_ in rows)
    indent = " " * width
    lines = []
    for name, value, reason, source in rows:
        cited = f" [{source}]" if source else ""
        padded = name.ljust(width)
        lines.append(f"  {padded}  {value}\n")
        lines.append(f"  {indent}    {reason}{cited}\n")
    return "".join(lines)
