"""Loading rules: the built-in folder and the adopter's, Python and YAML."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, redirect_stdout
from functools import cache
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

from compiler.diagnostics import Diagnostic, Severity
from compiler.diagnostics.diagnostic import error
from compiler.policy.rule import Rule, is_code
from compiler.source import SourceFile, Span
from compiler.source.read import is_yaml, read

SETTINGS = ("policy.yaml", "exceptions.yaml")
BUILTIN = ("placement", "efa", "limits", "queues", "health", "run", "access")
"""Folders of the built-in rules; everything else in a policies' folder is the adopter's own."""
_PACKAGE = Path(__file__).resolve().parent.parent


def builtin_folder() -> Path:
    """Where the built-in rules are: inside the installed package, or ``policies/`` of the repository."""
    inside = _PACKAGE / "_policies"
    return inside if inside.is_dir() else _PACKAGE.parent / "policies"


def load_rules(
    folder: Path | None, builtin: Path | None = None
) -> tuple[tuple[Rule, ...], list[Diagnostic]]:
    """All rules by code: the built-in ones, and those of a folder (any depth, ``*.py`` and ``*.yaml``).

    ``folder`` may be the built-in folder itself, or hold unchanged copies of its files: they count once. A file
    that cannot be loaded is a diagnostic at its line, and the other rules are loaded all the same.
    """
    base = builtin if builtin is not None else builtin_folder()
    own, faults = _builtin(base)
    found = list(faults)
    rules = {each.code: each for each in own}
    if folder is not None and folder.is_dir():
        reserved = {each.area for each in own}
        for path in _files(
            folder, () if folder.resolve() != base.resolve() else BUILTIN
        ):
            if not path.is_file():
                found += read(path)[
                    1
                ]  # a pipe, a device, a link to nowhere: to open it could wait for ever
                continue
            if (
                _same(path, base / path.relative_to(folder))
                and path.relative_to(folder).parts[0] in BUILTIN
            ):
                continue
            for each in _load(path, found):
                fault = _refusal(each, path, rules, reserved)
                if fault is not None:
                    found.append(fault)
                else:
                    rules[each.code] = each
    return tuple(rules[code] for code in sorted(rules)), found


@cache
def _builtin(base: Path) -> tuple[tuple[Rule, ...], tuple[Diagnostic, ...]]:
    """The rules of the built-in areas."""
    found: list[Diagnostic] = []
    rules = [
        rule
        for area in BUILTIN
        for path in _files(base / area)
        for rule in _load(path, found)
    ]
    return tuple(rules), tuple(found)


def _files(folder: Path, without: tuple[str, ...] = ()) -> Iterator[Path]:
    for root, folders, names in os.walk(folder, onerror=_refuse):
        top = Path(root) == folder
        skipped = without if top else ()
        folders[:] = sorted(
            each
            for each in folders
            if not each.startswith((".", "_")) and each not in skipped
        )
        for name in sorted(names):
            if _is_rule(name) and not (top and name in SETTINGS):
                yield Path(root, name)


def _refuse(fault: OSError) -> None:
    """A folder that cannot be read may hold any rule, so that none can be said to pass."""
    raise fault


def _is_rule(name: str) -> bool:
    if name.endswith(".py"):
        return not name.startswith(("_", "test_"))
    return is_yaml(name)


def _same(path: Path, other: Path) -> bool:
    return other.is_file() and path.read_bytes() == other.read_bytes()


def _rules_in(path: Path) -> list[Rule]:
    """The rules of a Python file. Bytecode is cached beside it, as for any import."""
    name = f"trainyard_policies.{path.parent.name}.{path.stem}"
    code = SourceFileLoader(name, str(path)).get_code(name)
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    with quiet():
        exec(code, module.__dict__)  # type: ignore[arg-type]  # noqa: S102  # the point of the exercise
    marked = (
        getattr(each, "rule", None)
        for each in list(vars(module).values())
        if callable(each)
    )
    return [
        each
        for each in marked
        if isinstance(each, Rule) and each.check.__module__ == name
    ]


def _load(path: Path, found: list[Diagnostic]) -> Iterable[Rule]:
    if path.suffix != ".py":
        from compiler.policy.schema_rule import load_schema_rules

        return load_schema_rules(path, found)
    try:
        rules = _rules_in(path)
    except SyntaxError as fault:
        found.append(
            error(
                "POL010",
                f"`{path}` is not Python: {fault.msg}",
                span=line_of(path, fault.lineno or 1),
                help="correct the line",
            )
        )
        return ()
    except BaseException as fault:  # `sys.exit` too: it must not end the run
        if isinstance(fault, KeyboardInterrupt):
            raise
        found.append(
            error(
                "POL010",
                f"`{path}` cannot be loaded: {words(fault)}",
                span=line_of(path, _failing_line(fault, path)),
                help="correct the line",
            )
        )
        return ()
    if not rules:
        found.append(
            error(
                "POL010",
                f"`{path}` has no rule",
                span=line_of(path, 1),
                help="mark a generator function with `@rule`, or move the file out of the policies' folder",
            )
        )
    return rules


def quiet() -> AbstractContextManager[object]:
    """What rules print goes to standard error: standard output belongs to the findings, which may be JSON."""
    return redirect_stdout(sys.stderr)


def words(fault: BaseException) -> str:
    """What somebody's program raised, in one line."""
    try:
        text = " ".join(str(fault).split())
    except Exception:  # its own `__str__` may be at fault
        text = ""
    return f"{type(fault).__name__}: {text}" if text else type(fault).__name__


