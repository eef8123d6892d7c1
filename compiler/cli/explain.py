"""``explain``: pages of codes, and values with their reasons."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence

from compiler.cli.streams import UsageError
from compiler.diagnostics.diagnostic import listed
from compiler.diagnostics.near import meant, near
from compiler.diagnostics.pages import load_pages
from compiler.driver import check
from compiler.outcome import Compilation, Options
from compiler.policy.interface import describe
from compiler.policy.load import load_rules
from compiler.policy.rule import Rule
from compiler.resolve.context import near_help
from compiler.source import Route
from compiler.source.tree import SequenceNode

OFF = " (off by default)"
_CODE = re.compile(r"[A-Z]{2,4}\d{3}\Z")


def all_codes(options: Options) -> list[tuple[str, str, str]]:
    """Code, name and first sentence of every page: of the compiler's own codes and of all rules."""
    pages = [(page.code, page.slug, page.title) for page in load_pages().values()]
    rules = [
        (rule.code, rule.slug, f"{rule.title}{'' if rule.enabled else OFF}")
        for rule in load_rules(options.policies)[0]
    ]
    return sorted([*pages, *rules])


def explain_code(subject: str, options: Options) -> str | None:
    """The page of a code (in letters of any case), of a slug, or of a class that rules meet; else ``None``."""
    interface = describe(subject)
    if interface is not None:
        return interface
    rules, _ = load_rules(options.policies)
    former = {alias: rule.slug for rule in rules for alias in rule.aliases}
    pages = [(page.code, page.slug, "", page.text) for page in load_pages().values()]
    pages += [
        (rule.code, rule.slug, _level(rule), inspect.cleandoc(rule.doc))
        for rule in rules
    ]
    slugs = (subject, former.get(subject))
    shown = [page for page in pages if page[0] == subject.upper() or page[1] in slugs]
    if shown:
        return "\n".join(
            f"{code} {slug}{level}\n\n{text}\n" for code, slug, level, text in shown
        )
    if _CODE.match(subject.upper()):
        raise UsageError(
            f"there is no code `{subject}`: "
            f"{meant(subject, [each[0] for each in pages]) or '`trainyard explain` lists all'}"
        )
    return None


def _level(rule: Rule) -> str:
    """The level of a rule unless the user sets one, behind its name."""
    if rule.enabled:
        return f" ({rule.severity})"
    return f"{OFF}\n\nTo enable it, set `{rule.code}: {rule.severity}` under `levels:` of `policies/policy.yaml`."


def explain_object(
    subject: str, field: str, paths: Sequence[str], options: Options
) -> str:
    """Every value of an object that nobody wrote, with its reason and source."""
    done = check(paths, options)
    parts = [
        text for each in done.compilations if (text := _explained(each, subject, field))
    ]
    if not parts:
        if not done.compilations:
            named = listed(paths)
            raise UsageError(
                f"no spec could be read in {named}, so nothing is known of `{subject}`: "
                "`--in` names specs, `trainyard check` reports their faults"
            )
        if any(each.plan is None for each in done.compilations):
            raise UsageError("the specs have faults: `trainyard check` reports them")
        slugs = [slug for _, slug, _ in all_codes(options)]
        raise UsageError(_unknown(subject, field, done.compilations, slugs))
    return "\n".join(parts)


def _unknown(
    subject: str, field: str, compilations: Sequence[Compilation], slugs: list[str]
) -> str:
    """Why there is nothing to show."""
    fields = sorted({name for done in compilations for name in _fields(done, subject)})
    if fields:
        inside = [
            name for name in fields if field in re.split(r"[.\[\]]+", name)
        ] or fields
        return f"nothing is known of field `{field}` of `{subject}`: {near_help(field, inside, 'field')}"
    written = {name for done in compilations for name in _written(done)}
    if subject in written:
        return f"nothing of `{subject}` is derived: the spec has all of it"
    derived = {
        each.object for done in compilations if done.plan for each in done.plan.derived
    }
    rendered = {str(each.ref) for done in compilations for each in done.artifacts}
    known = sorted(derived | written | rendered)
    close = near(subject, known if "/" in subject else [*slugs, *known], limit=1)
    return f"there is no code or object `{subject}`: {near_help(subject, close or sorted(derived | written), 'object')}"


def _written(done: Compilation) -> Iterator[str]:
    """The jobs, pools and queues of a spec, as they are asked for."""
    spec = done.document.root.child("spec")
    for kind, key in (("job", "jobs"), ("pool", "nodePools"), ("queue", "queues")):
        items = spec.child(key) if spec is not None else None
        for item in items.items if isinstance(items, SequenceNode) else ():
            if (name := item.child("name")) is not None:
                yield f"{kind}/{name.to_python()}"


def _fields(done: Compilation, subject: str) -> Iterator[str]:
    """The fields of an object of which something is known."""
    if done.plan is not None:
        yield from (each.field for each in done.plan.derived if each.object == subject)
    for artifact in done.artifacts:
        if str(artifact.ref) == subject:
            yield from (str(Route(path)) for path in artifact.places())


def _within(name: str, field: str) -> bool:
    """Whether a field is the one asked for, or below it."""
    field = field.rstrip(".")
    return not field or name == field or name.startswith((f"{field}.", f"{field}["))


def _explained(done: Compilation, subject: str, field: str) -> str:
    if done.plan is None:
        return ""
    rows = [
        (
            each.field,
            each.value,
            each.reason,
            str(done.document.span(each.at)) if each.at else each.origin,
        )
        for each in done.plan.derived
        if each.object == subject and _within(each.field, field)
    ]
    if rows:
        return f"{subject} in {done.name}\n{_lines(rows)}"
    return _placed(done, subject, field)


def _placed(done: Compilation, subject: str, field: str) -> str:
    """What is written: the line of the spec behind it and behind each of its fields."""
    artifact = next((each for each in done.artifacts if str(each.ref) == subject), None)
    if artifact is None:
        return ""
    found = [("", done.document.span(artifact.at))]
    found += [
        (str(Route(path)), done.document.span(route))
        for path, route in artifact.places().items()
    ]
    lines = [
        f"  {name or 'object'}: {span}" for name, span in found if _within(name, field)
    ]
    return (
        f"{subject} in {done.name}, {artifact.path}\n" + "\n".join(lines) + "\n"
        if lines
        else ""
    )


def _lines(rows: Sequence[tuple[str, str, str, str]]) -> str:
    width = max(len(name) for name, *_ in rows)
    lines = []
    for name, value, reason, source in rows:
        lines.append(f"  {name.ljust(width)}  {value}")
        lines.append(f"  {' ' * width}    {reason}{f' [{source}]' if source else ''}")
    return "\n".join(lines) + "\n"
