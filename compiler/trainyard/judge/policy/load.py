"""Loading rules: the built-in folder and the adopter's, Python and YAML."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, redirect_stdout
from functools import cache
from pathlib import Path

from trainyard.disk import inputs
from trainyard.disk.cache import builtin_policies
from trainyard.judge.policy.code import may_read, run_module
from trainyard.judge.policy.documents import read_documents
from trainyard.judge.policy.rule import Rule, is_code, is_texts
from trainyard.language.diagnostics import Diagnostic, Severity
from trainyard.language.diagnostics.diagnostic import error
from trainyard.language.places import Document, Route, SourceFile, Span
from trainyard.language.source.read import is_yaml, read
from trainyard.output.manifest import group_of
from trainyard.plan.features import members_of_extensions
from trainyard.plan.shipped import RULES, lacking

SETTINGS = ("policy.yaml", "exceptions.yaml")
OWN_FOLDER = "org"
"""The adopter's folder among the built-in ones, in repositories made from the template."""
BUILTIN_AREAS = frozenset(("ACC", "EFA", "HLT", "LIM", "PLC", "QUE", "RUN", "SLM"))
"""Areas of the codes of the built-in rules. A rule of any other area is the adopter's own, in whatever folder."""

Walk = Callable[..., Iterator[tuple[str, list[str], list[str]]]]


def builtin_folder() -> Path:
    """Where the built-in rules are: inside the installed package, or ``policies/`` of the repository."""
    return Path(builtin_policies())


def load_rules(
    folder: Path | None, builtin: Path | None = None
) -> tuple[tuple[Rule, ...], list[Diagnostic]]:
    """All rules by code: the built-in ones, and those of a folder (any depth, ``*.py`` and ``*.yaml``).

    ``folder`` may be the built-in folder itself, or hold unchanged copies of its files: they count once. A file
    that cannot be loaded is a diagnostic at its line, and the other rules are loaded all the same.
    """
    if builtin is not None:
        base = builtin
    else:
        base = builtin_folder()
    loaded, unloaded = _builtin(base)
    faults = list(unloaded)
    rules: dict[str, Rule] = {}
    others: list[Rule] = []
    for rule in loaded:
        if rule.area in BUILTIN_AREAS and rule.code not in rules:
            rules[rule.code] = rule
        else:
            others.append(rule)
    own: list[Rule] = []
    if folder is not None and inputs.is_folder(folder):
        if _is_same_folder(folder, base):
            own += others
        own += _own(folder, base, faults)
    for rule in own:
        refusal = _refusal(rule, rules)
        if refusal is not None:
            faults.append(refusal)
        else:
            rules[rule.code] = rule
    by_code = tuple(rules[code] for code in sorted(rules))
    return by_code, faults


def is_builtin(rule: Rule) -> bool:
    """Whether a rule came with Trainyard, rather than being the adopter's: by its code and by where it lies."""
    if rule.area not in BUILTIN_AREAS:
        return False
    folder = builtin_folder()
    file = Path(rule.file)
    if not file.is_relative_to(folder):
        return False
    return _is_builtin_place(file.relative_to(folder))


def _is_builtin_place(name: Path) -> bool:
    """Whether a file of the built-in folder, by its path in it, lies in a folder of rules and not in the adopter's."""
    folders = name.parts[:-1]
    return bool(folders) and folders[0] != OWN_FOLDER


def _is_same_folder(folder: Path, other: Path) -> bool:
    return inputs.real_path(folder) == os.path.realpath(other)


def _own(folder: Path, base: Path, faults: list[Diagnostic]) -> Iterator[Rule]:
    """The rules of an adopter's folder, without unchanged copies of built-in ones; faults are added to ``faults``."""
    if _is_same_folder(folder, base):
        files = _files(folder, _builtin_folders(base))
        paths = [Path(file) for file in files]
    else:
        paths = []
        for path in map(Path, _files(folder)):
            if not _is_copy(path, folder, base):
                paths.append(path)
    for path in paths:
        if inputs.is_file(path):
            _note(path)
            yield from _load(os.fspath(path), faults)
        else:
            # A pipe, a device, a link to nowhere: to open it could wait for ever.
            faults += read(path)[1]


def _note(path: Path) -> None:
    """Have a file of rules noted as read: Python reads its code from what it keeps of it."""
    if path.suffix != ".py":
        return
    try:
        source = inputs.read_bytes(path)
    except OSError:
        return  # which loading it reports
    if may_read(source):
        inputs.cannot_repeat()


def _is_copy(path: Path, folder: Path, base: Path) -> bool:
    """Whether a file is a built-in one as it came, in its place."""
    name = path.relative_to(folder)
    if not _is_builtin_place(name):
        return False
    return inputs.is_file(path) and _same(path, base / name)


@cache
def _builtin(base: Path) -> tuple[tuple[Rule, ...], tuple[Diagnostic, ...]]:
    """The rules of the built-in folders: all folders that are there but the adopter's."""
    faults: list[Diagnostic] = []
    rules: list[Rule] = []
    for name in _builtin_folders(base):
        for path in _files(base / name, walk=os.walk):
            rules += _load(path, faults, builtin=True)
    return tuple(rules), tuple(faults)


