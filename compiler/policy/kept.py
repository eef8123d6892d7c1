"""The built-in rules as an earlier run loaded them, in one file: what each says of itself, and its code, which is not
run before something is there that the rule looks at. To load every module was 8 % of a ``check``.

The file lies in ``__pycache__`` of the rules' folder, as the code of each module would, and is trusted like it. A rule
in it holds for as long as its file has the same size and time of change; all of them, for as long as the classes that
rules are run on are defined where they were.
"""

from __future__ import annotations

import marshal
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from compiler.policy.code import module_of
from compiler.policy.rule import SEVERITIES, Rule

Stamp = tuple[int, int]
"""Nanoseconds of the last change, and size in bytes."""
Entry = tuple[Stamp, bytes, Sequence[tuple[Any, ...]]]
"""Of a file: its stamp, its code in the form of ``marshal``, and a row for each rule."""
Check = Callable[..., Iterator[Any]]
_ROOT = Path(__file__).resolve().parents[2]
_OURS = (__name__, "compiler.policy.rule")
"""What decides on the form of a row."""


class KeptRules:
    """The rules of a folder that need not be loaded, by file, and what is added to them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        name = f"rules.{sys.implementation.cache_tag}"
        self._file = folder / "__pycache__" / name
        self._entries = _read(self._file)
        self._used: dict[str, Entry] = {}

    def of(self, path: str) -> list[Rule] | None:
        """The rules of a file that is as it was; ``None`` for one that has to be loaded."""
        entry = self._entries.get(path)
        if entry is None or entry[0] != _stamp(path):
            return None
        self._used[path] = entry
        _, code, rows = entry
        module = _Module(path, code)
        return [_rule(row, module) for row in rows]

    def add(self, path: str, rules: Iterable[Rule]) -> None:
        """Keep the rules of a file that was loaded, as far as that is possible."""
        stamp = _stamp(path)
        try:
            code = marshal.dumps(_bare(path))
            rows = [_row(rule) for rule in rules]
            marshal.dumps(rows)
        except (OSError, SyntaxError, ValueError):
            return
        if stamp is not None and rows:
            self._used[path] = (stamp, code, rows)

    def write(self) -> None:
        """Keep what the next run needs, whole or not at all; nothing where Python keeps no code, or may not."""
        if self._used == self._entries or sys.dont_write_bytecode:
            return
        if os.access(self._folder, os.W_OK):
            _write(self._file, self._used)


class _Module:
    """The module of a rule, run when one of its functions is called."""

    def __init__(self, path: str, code: bytes) -> None:
        self._path = path
        self._code = code
        self._names: dict[str, Any] | None = None

    def function(self, name: str) -> Check:
        if self._names is None:
            code = marshal.loads(self._code)  # noqa: S302  # as Python reads its own
            self._names = run_module(Path(self._path), code)
        function: Check = self._names[name]
        return function


class _Check:
    """Stands for the function of a kept rule."""

    def __init__(self, name: str, module: _Module) -> None:
        self.__name__ = name
        self._module = module

    def loaded(self) -> Check:
        """The function itself."""
        return self._module.function(self.__name__)

    def __call__(self, *arguments: Any) -> Iterator[Any]:
        return self.loaded()(*arguments)

    @property
    def __code__(self) -> CodeType:
        return self.loaded().__code__


def loaded(rule: Rule) -> Check:
    """The function of a rule; the module of a kept one is run now, and may raise what any code raises."""
    check = rule.check
    if isinstance(check, _Check):
        return check.loaded()
    return check


def run_module(path: Path, code: CodeType) -> dict[str, Any]:
    """What the module of a rule defines, by name."""
    name = module_of(path)
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    exec(code, module.__dict__)  # noqa: S102  # the point of the exercise
    return module.__dict__


def _row(rule: Rule) -> tuple[Any, ...]:
    return (
        rule.check.__name__,
        rule.code,
        rule.slug,
        str(rule.severity),
        rule.runs_on,
        dict(rule.params),
        rule.kinds,
        rule.pods,
        rule.needs_world,
        rule.file,
        rule.aliases,
        rule.enabled,
    )


_RUNS_ON = 4
"""Where a row has the class that its rule is run on."""


def _rule(row: tuple[Any, ...], module: _Module) -> Rule:
    name, code, slug, severity, runs_on, *rest = row
    params, kinds, pods, needs_world, file, aliases, enabled = rest
    return Rule(
        code=code,
        slug=slug,
        severity=SEVERITIES[severity],
        own_doc="",
        runs_on=runs_on,
        check=_Check(name, module),
        params=params,
        kinds=kinds,
        pods=pods,
        needs_world=needs_world,
        file=file,
        aliases=aliases,
        enabled=enabled,
    )


def _bare(path: str) -> CodeType:
    """The code of a file without what the rows say: pages, which ``explain`` alone shows, and ``@rule``."""
    import ast  # never where all is kept

    tree = ast.parse(Path(path).read_bytes(), path)
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef):
            continue
        for mark in list(filter(_is_rule, node.decorator_list)):
            node.decorator_list.remove(mark)
            # where a function begins is where its first decorator is
            node.lineno = mark.lineno
        if ast.get_docstring(node) is not None:
            docstring = node.body[0]
            node.body[0] = ast.copy_location(ast.Pass(), docstring)
    return compile(tree, path, "exec", dont_inherit=True)


def _is_rule(mark: Any) -> bool:
    """Whether a decorator, as a node of ``ast``, is ``@rule(…)``."""
    called = getattr(mark, "func", None)
    return getattr(called, "id", "") == "rule"


def _stamp(path: str) -> Stamp | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _defined(entries: Mapping[str, Entry]) -> dict[str, Stamp | None]:
    """The stamp of each module that the rows depend on."""
    modules = set(_OURS)
    for _, _, rows in entries.values():
        for row in rows:
            module, _, _ = row[_RUNS_ON].partition(":")
            modules.add(module)
    return {name: _stamp(_file_of(name)) for name in sorted(modules)}


def _file_of(module: str) -> str:
    path = _ROOT.joinpath(*module.split("."))
    if path.is_dir():
        return str(path / "__init__.py")
    return str(path.with_suffix(".py"))


def _read(file: Path) -> Mapping[str, Entry]:
    """What was kept by this very Python of this very compiler; nothing where the file is absent or of another one."""
    try:
        data = file.read_bytes()
        if not data.startswith(MAGIC_NUMBER):
            return {}
        kept = data.removeprefix(MAGIC_NUMBER)
        defined, entries = marshal.loads(kept)  # noqa: S302  # as Python reads its own
        for name, stamp in defined.items():
            if _stamp(_file_of(name)) != stamp:
                return {}
    except (OSError, EOFError, ValueError, TypeError, AttributeError):
        return {}
    by_file: Any = entries
    if isinstance(by_file, dict):
        return by_file
    return {}


def _write(file: Path, entries: Mapping[str, Entry]) -> None:
    process = os.getpid()
    part = file.with_name(f"{file.name}.{process}")
    try:
        file.parent.mkdir(exist_ok=True)
        defined = _defined(entries)
        kept = marshal.dumps((defined, dict(entries)))
        part.write_bytes(MAGIC_NUMBER + kept)
        os.replace(part, file)
    except OSError:
        part.unlink(missing_ok=True)