def _failing_line(fault: BaseException, path: Path) -> int:
    lines, trace = [1], fault.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return lines[-1]


def line_of(path: Path, number: int) -> Span:
    file = SourceFile(str(path), path.read_text(encoding="utf-8", errors="replace"))
    text = file.line(number)
    start = len(text) - len(text.lstrip()) + 1
    return Span(file, number, start, number, max(len(text.rstrip()) + 1, start))


def _refusal(
    each: Rule, path: Path, rules: dict[str, Rule], reserved: set[str]
) -> Diagnostic | None:
    """Why a user's rule is not taken."""
    python = path.suffix == ".py"
    span = line_of(path, each.check.__code__.co_firstlineno if python else 1)
    if python and (wrong := _malformed(each)):
        return error(
            "POL010",
            f"rule `{each.code}`: {wrong}",
            span=span,
            help="correct the arguments of `@rule`",
        )
    if each.area in reserved or each.area in FIXED_AREAS:
        return error(
            "POL009",
            f"code `{each.code}`: area `{each.area}` belongs to the built-in rules",
            span=span,
            help="give your own rules an area of their own, like `ORG001`",
        )
    if each.code in rules:
        return error(
            "POL012",
            f"code `{each.code}` is taken by `{rules[each.code].slug}`",
            span=span,
            help="give each rule a code of its own",
        )
    if python and not (each.fails and each.passes):
        return error(
            "POL011",
            f"rule `{each.code}` has no examples",
            span=span,
            help="end its docstring with `## Fails` and `## Passes`, each with an indented YAML example",
        )
    return _without_objects(each, span) if python else None


def _malformed(rule: Rule) -> str:
    """What is wrong with the arguments of a user's ``@rule``."""
    if not is_code(rule.code):
        return "a code is 2 to 4 capitals and 3 digits, like `ORG001`"
    if not isinstance(rule.severity, Severity):
        return "`severity` is not a `Severity`, like `Severity.WARNING`"
    if not isinstance(rule.params, Mapping):
        return "`params` is not a mapping of names to defaults"
    if not isinstance(rule.kinds, tuple) or not all(
        isinstance(each, str) for each in rule.kinds
    ):
        return '`kinds` is not a tuple, like `("batch/Job",)`'
    return ""


def _without_objects(rule: Rule, span: Span) -> Diagnostic | None:
    """The fault of a rule on a kind that there certainly is not: it finds nothing, and looks like one that passes."""
    from compiler.verify.kinds import meant  # only for users' rules

    for kind in rule.kinds:
        group, slash, name = kind.partition("/")
        if not slash or "/" in name:
            return error(
                "POL016",
                f"no object ever matches `{kind}`",
                span=span,
                help="write a kind as `group/Kind`, without version; `/Pod` for the kinds of the core",
            )
        right = meant(f"{group}/{_ANY_VERSION}" if group else "v1", name)
        if right is not None:
            expected = f"{right[0].rpartition('/')[0]}/{right[1]}"
            return error(
                "POL016",
                f"no object ever matches `{kind}`",
                span=span,
                help=f"write `{expected}`",
            )
    return None


_ANY_VERSION = (
    "v999"  # newer than all that are known, so that only group and kind are judged
)


FIXED_AREAS = frozenset(
    (
        "YML",
        "SPC",
        "RES",
        "SCH",
        "REF",
        "NAM",
        "OUT",
        "LFT",
        "LNT",
        "CAT",
        "POL",
        "INT",
        "CHG",
    )
)
"""Areas of the compiler's own codes: what they report is wrong by fact, so no level can be set for them."""