def _builtin_folders(base: Path) -> list[str]:
    with os.scandir(base) as entries:
        folders = [entry.name for entry in entries if entry.is_dir()]
    shown = [name for name in folders if _is_shown(name)]
    return sorted(name for name in shown if name != OWN_FOLDER)


def _is_shown(name: str) -> bool:
    return not name.startswith((".", "_"))


def _files(folder: Path, without: Collection[str] = (), walk: Walk = inputs.walk) -> Iterator[str]:
    """The files of rules in a folder, but not those in folders ``without`` at its top. ``walk``: how it is gone
    through; what belongs to the package need not be noted."""
    for root, folders, names in walk(os.fspath(folder), onerror=_refuse):
        is_top = root == str(folder)
        shown = filter(_is_shown, folders)
        skipped = without if is_top else ()
        folders[:] = sorted(name for name in shown if name not in skipped)
        for name in sorted(names):
            is_setting = is_top and name in SETTINGS
            if _is_rule(name) and not is_setting:
                yield os.path.join(root, name)


def _refuse(fault: OSError) -> None:
    """A folder that cannot be read may hold any rule, so no rule can be reported to pass."""
    raise fault


def _is_rule(name: str) -> bool:
    if name.endswith(".py"):
        return not name.startswith(("_", "test_"))
    return is_yaml(name)


def _same(path: Path, other: Path) -> bool:
    if not other.is_file():
        return False
    return inputs.read_bytes(path) == other.read_bytes()


def _rules_in(path: str) -> list[Rule]:
    """The rules of a Python file."""
    with quiet():
        names = run_module(path)
    module = names["__name__"]
    rules = []
    for value in names.values():
        if isinstance(value, type) or not callable(value):
            continue
        marked = getattr(value, "rule", None)
        if not isinstance(marked, Rule):
            continue
        if marked.check.__module__ == module:  # no rule that it imports
            rules.append(marked)
    return rules


def _declared(path: Path, faults: list[Diagnostic]) -> list[Rule]:
    """The rules of a file of YAML, which an extension reads: ``load_rules`` of the modules in its ``rules``."""
    rules: list[Rule] = []
    readers = members_of_extensions("rules", "load_rules")
    for load_rules in readers:
        rules += load_rules(path, faults)
    if not readers:
        documents, unreadable = read_documents(path)
        faults += unreadable
        faults += [_unread(path, document) for document in documents if _is_declared(document)]
    return rules


def _is_declared(document: Document) -> bool:
    """Whether a document is a rule, and not an object for clusters that lies among them."""
    root = document.root.to_python()
    if not isinstance(root, Mapping):
        return False
    return "code" in root or root.get("kind") == "ValidatingAdmissionPolicy"


def _unread(path: Path, document: Document) -> Diagnostic:
    fact = f"`{path}` has a rule without Python, and nothing here reads it"
    return error("POL010", fact, at=document.span(Route()), help=lacking(RULES))


def _load(path: str, faults: list[Diagnostic], *, builtin: bool = False) -> list[Rule]:
    """The rules of a file; what keeps it from being loaded is added to ``faults``. A built-in one that imports an
    extension belongs to it: where that is not there, nor are its rules."""
    if not path.endswith(".py"):
        return _declared(Path(path), faults)
    try:
        rules = _rules_in(path)
    except SyntaxError as problem:
        faults.append(
            error(
                "POL010",
                f"`{path}` is not Python: {problem.msg}",
                at=line_of(Path(path), problem.lineno or 1),
                help="correct the line",
            )
        )
        return []
    except BaseException as problem:  # `sys.exit` too: it must not end the run
        if isinstance(problem, KeyboardInterrupt):
            raise
        if builtin and _is_of_absent_extension(problem):
            return []
        faults.append(
            error(
                "POL010",
                f"`{path}` cannot be loaded: {words(problem)}",
                at=line_of(Path(path), _failing_line(problem, path)),
                help=_instead_of(problem),
            )
        )
        return []
    if not rules:
        faults.append(
            error(
                "POL010",
                f"`{path}` has no rule",
                at=line_of(Path(path), 1),
                help="mark a generator function with `@rule`, or move the file out of the policies' folder",
            )
        )
    return rules


def _instead_of(fault: BaseException) -> str:
    """What to do about a rule that cannot be loaded."""
    name = fault.name if isinstance(fault, ModuleNotFoundError) else None
    if name is not None and name.partition(".")[0] == "compiler":
        return "the package is called `trainyard` now: write `from trainyard.judge.policy.rule import Finding, rule`"
    return "correct the line"


def _is_of_absent_extension(fault: BaseException) -> bool:
    """Whether the package of an extension is not there; a module that one lacks is a fault of it."""
    if not isinstance(fault, ModuleNotFoundError) or fault.name is None:
        return False
    *above, _ = fault.name.split(".")
    return above == ["trainyard", "extensions"]


