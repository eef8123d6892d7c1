"""The code of the modules that rules are in."""

from __future__ import annotations

import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any


def module_of(path: Path) -> str:
    """The name of a rule's module."""
    return f"trainyard_policies.{path.parent.name}.{path.stem}"


def code_of(path: Path) -> CodeType:
    """The code of a file, which Python caches. Raises what an import would."""
    name = module_of(path)
    code = SourceFileLoader(name, str(path)).get_code(name)
    assert code is not None, "a loader of sources has code"
    return code


def run_module(path: Path, code: CodeType) -> dict[str, Any]:
    """What the module of a rule defines, by name."""
    name = module_of(path)
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    exec(code, module.__dict__)  # noqa: S102  # the point of the exercise
    return module.__dict__
