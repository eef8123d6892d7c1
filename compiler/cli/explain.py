"""``explain``: pages of codes, and values with their reasons."""

from __future__ import annotations

import re
from collections.abc import Sequence

from compiler.cli.streams import UsageError
from compiler.diagnostics.pages import load_pages
from compiler.driver import Compilation, Options, check
from compiler.policy.load import load_rules
from compiler.resolve.context import near_help

_CODE = re.compile(r"[A-Z]{2,4}\d{3}\Z")


def explain_code(subject: str, options: Options) -> str | None:
    """The page of a code or slug; ``None`` if it is neither."""
    pages = load_pages()
    for page in pages.values():
        if subject in (page.code, page.slug):
            return f"{page.code} {page.slug}\n\n{page.text}\n"
    rules, _ = load_rules(options.policies)
    for rule in rules:
        if subject in (rule.code, rule.slug):
            return f"{rule.code} {rule.slug} ({rule.severity})\n\n{_dedented(rule.doc)}\n"
    if _CODE.match(subject):
        known = [*pages, *(rule.code for rule in rules)]
        raise UsageError(f"there is no code `{subject}`: {near_help(subject, known, 'code')}")
    return None


def _dedented(doc: str) -> str:
    import inspect

    return inspect.cleandoc(doc)


def explain_object(subject: str, field: str, paths: Sequence[str], options: Options) -> str:
    """Every value of an object that nobody wrote, with its reason and source."""
    done = check(paths, options)
    parts = [text for each in done.compilations if (text := _explained(each, subject, field))]
    if not parts:
        if any(each.plan is None for each in done.compilations) or not done.compilations:
            raise UsageError("the specs have faults: `trainyard check` tells them")
        raise UsageError(_unknown(subject, field, done.compilations))
    return "\n".join(parts)


def _unknown(subject: str, field: str, compilations: Sequence[Compilation]) -> str:
    known = {each.object for done in compilations if done.plan for each in done.plan.derived}
    known |= {str(each.ref) for done in compilations for each in done.manifests}
    if subject in known:
        return f"nothing is known of field `{field}` of `{subject}`"
    if "/" not in subject:
        known |= {page.slug for page in load_pages().values()}
    return f"there is no code or object `{subject}`: {near_help(subject, sorted(known), 'object')}"


def _explained(done: Compilation, subject: str, field: str) -> str:
    if done.plan is None:
        return ""
    rows = [(each.field, each.value, each.reason, each.source) for each in done.plan.derived
            if each.object == subject and each.field.startswith(field)]
    if rows:
        return f"{subject} in {done.name}\n{_lines(rows)}"
    return _placed(done, subject, field)


def _placed(done: Compilation, subject: str, field: str) -> str:
    """A rendered object: the line of the spec behind it and behind each of its fields."""
    manifest = next((each for each in done.manifests if str(each.ref) == subject), None)
    if manifest is None:
        return ""
    from compiler.source import Route

    found = [("", done.document.span(manifest.at))]
    found += [(str(Route(path)), done.document.span(route)) for path, route in manifest.origins.items()]
    lines = [f"  {name or 'object'}: {span}" for name, span in found if name.startswith(field)]
    return f"{subject} in {done.name}, {manifest.path}\n" + "\n".join(lines) + "\n" if lines else ""


def _lines(rows: Sequence[tuple[str, str, str, str]]) -> str:
    width = max(len(name) for name, *_ in rows)
    lines = []
    for name, value, reason, source in rows:
        lines.append(f"  {name.ljust(width)}  {value}")
        lines.append(f"  {' ' * width}    {reason}{f' [{source}]' if source else ''}")
    return "\n".join(lines) + "\n"