def quiet() -> AbstractContextManager[object]:
    """What rules print goes to standard error: standard output belongs to the findings, which may be JSON."""
    return redirect_stdout(sys.stderr)


def words(fault: BaseException) -> str:
    """What a third-party program raised, in one line."""
    try:
        text = " ".join(str(fault).split())
    except Exception:  # its own `__str__` may be at fault
        text = ""
    name = type(fault).__name__
    if text:
        return f"{name}: {text}"
    return name


def _failing_line(fault: BaseException, path: str) -> int:
    line, trace = 1, fault.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def line_of(path: Path, number: int) -> Span:
    content = inputs.read_bytes(path).decode(errors="replace")
    file = SourceFile(str(path), content)
    text = file.line(number)
    indent = len(text) - len(text.lstrip())
    start = indent + 1
    end = len(text.rstrip()) + 1
    return Span(file, number, start, number, max(end, start))


def _refusal(rule: Rule, rules: Mapping[str, Rule]) -> Diagnostic | None:
    """The reasons why users' rules are not loaded, with the rules that are."""
    path = Path(rule.file)
    python = path.suffix == ".py"
    if python:
        line = rule.check.__code__.co_firstlineno
    else:
        line = 1
    span = line_of(path, line)
    wrong = _argument_fault(rule) if python else ""
    if wrong:
        return error(
            "POL010",
            f"rule `{rule.code}`: {wrong}",
            at=span,
            help="correct the arguments of `@rule`",
        )
    if rule.area in BUILTIN_AREAS or rule.area in FIXED_AREAS:
        return _reserved_area_fault(rule, rules, span)
    other = rules.get(rule.code)
    if other is not None:
        return error(
            "POL012",
            f"code `{rule.code}` is taken by `{other.slug}`",
            at=span,
            help="give each rule a code of its own",
        )
    if python and not (rule.fails and rule.passes):
        return error(
            "POL011",
            f"rule `{rule.code}` has no examples",
            at=span,
            help="end its docstring with `## Fails` and `## Passes`, each with an indented YAML example",
        )
    if python:
        return _unknown_kind_fault(rule, span)
    return None


def _reserved_area_fault(rule: Rule, rules: Mapping[str, Rule], span: Span) -> Diagnostic:
    """The fault of a code in an area that is not the adopter's; often a copy that is older than the release."""
    builtin = rules.get(rule.code)
    if builtin is not None:
        return error(
            "POL009",
            f"code `{rule.code}` belongs to the built-in rule `{builtin.slug}`",
            at=span,
            help="this is another version of the built-in rule: delete the file, and set "
            "its level and parameters in `policy.yaml`; a rule of your own has an area of its own, like `ORG001`",
        )
    return error(
        "POL009",
        f"code `{rule.code}`: area `{rule.area}` belongs to the built-in rules",
        at=span,
        help="give your own rules an area of their own, like `ORG001`",
    )


def _argument_fault(rule: Rule) -> str:
    """What is wrong with the arguments of a user's ``@rule``."""
    if not is_code(rule.code):
        return "a code is 2 to 4 capitals and 3 digits, like `ORG001`"
    if not isinstance(rule.severity, Severity):
        return "`severity` is not a `Severity`, like `Severity.WARNING`"
    if not isinstance(rule.params, Mapping):
        return "`params` is not a mapping of names to defaults"
    if not is_texts(rule.kinds):
        return '`kinds` is not a tuple, like `("batch/Job",)`'
    if not isinstance(rule.kubernetes, str):
        return "`kubernetes` is not text that says why"
    if not is_texts(rule.aliases):
        return '`aliases` is not a tuple, like `("old-name",)`'
    if not isinstance(rule.enabled, bool):
        return "`enabled` is neither `True` nor `False`"
    return ""


def _unknown_kind_fault(rule: Rule, span: Span) -> Diagnostic | None:
    """The fault of a rule on a kind that certainly does not exist: it finds nothing, and looks like one that passes."""
    from trainyard.verify.kinds import kind_meant  # only for users' rules

    for kind in rule.kinds:
        group, slash, name = kind.partition("/")
        if not slash or "/" in name:
            return error(
                "POL016",
                f"no object ever matches `{kind}`",
                at=span,
                help="write a kind as `group/Kind`, without version; `/Pod` for the kinds of the core",
            )
        if group:
            api_version = f"{group}/{_ANY_VERSION}"
        else:
            api_version = "v1"
        right = kind_meant(api_version, name)
        if right is not None:
            right_version, right_name = right
            right_group = group_of(right_version)
            return error(
                "POL016",
                f"no object ever matches `{kind}`",
                at=span,
                help=f"write `{right_group}/{right_name}`",
            )
    return None


# Newer than all that are known, so that only group and kind are judged.
_ANY_VERSION = "v999"


FIXED_AREAS = frozenset(
    ("YML", "SPC", "RES", "SCH", "REF", "NAM", "OUT", "LFT", "LNT", "CAT", "POL", "INT", "CHG")
)
"""Areas of the compiler's own codes: what they report is wrong by fact, so no level can be set for them."""
